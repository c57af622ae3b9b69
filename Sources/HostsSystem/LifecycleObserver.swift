package import HostsLog
package import HostsModel
package import HostsPolicy

/// What happens to the machine, for everybody who must know.
package enum LifecycleEvent: Hashable, Sendable {
    /// The phase is another one.
    case phase(ActivityPhase)
    /// The machine is about to sleep; follows the phase `background`.
    ///
    /// A sleep that was missed has none: there is nothing left to do before it.
    case willSleep
    /// The machine is awake again; comes before the phase that follows. Nil for a length that is not known.
    case woke(slept: Duration?)
    /// An address or a route came or went; told first thing, too.
    case networkChanged(hasRoute: Bool)
    /// The login manager came or went; told first thing, too. When it came, a delay lock must be taken again.
    case managerChanged(isPresent: Bool)
    /// The wall clock was set by so much, forward or back, and nothing else happened.
    ///
    /// Nothing is lost by that, though behind it may be a virtual machine that was paused: worth a look, no more.
    case clockSet(by: Duration)
}

/// The one observer of sleep, wake, presence and network; whatever it tells is told to all hosts.
///
/// It joins the login manager, the clocks and the routes, of which any may be missing, and makes one order of events
/// of them with `PhaseTracker`.
package final class LifecycleObserver: Sendable {
    /// How many events wait for the listener; of more, the newest are kept.
    package static let backlog = 256
    /// How many hints wait to be judged; of more, the newest are kept.
    private static let hintBacklog = 256

    /// A sleep or a wake that is played, for `hostsctl debug`.
    package enum Rehearsal: String, Hashable, Sendable, CaseIterable {
        case sleep, wake
    }

    /// Where the hints come from.
    struct Sources: Sendable {
        var login: AsyncStream<LoginEvent>
        var findings: AsyncStream<SuspendDetector.Finding>
        var networks: AsyncStream<NetworkState>
        /// Compares the clocks now.
        var compareClocks: @Sendable () -> SuspendDetector.Finding?
        var close: @Sendable () -> Void
    }

    private enum Hint: Sendable {
        case login(LoginEvent)
        case finding(SuspendDetector.Finding)
        case network(NetworkState)
        case deadline
    }

    private struct Known: Sendable {
        var phase = ActivityPhase.active
        var hasRoute: Bool?
    }

    /// What happens, until `run` ends; for one listener.
    package let events: AsyncStream<LifecycleEvent>

    private let told: AsyncStream<LifecycleEvent>.Continuation
    private let hints: AsyncStream<Hint>
    private let inbox: AsyncStream<Hint>.Continuation
    private let sources: Sources
    private let clock: any MonotonicClock
    private let start: ContinuousClock.Instant
    private let log: Log
    private let known = Locked(Known())

    /// Joins the sources; `run` closes them at its end.
    ///
    /// - Parameters:
    ///   - login: The login manager; nil where it cannot be had.
    ///   - suspend: The clocks.
    ///   - routes: The network.
    ///   - clock: For the time limit of a sleep that was announced.
    ///   - log: Of category `background`; told at `debug` of each change and of what led to it.
    package convenience init(
        login: LoginManager?, suspend: SuspendClock?, routes: RouteMonitor?, clock: any MonotonicClock,
        log: Log
    ) {
        self.init(
            sources: Sources(
                login: login?.events ?? AsyncStream { $0.finish() },
                findings: suspend?.findings ?? AsyncStream { $0.finish() },
                networks: routes?.states ?? AsyncStream { $0.finish() },
                compareClocks: { suspend?.compare() },
                close: {
                    login?.close()
                    suspend?.close()
                    routes?.close()
                }), clock: clock, log: log)
    }

    init(sources: Sources, clock: any MonotonicClock, log: Log) {
        self.sources = sources
        self.clock = clock
        self.log = log
        start = clock.now
        (events, told) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(Self.backlog))
        (hints, inbox) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(Self.hintBacklog))
    }

    /// The phase that was told last; `active` before the first.
    package var phase: ActivityPhase { known.withLock { $0.phase } }

    /// Whether there is a way out; nil when nobody can tell (yet).
    package var hasRoute: Bool? { known.withLock { $0.hasRoute } }

    /// Plays a sleep or a wake as if logind had announced it: the same code runs, and the machine does not sleep.
    ///
    /// As with a real announcement, a sleep that does not come is over after `PhaseTracker.announcementLimit`.
    package func rehearse(_ rehearsal: Rehearsal) {
        inbox.yield(.login(.preparingForSleep(rehearsal == .sleep)))
    }

    /// Delivers events until the task is cancelled; then the sources are closed.
    package func run() async {
        await withDiscardingTaskGroup { group in
            group.addTask { for await event in self.sources.login { self.inbox.yield(.login(event)) } }
            group.addTask {
                for await finding in self.sources.findings { self.inbox.yield(.finding(finding)) }
            }
            group.addTask { for await state in self.sources.networks { self.inbox.yield(.network(state)) } }
            var tracker = PhaseTracker()
            var isWaiting = false
            for await hint in hints {
                if case .deadline = hint { isWaiting = false }
                judge(hint, &tracker)
                guard !isWaiting, let deadline = tracker.deadline else { continue }
                isWaiting = true
                group.addTask { await self.remind(at: deadline) }
            }
            group.cancelAll()
        }
        sources.close()
        told.finish()
    }

    private var now: Double { (clock.now - start).seconds }

    private func remind(at deadline: Double) async {
        do {
            try await clock.sleep(until: start.advanced(by: .seconds(deadline)))
            inbox.yield(.deadline)
        } catch {
            // Cancelled: the observer ends, and nobody waits any more.
        }
    }

    private func judge(_ hint: Hint, _ tracker: inout PhaseTracker) {
        // First of all, so that a wake knows how long the sleep was, and no sleep ends for want of news.
        if let finding = sources.compareClocks() { judge(finding, &tracker) }
        switch hint {
        case .finding(let finding): judge(finding, &tracker)
        case .login(.preparingForSleep(let isBeginning)):
            tell(
                tracker.sleepAnnounced(isBeginning: isBeginning, at: now),
                because: isBeginning ? "a sleep was announced" : "its end was announced")
        case .login(.presence(let presence)):
            tell(tracker.presenceChanged(presence), because: "presence: \(presence)")
        case .login(.managerChanged(let isPresent)): told.yield(.managerChanged(isPresent: isPresent))
        case .network(let state):
            known.withLock { $0.hasRoute = state.hasRoute }
            told.yield(.networkChanged(hasRoute: state.hasRoute))
        case .deadline: tell(tracker.timeReached(now), because: "the sleep that was announced did not come")
        }
    }

    private func judge(_ finding: SuspendDetector.Finding, _ tracker: inout PhaseTracker) {
        switch finding {
        case .slept(let seconds): tell(tracker.slept(seconds, at: now), because: "the clocks show a sleep")
        case .wallClockSet(let seconds):
            log.debug("lifecycle.clock-set", "the wall clock was set", .took(.seconds(seconds)))
            told.yield(.clockSet(by: .seconds(seconds)))
        }
    }

    private func tell(_ changes: [PhaseTracker.Change], because reason: String) {
        for change in changes {
            switch change {
            case .phase(let phase):
                known.withLock { $0.phase = phase }
                log.debug(
                    "lifecycle.phase", "the phase is another one", .text("phase", phase.rawValue),
                    .text("reason", reason))
                told.yield(.phase(phase))
            case .willSleep: told.yield(.willSleep)
            case .woke(let seconds):
                let length = seconds.map { Duration.seconds($0) }
                log.debug(
                    "lifecycle.woke", "the machine is awake again", .text("reason", reason),
                    .text("slept", length.map { "\($0)" } ?? "unknown"))
                told.yield(.woke(slept: length))
            }
        }
    }
}
