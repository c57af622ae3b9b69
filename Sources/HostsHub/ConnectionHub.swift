package import HostsLog
package import HostsModel
package import HostsPolicy

/// Owns the state of every host: one link each, one look every interval, one place that changes anything.
///
/// `apply` is synchronous and feeds the host's `HostMachine`; its effects are performed by `run()`, whose child
/// tasks dial, look and wait, and report back with the token of their generation.
package actor ConnectionHub {
    /// How many fleet events may wait for the consumer.
    ///
    /// An event carries the whole observation, so an old one may go.
    package static let eventBacklog = 4096

    /// How many jobs may wait to be started; more would mean that `run()` does not run.
    private static let jobBacklog = 65_536

    /// What the hub is made with; only the composition chooses.
    package struct Environment: Sendable {
        package var connector: any LinkConnector
        package var clock: any MonotonicClock
        package var wallClock: any WallClock
        package var jitter: any JitterSource
        package var logs: LogCenter
        /// Whether packets to an address would leave this machine; asked only while there is no default route.
        package var hasRoute: @Sendable (_ address: String) -> Bool
        package var makeInterpreter: @Sendable (HostID) -> any ProbeInterpreter

        package init(
            connector: any LinkConnector, clock: any MonotonicClock, wallClock: any WallClock,
            jitter: any JitterSource, logs: LogCenter,
            hasRoute: @escaping @Sendable (_ address: String) -> Bool,
            makeInterpreter: @escaping @Sendable (HostID) -> any ProbeInterpreter
        ) {
            self.connector = connector
            self.clock = clock
            self.wallClock = wallClock
            self.jitter = jitter
            self.logs = logs
            self.hasRoute = hasRoute
            self.makeInterpreter = makeInterpreter
        }
    }

    /// The feed's figures.
    package struct Settings: Hashable, Sendable {
        /// From one look at a host to the next.
        package var interval: Duration = .seconds(5)
        /// How long one request of a look may take.
        package var probeTimeout: Duration = .seconds(10)
        /// How long the first look on a fresh link may take: it carries the start of the remote shell.
        package var firstProbeTimeout: Duration = .seconds(20)
        package var policy = BoardReconnectPolicy()

        package init() {}
    }

    private struct LinkKey: Hashable {
        let host: HostID
        let token: Int
    }

    private enum Job: Sendable {
        case dial(HostRecord, token: Int, cancelled: AsyncStream<Void>)
        case look(
            any ProbeLink, ProbeRequest, host: HostID, token: Int, deadline: ContinuousClock.Instant)
        case sleep(until: ContinuousClock.Instant)
    }

    /// Everything that happens, in order; for one consumer.
    package nonisolated let events: AsyncStream<FleetEvent>
    /// Whether some host wants a delay before sleep, whenever that may have changed; for one consumer.
    package nonisolated let wishes: AsyncStream<Bool>
    let wishSink: AsyncStream<Bool>.Continuation

    let environment: Environment
    private let log: Log
    /// For what is decided about sleep, wake and the network.
    let resumeLog: Log
    private var settings: Settings
    private let origin: ContinuousClock.Instant
    var machines: [HostID: HostMachine] = [:]
    /// Where each host was reached last, by the address that was dialled.
    private var addresses: [HostID: String] = [:]
    /// Changed in `ConnectionHub+Lifecycle`.
    var surroundings = Surroundings()
    var hasDefaultRoute = true
    var openRefreshes = 0
    var windows = WindowRegister()
    var lifecycleWatchers: [Int: AsyncStream<HubLifecycle>.Continuation] = [:]
    var nextWatcher = 0
    private var badRecords: [HostID: HostCondition] = [:]
    /// The numbers of hosts that were removed, should they come back.
    private var lineages: [HostID: HostMachine.Lineage] = [:]
    private var links: [LinkKey: any ProbeLink] = [:]
    private var dials: [LinkKey: AsyncStream<Void>.Continuation] = [:]
    private var timers = TimerQueue()
    private var armedFor: ContinuousClock.Instant?
    let waiters = LookWaiters()
    private var isStopping = false
    private let eventSink: AsyncStream<FleetEvent>.Continuation
    private let jobs: AsyncStream<Job>
    private let jobSink: AsyncStream<Job>.Continuation

    /// Makes a hub without hosts.
    package init(environment: Environment, settings: Settings) {
        self.environment = environment
        self.settings = settings
        log = environment.logs.log(.hub)
        resumeLog = environment.logs.log(.resume)
        origin = environment.clock.now
        (events, eventSink) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(Self.eventBacklog))
        (wishes, wishSink) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
        (jobs, jobSink) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(Self.jobBacklog))
    }

    /// Supervises until the task is cancelled, then closes every link and returns.
    package func run() async {
        await withDiscardingTaskGroup { group in
            for await job in jobs {
                group.addTask { await self.perform(job) }
            }
            self.stop()
            group.cancelAll()
        }
        eventSink.finish()
        wishSink.finish()
        for watcher in lifecycleWatchers.values { watcher.finish() }
    }

    private func stop() {
        isStopping = true
        for host in machines.keys.sorted() { apply(.suspend(.daemonStopping), to: host) }
    }
}

// MARK: - The fleet

extension ConnectionHub {
    /// Takes the records as they are now: new hosts start, changed ones restart, absent ones are dropped.
    ///
    /// - Parameters:
    ///   - records: Every host with a usable record, the last good one included.
    ///   - bad: Hosts without any usable record, and what is wrong.
    package func setRecords(_ records: [HostRecord], bad: [HostID: (SourceLocation, String)] = [:]) {
        let present = Set(records.map(\.id))
        for host in machines.keys.sorted() where !present.contains(host) { dropModel(of: host) }
        badRecords = bad.filter { !present.contains($0.key) }.mapValues { .badRecord($0.0, message: $0.1) }
        let enabled = records.count { $0.isEnabled }
        let settings = machineSettings(hosts: enabled)
        for record in records.sorted(by: { $0.id < $1.id }) {
            if machines[record.id] == nil {
                var machine = HostMachine(
                    record: record, settings: settings, origin: origin,
                    after: lineages.removeValue(forKey: record.id) ?? HostMachine.Lineage(),
                    makeInterpreter: environment.makeInterpreter)
                machine.begin(in: surroundings, windows: windows.open(on: record.id))
                machines[record.id] = machine
            }
            apply(.settingsChanged(settings), to: record.id)
            apply(.recordChanged(record), to: record.id)
        }
        tellWishes()
    }

    /// Has the consumer of `events` told when it has handled everything up to now.
    ///
    /// - Parameter number: Comes back as `.mark`.
    package func mark(_ number: Int) { emit(.mark(number)) }

    /// Takes new figures for the feed; running looks keep theirs.
    package func setSettings(_ new: Settings) {
        settings = new
        let forMachines = machineSettings(hosts: machines.values.count { $0.record.isEnabled })
        for host in machines.keys.sorted() { apply(.settingsChanged(forMachines), to: host) }
    }

    /// Tells that the connector makes links in another way: every host without a link is tried again.
    package func linkSettingsChanged() {
        for host in machines.keys.sorted() { apply(.linkSettingsChanged, to: host) }
    }

    /// Ends a host's link and feed at once and keeps what is known of it (seed 002: a disabled host).
    package func suspendModel(of host: HostID) { apply(.suspend(.hostDisabled), to: host) }

    /// Ends a host's link and forgets everything known of it (seed 002: a removed host).
    package func dropModel(of host: HostID) {
        guard machines[host] != nil else { return }
        apply(.suspend(.hostRemoved), to: host)
        lineages[host] = machines.removeValue(forKey: host)?.lineage
        addresses[host] = nil
        emit(.removed(host, at: environment.wallClock.now))
    }

    private func machineSettings(hosts: Int) -> HostMachine.Settings {
        HostMachine.Settings(
            schedule: FeedSchedule(interval: settings.interval, origin: origin, hosts: hosts),
            policy: settings.policy, probeTimeout: settings.probeTimeout,
            firstProbeTimeout: settings.firstProbeTimeout)
    }

    /// Every host, by name.
    package func snapshots() -> [HostSnapshot] {
        (machines.keys.map { $0 } + badRecords.keys).sorted().compactMap { snapshot(of: $0) }
    }

    /// The last looks at an agent; nil for one that is not remembered.
    package func explain(_ session: SessionID, on host: HostID) -> SessionExplanation? {
        machines[host]?.interpreter?.explain(session)
    }

    /// One host, or nil if there is none of that name.
    package func snapshot(of host: HostID) -> HostSnapshot? {
        guard let machine = machines[host] else {
            return badRecords[host].map {
                HostSnapshot(
                    record: HostRecord(id: host, destination: ""), condition: $0, lastError: nil, link: nil,
                    generation: 0, observation: nil, isStale: false)
            }
        }
        // A link may have fallen back to another way of asking since it was made.
        let present = machine.link.flatMap { links[LinkKey(host: host, token: $0)]?.summary }
        return HostSnapshot(
            record: machine.record, condition: machine.condition, lastError: machine.lastError,
            link: machine.summary.map { present ?? $0 }, generation: machine.generation,
            observation: machine.observation,
            isStale: machine.isStale)
    }
}

// MARK: - What the person asks for

/// Why the hub refuses an action.
package enum HubRefusal: Error, Hashable, Sendable {
    case noSuchHost
    /// A disabled host is not dialled, whoever asks (seed 002).
    case disabled
    case badRecord
    /// The host is not dialled on our own, or is online.
    case nothingToCancel
}

extension ConnectionHub {
    /// Looks at a host now and waits until that look has ended, well or badly.
    ///
    /// Dials first where no link is.
    package func probe(_ host: HostID) async throws(HubRefusal) {
        try await act(.look, on: host)
    }

    /// Leaves every waiting state and dials now; waits for the outcome.
    package func resume(_ host: HostID) async throws(HubRefusal) {
        try await act(.resume, on: host)
    }

    /// Leaves every waiting state and dials now; does not wait for the outcome.
    ///
    /// A host that is disabled or not there any more is left alone: what led to this was about another.
    package func redial(_ host: HostID) {
        apply(.resume, to: host)
    }

    /// Ends the attempt under way and makes no other until the host is resumed or its record changes.
    ///
    /// - Throws: `.nothingToCancel` where no attempt runs or would follow.
    package func cancelRetries(of host: HostID) throws(HubRefusal) {
        guard try enabledMachine(of: host).hasRetries else { throw .nothingToCancel }
        apply(.cancelRetries, to: host)
    }

    func enabledMachine(of host: HostID) throws(HubRefusal) -> HostMachine {
        guard let machine = machines[host] else {
            throw badRecords[host] == nil ? .noSuchHost : .badRecord
        }
        guard machine.record.isEnabled, machine.condition != .disabled else { throw .disabled }
        return machine
    }

    private func act(_ event: HostMachine.Event, on host: HostID) async throws(HubRefusal) {
        _ = try enabledMachine(of: host)
        // The place comes first: the event may end a look at once.
        let place = waiters.place(for: host)
        apply(event, to: host)
        await waiters.wait(at: place)
    }
}

// MARK: - Events in, effects out

extension ConnectionHub {
    /// The only way a host changes.
    ///
    /// - Parameters:
    ///   - event: What has happened.
    ///   - host: Where; one that is not there any more ignores it.
    ///   - stagger: How long the host waits for others that come first.
    func apply(_ event: HostMachine.Event, to host: HostID, stagger: Duration = .zero) {
        let context = HostMachine.Context(
            now: environment.clock.now, wall: environment.wallClock.now, jitter: environment.jitter.next(),
            hasRoute: hasRoute(to: host), stagger: stagger)
        guard let effects = machines[host]?.apply(event, context) else { return }
        for effect in effects { perform(effect, for: host) }
    }

    /// Whether packets to a host would leave this machine, as far as is known.
    package func hasRoute(to host: HostID) -> Bool {
        if hasDefaultRoute || machines[host]?.record.transport == .local { return true }
        return addresses[host].map(environment.hasRoute) ?? false
    }

    private func perform(_ effect: HostMachine.Effect, for host: HostID) {
        switch effect {
        case .dial(let record, let token): dial(record, token)
        case .abandonDial(let token): dials.removeValue(forKey: LinkKey(host: host, token: token))?.finish()
        case .close(let token, let reason): close(LinkKey(host: host, token: token), reason)
        case .probe(let request, let name, let token, let deadline):
            guard let link = links[LinkKey(host: host, token: name)] else { return }
            jobSink.yield(.look(link, request, host: host, token: token, deadline: deadline))
        case .startTimer(let id, let instant):
            startTimer(TimerQueue.Timer(host: host, id: id, instant: instant))
        case .emit(let event): emit(event)
        case .lookEnded: waiters.end(of: host)
        case .note(let text):
            resumeLog.debug("resume.decision", "\(host): \(text)", .host(host))
        }
    }

    private func dial(_ record: HostRecord, _ token: Int) {
        guard !isStopping else { return }
        let (cancelled, continuation) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        dials[LinkKey(host: record.id, token: token)] = continuation
        log.debug("host.dial", "dialling", .host(record.id), .token(token))
        jobSink.yield(.dial(record, token: token, cancelled: cancelled))
    }

    private func close(_ key: LinkKey, _ reason: LinkError) {
        guard let link = links.removeValue(forKey: key) else { return }
        log.debug(
            "link.close", "closing the link: \(reason.message)", .host(key.host), .token(key.token),
            .link(reason))
        link.close(reason)
    }

    private func emit(_ event: FleetEvent) {
        guard !isStopping else { return }
        note(event)
        if case .dropped = eventSink.yield(event) {
            log.error("events.dropped", "the consumer of fleet events has fallen behind")
        }
    }

    private func note(_ event: FleetEvent) {
        guard case .condition(let host, _, let condition, _) = event else { return }
        let cause = condition == .dormant(.cancelled) ? .cancelled : machines[host]?.lastError
        let message = condition.word + (cause.map { ": " + $0.message } ?? "")
        let fields: [LogField] =
            [.host(host), .text("condition", condition.word)] + (cause.map { [.link($0)] } ?? [])
        let level: LogLevel =
            switch condition {
            case .needsYou, .unsupported, .limited, .dormant, .badRecord: .warning
            case .online, .reconnecting, .disabled, .asleep: .notice
            case .connecting, .checking: .info
            }
        log.record(level, "host.condition", message, fields)
        if let help = cause?.help(for: host) {
            log.record(level, "host.help", help, [.host(host)])
        }
    }
}

// MARK: - Jobs: each runs as a child of `run()`

extension ConnectionHub {
    private func perform(_ job: Job) async {
        switch job {
        case .dial(let record, let token, let cancelled): await connect(record, token, cancelled)
        case .look(let link, let request, let host, let token, let deadline):
            await look(link, request, host, token, deadline)
        case .sleep(let instant): await sleep(until: instant)
        }
    }

    /// One attempt: dial, hand the link over, and stay with it until it has ended.
    private func connect(_ record: HostRecord, _ token: Int, _ cancelled: AsyncStream<Void>) async {
        let key = LinkKey(host: record.id, token: token)
        // Abandoned before it began: a host that was disabled meanwhile is not dialled.
        guard dials[key] != nil else { return }
        let result = await Self.race(environment.connector, record, token, cancelled)
        dials.removeValue(forKey: key)?.finish()
        switch result {
        case .failure(let error): apply(.dialFailed(token: token, error), to: record.id)
        case .success(let link):
            guard machines[record.id] != nil else { return link.close(.hostRemoved) }
            links[key] = link
            addresses[record.id] = link.summary.address
            apply(.dialed(token: token, link.summary), to: record.id)
            let reason = await link.untilClosed()
            links[key] = nil
            apply(.closed(token: token, reason), to: record.id)
        }
    }

    /// Connects, unless `cancelled` ends first.
    ///
    /// A link that arrives all the same is closed.
    private nonisolated static func race(
        _ connector: any LinkConnector, _ record: HostRecord, _ token: Int, _ cancelled: AsyncStream<Void>
    ) async -> Result<any ProbeLink, LinkError> {
        await withTaskGroup(of: Result<any ProbeLink, LinkError>?.self) { group in
            group.addTask {
                do throws(LinkError) {
                    return .success(try await connector.connect(to: record, token: token))
                } catch {
                    return .failure(error)
                }
            }
            group.addTask {
                for await _ in cancelled {}
                return nil
            }
            let first = await group.next() ?? nil
            group.cancelAll()
            guard let first else {
                if case .success(let link) = await group.next() ?? nil { link.close(.cancelled) }
                return .failure(.cancelled)
            }
            return first
        }
    }

    private func look(
        _ link: any ProbeLink, _ request: ProbeRequest, _ host: HostID, _ token: Int,
        _ deadline: ContinuousClock.Instant
    ) async {
        do throws(LinkError) {
            let reply = try await link.probe(request, until: deadline)
            apply(.replied(token: token, reply), to: host)
        } catch {
            apply(.probeFailed(token: token, error), to: host)
        }
    }

    private func startTimer(_ timer: TimerQueue.Timer) {
        guard !isStopping else { return }
        timers.insert(timer)
        arm()
    }

    /// Sees to it that somebody sleeps until the next timer.
    private func arm() {
        guard let next = timers.next else { return }
        if let armedFor, armedFor <= next { return }
        armedFor = next
        jobSink.yield(.sleep(until: next))
    }

    private func sleep(until instant: ContinuousClock.Instant) async {
        do {
            try await environment.clock.sleep(until: instant)
        } catch {
            return  // cancelled: the hub stops
        }
        if armedFor == instant { armedFor = nil }
        for timer in timers.takeDue(now: environment.clock.now) {
            apply(.timerFired(id: timer.id), to: timer.host)
        }
        arm()
    }
}
