package import HostsLog
package import HostsModel
package import HostsPOSIX
import HostsPolicy

/// Decides what becomes of what is observed: events, stored before anyone is told, and their delivery to hooks.
///
/// It lives on a thread of its own, because its store blocks on the disk. Its methods that change state do not
/// suspend, so the events of the fleet take effect in the order in which one task hands them over.
package actor AttentionCenter {
    /// What the person may choose.
    package struct Settings: Hashable, Sendable {
        /// Whether hooks are told at all; events are recorded either way.
        package var isEnabled = true
        /// Most hooks that run at the same time.
        package var concurrency = DeliverySpool.concurrency

        package init() {}
    }

    /// What the center needs of the world.
    package struct Environment: Sendable {
        package let clock: any MonotonicClock
        package let wall: any WallClock
        package let jitter: any JitterSource
        package let runner: any HookRunning
        /// Reads the hooks folders; may block.
        package let readHooks: @Sendable () -> HookSet
        package let log: LogCenter

        package init(
            clock: any MonotonicClock, wall: any WallClock, jitter: any JitterSource, runner: any HookRunning,
            readHooks: @escaping @Sendable () -> HookSet, log: LogCenter
        ) {
            self.clock = clock
            self.wall = wall
            self.jitter = jitter
            self.runner = runner
            self.readHooks = readHooks
            self.log = log
        }
    }

    /// How many events may wait for one watcher before it is dropped.
    package static let watcherBacklog = 256

    let environment: Environment
    let log: Log
    let hookLog: Log
    let journal: EventJournal
    let wake = WakeSignal()
    let settled = WakeSignal()
    let started: ContinuousClock.Instant
    var settings: Settings
    var hooks = HookSet()
    /// Hooks that answered 78 since the hooks were read.
    var misconfigured: Set<String> = []
    var hookHistory: [String: HookHistory] = [:]
    var hasWarnedOfNoHook = false
    var spool: DeliverySpool
    /// Events with deliveries that are pending, or that a clearance may refer to.
    var tracked: [EventID: TrackedEvent] = [:]
    /// The alerts that stand, by key, oldest first.
    var standing: [String: [AttentionEvent]] = [:]
    var trackers: [HostID: AttentionTracker<SessionID>] = [:]
    var watches: [HostID: HostWatch] = [:]
    var clocks: [SessionID: TurnClock] = [:]
    /// When each host was last looked at.
    var lastSeen: [HostID: ContinuousClock.Instant] = [:]
    /// Hosts that an earlier run has looked at, and this one has not yet.
    var unseenSinceStart: Set<HostID> = []
    var hasHandedOver = false
    var watchers: [Int: AsyncStream<AttentionEvent>.Continuation] = [:]
    var nextWatcher = 0
    /// Tells the turns of this run from those of others.
    var run = ""

    private let executor: ThreadExecutor
    private var hasBegun = false
    private var areHooksRead = false
    /// The keys of `rules.stale` events, of earlier runs too: each is told once.
    var toldStaleRules: Set<String> = []
    /// The newest event of earlier runs; what comes after it is of this run.
    private var lastOfEarlierRuns: EventID?

    package nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// Makes a center; nothing is opened or read before the first event or `run`.
    ///
    /// - Parameters:
    ///   - database: Path of the event store's file.
    ///   - maximumPages: Largest size of that file in pages of 4 KiB; nil for no limit but the disk.
    ///   - settings: What the person has chosen.
    ///   - environment: What it needs of the world.
    /// - Throws: When its thread cannot be made.
    package init(
        database: String, maximumPages: Int? = nil, settings: Settings = Settings(), environment: Environment
    ) throws(SystemError) {
        executor = try ThreadExecutor()
        self.environment = environment
        self.settings = settings
        log = environment.log.log(.attention)
        hookLog = environment.log.log(.hook)
        started = environment.clock.now
        spool = DeliverySpool(concurrency: max(settings.concurrency, 1))
        journal = EventJournal(
            store: EventStore(path: database, maximumPages: maximumPages), log: environment.log.log(.history),
            clock: environment.clock, wall: environment.wall)
    }

    /// Takes what the hub has to tell; call it from one task, in the order of the events.
    package func handle(_ event: FleetEvent) async {
        begin()
        guard !hasHandedOver else { return }
        switch event {
        case .observed(let observation, let gap): observe(observation, gap: gap)
        case .condition(let host, _, let condition, let time): change(host, to: condition, at: time)
        case .outOfSync(let host, let time): loseSight(of: host, at: time)
        case .removed(let host, _): forget(host)
        case .mark: break
        }
    }

    /// Records an event that is not about a host's link or an agent.
    ///
    /// - Parameters:
    ///   - kind: `daemonStarted`, `daemonStopping`, `configError` or `rulesStale`.
    ///   - key: What it is about; the kind when it is about nothing else.
    ///   - host: The host that it is about, if it is about one.
    ///   - summary: One line for people.
    package func post(_ kind: AttentionEvent.Kind, key: String? = nil, host: HostID? = nil, summary: String)
        async
    {
        begin()
        raise([
            EventDraft(
                kind: kind, key: key ?? kind.rawValue, time: environment.wall.now, host: host,
                summary: summary)
        ])
    }

    /// Records that a file of the configuration has become bad.
    ///
    /// A fault that an earlier run has told of already, and that is there still, is not told again.
    ///
    /// - Parameters:
    ///   - file: The file's path.
    ///   - host: The host that it belongs to, if it belongs to one.
    ///   - summary: What is wrong and where, in one line.
    package func postFault(of file: String, host: HostID?, summary: String) async {
        begin()
        let key = "config:\(file)"
        if let last = journal.recent.last(where: { $0.kind == .configError && $0.key == key }),
            let lastOfEarlierRuns, last.id <= lastOfEarlierRuns, last.summary == summary
        {
            return
        }
        await post(.configError, key: key, host: host, summary: summary)
    }

    /// Whether alerts are switched on.
    package var isActive: Bool { settings.isEnabled }

    /// Takes changed settings.
    package func update(_ settings: Settings) async {
        self.settings = settings
        spool.limit = max(settings.concurrency, 1)
        wake.set()
    }

    /// Reads the hooks anew: at the start, when their folders change, and when attention is switched on.
    package func reloadHooks() async {
        guard hasBegun else { return begin() }
        readHooks()
        wake.set()
    }

    /// Opens the store and reads the hooks, once.
    func begin() {
        guard !hasBegun else { return }
        hasBegun = true
        run = String(environment.wall.now.milliseconds, radix: 36)
        restore(journal.load())
        lastOfEarlierRuns = journal.recent.last?.id
        readHooks()
    }

    private func readHooks() {
        let known = hooks
        let wasRead = areHooksRead
        hooks = environment.readHooks()
        areHooksRead = true
        misconfigured = []
        // They are read at every change of the configuration; what is known is not told again.
        guard !wasRead || hooks != known else { return }
        hasWarnedOfNoHook = false
        for problem in hooks.problems where !known.problems.contains(problem) {
            hookLog.warning("hook.unusable", problem.message, .text("path", problem.path))
        }
        hookLog.info(
            "hooks.read", "\(hooks.hooks.count) hooks can be run", .count("hooks", hooks.hooks.count))
    }
}

/// An event with its deliveries, by the name of the hook.
struct TrackedEvent: Sendable {
    var event: AttentionEvent
    var deliveries: [String: Delivery]

    var isPending: Bool { deliveries.values.contains { $0.state == .pending } }

    /// What its deliveries come to.
    var status: DeliveryStatus {
        let states = deliveries.values.map(\.state)
        if states.contains(.delivered) { return .delivered }
        if states.contains(.pending) { return .pending }
        return states.allSatisfy { $0 == .cleared } ? .recorded : .failed
    }
}
