import HostsHub
import HostsLog
import HostsModel
import HostsPolicy
import HostsSystem

/// The delay before sleep: one lock for the whole daemon, held while some host has opted in, and for one last round of
/// looks and its deliveries given back late (seed 002).
///
/// With nobody opted in no lock is ever taken, so an installation of which nobody has asked for this sleeps as if
/// hostsd were not there. Nothing is dialled under the delay, and no sleep is ever blocked.
actor BackgroundActivity {
    /// How long after a refusal the lock is asked for again, if nothing else happens before.
    static let retryPause = Duration.seconds(60)
    private static let reason = "Looks once more at the hosts that have opted in, and tells what it finds"

    private let hub: ConnectionHub
    private let login: LoginManager?
    private let clock: any MonotonicClock
    private let log: Log
    /// Has what was found delivered, at most until a deadline.
    private let deliver: @Sendable (ContinuousClock.Instant) async -> Void
    private var lock: SleepInhibitor?
    private var isTaking = false
    private var isRetryPlanned = false
    /// Why there is no lock although one is wanted; nil when there is one, or none is wanted.
    private(set) var refusal: InhibitFailure?
    /// From the announcement of a sleep to the wake: no lock is to be had then.
    private var isAsleep = false

    /// Makes one that holds nothing.
    ///
    /// - Parameters:
    ///   - hub: Who wants it, and who looks.
    ///   - login: Who gives the lock; nil where there is no login manager.
    ///   - clock: For the deadline of the last round.
    ///   - log: Of category `background`.
    ///   - deliver: Has what was found delivered, at most until a deadline.
    init(
        hub: ConnectionHub, login: LoginManager?, clock: any MonotonicClock, log: Log,
        deliver: @escaping @Sendable (ContinuousClock.Instant) async -> Void
    ) {
        self.hub = hub
        self.login = login
        self.clock = clock
        self.log = log
        self.deliver = deliver
    }

    /// Takes and gives back as the hosts' records say, until the task is cancelled; then nothing is held any more.
    func run() async {
        await withDiscardingTaskGroup { group in
            for await _ in hub.wishes {
                await adjust()
                guard refusal != nil, !isRetryPlanned else { continue }
                isRetryPlanned = true
                group.addTask { await self.askAgain() }
            }
            group.cancelAll()
        }
        await giveBack(because: "hostsd stops")
    }

    /// A login manager that refuses may be one that is not ready yet.
    private func askAgain() async {
        do {
            try await clock.sleep(for: Self.retryPause)
        } catch {
            return  // cancelled: the daemon stops
        }
        isRetryPlanned = false
        guard refusal != nil else { return }
        await hub.tellWishes()
    }

    /// The machine is about to sleep: the last round, if it was paid for, and then the lock goes back in any case.
    func willSleep() async {
        isAsleep = true
        guard lock != nil else { return }
        await lookOnceMore()
        await giveBack(because: "the machine may sleep")
    }

    /// The machine is awake again, or has called its sleep off.
    func woke() async {
        isAsleep = false
        await hub.tellWishes()
    }

    /// The login manager came or went, and with it every lock.
    func managerChanged(isPresent: Bool) async {
        // One that came has not taken a lock along: where there is one already, it is of the new manager.
        guard isPresent else { return await giveBack(because: "the login manager is gone") }
        await hub.tellWishes()
    }

    private func adjust() async {
        guard await hub.wantsBackgroundTime else {
            refusal = nil
            return await giveBack(because: "no host wants it")
        }
        await take()
    }

    private func take() async {
        guard let login, lock == nil, !isTaking, !isAsleep else { return }
        isTaking = true
        defer { isTaking = false }
        let taken: SleepInhibitor
        do throws(InhibitFailure) {
            taken = try await login.inhibitSleep(why: Self.reason)
        } catch {
            if refusal != error {
                log.notice("background.refused", "no delay before sleep is to be had: \(error)")
            }
            refusal = error
            return
        }
        refusal = nil
        guard await hub.wantsBackgroundTime, !isAsleep else {
            taken.release()
            return
        }
        lock = taken
        log.debug("background.held", "a delay before sleep is held")
        await hub.setHoldingBackgroundTime(true)
    }

    private func giveBack(because reason: String) async {
        guard let held = lock else { return }
        lock = nil
        // First of all: a look that begins in between would be cut by the suspension.
        await hub.setHoldingBackgroundTime(false)
        held.release()
        log.debug("background.given-back", "the delay before sleep is given back: \(reason)")
    }

    private func lookOnceMore() async {
        guard let login, let length = BackgroundActivityPolicy.roundLength(of: login.delayLimit.seconds)
        else {
            log.warning("background.grant", "the login manager grants no usable delay; nothing is looked at")
            return
        }
        let deadline = clock.now.advanced(by: .seconds(length))
        let seen = await hub.lastRound(until: deadline)
        await deliver(deadline)
        log.debug(
            "background.round", "looked once more before sleep", .count("hosts", seen.count),
            .took(clock.now - deadline + .seconds(length)))
    }
}
