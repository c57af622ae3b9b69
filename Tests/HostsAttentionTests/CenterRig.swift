import HostsLog
import HostsModel
import HostsTestSupport
import Testing

@testable import HostsAttention

/// An attention center with a real store, a clock that is moved by hand and hooks that a test answers for.
final class CenterRig: Sendable {
    static let devbox = host("devbox")

    let folder: TemporaryFolder
    let clock: ManualClock
    let wall: ManualWallClock
    let log: LogCenter
    let runner: any HookRunning
    let center: AttentionCenter
    private let lines: LogLines
    private let hooks: Locked<HookSet>

    init(
        folder: TemporaryFolder, database: String? = nil, hooks names: [String] = ["a"],
        runner: any HookRunning = ScriptedRunner(), clock: ManualClock = ManualClock(),
        maximumPages: Int? = nil,
        isEnabled: Bool = true
    ) throws {
        self.folder = folder
        self.clock = clock
        wall = ManualWallClock(clock)
        self.runner = runner
        log = LogCenter(level: .trace, sinks: [], clock: wall)
        lines = LogLines(log)
        let hooks = Locked(HookSet(hooks: names.map { Hook(name: $0, path: "/hooks/\($0)") }))
        self.hooks = hooks
        var settings = AttentionCenter.Settings()
        settings.isEnabled = isEnabled
        center = try AttentionCenter(
            database: database ?? folder.path + "/state/hostsd.db", maximumPages: maximumPages,
            settings: settings,
            environment: AttentionCenter.Environment(
                clock: clock, wall: wall, jitter: FixedJitter(0), runner: runner,
                readHooks: { hooks.withLock { $0 } }, log: log))
    }

    /// Runs the delivery loop around `body`.
    func running(_ body: () async throws -> Void) async throws {
        let center = center
        let loop = Task { await center.run() }
        do { try await body() } catch {
            loop.cancel()
            throw error
        }
        loop.cancel()
        await loop.value
    }

    /// Waits until a line of this name was logged for the `count`th time.
    func untilLogged(_ event: String, count: Int = 1) async {
        await lines.wait { $0.count { $0.event == event } >= count }
    }

    func setHooks(_ set: HookSet) {
        hooks.withLock { $0 = set }
    }

    /// One look at devbox.
    func look(_ sessions: AgentSession..., stale: [StaleRules] = [], gap: Duration? = nil) async {
        await center.handle(
            .observed(
                HostObservation(
                    host: Self.devbox, bootID: "boot", time: wall.now, sessions: sessions, staleRules: stale),
                gap: gap))
    }

    func condition(_ condition: HostCondition) async {
        await center.handle(.condition(Self.devbox, from: nil, to: condition, at: wall.now))
    }

    func session(
        _ state: AgentState, pid: Int32 = 42, flags: Set<SessionFlag> = [], evidence: [Evidence] = []
    ) -> AgentSession {
        AgentSession(
            id: SessionID(rawValue: "devbox/\(pid)"), host: Self.devbox, agent: AgentName(rawValue: "claude"),
            place: Place(label: "main:0.1"), pid: pid, state: state, flags: flags, evidence: evidence,
            since: wall.now, lastSeen: wall.now)
    }

    func messages(_ category: LogCategory, _ level: LogLevel) -> [String] {
        log.records().filter { $0.category == category && $0.level == level }.map(\.message)
    }

    /// The events so far, oldest first.
    func events() async -> [AttentionEvent] { await center.events(limit: 1000) }

    static func host(_ name: String) -> HostID {
        guard let host = HostID(rawValue: name) else { preconditionFailure("\(name) is no name of a host") }
        return host
    }
}

/// Waits for log lines.
final class LogLines: Sendable {
    private let log: LogCenter

    init(_ log: LogCenter) {
        self.log = log
    }

    /// Returns when the lines so far satisfy the condition.
    func wait(_ isEnough: ([LogRecord]) -> Bool) async {
        let (past, live) = log.watch()
        var records = past
        if isEnough(records) { return }
        for await record in live {
            records.append(record)
            if isEnough(records) { return }
        }
    }
}
