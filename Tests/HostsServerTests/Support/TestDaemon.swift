import HostsAPI
import HostsLog
import HostsModel
import HostsServer
import HostsTestSupport

/// A small daemon without links: it keeps hosts, events and logs as the real one does.
actor TestDaemon: DaemonService {
    let center = LogCenter(level: .trace, sinks: [], clock: FixedWallClock())
    private var hostViews: [String: HostView]
    private var history: [EventView] = []
    private var watchers: [Int: AsyncStream<EventView>.Continuation] = [:]
    private var lastWatcher = 0
    /// Tells of each handler that has begun to wait (`check slow`) and each stream that has ended.
    nonisolated let signals: AsyncStream<String>
    private nonisolated let signal: AsyncStream<String>.Continuation

    init() {
        hostViews = ["devbox": Self.view("devbox", "online"), "gpu": Self.view("gpu", "disabled")]
        (signals, signal) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1000))
    }

    /// Waits for a signal.
    nonisolated func until(_ name: String) async {
        for await found in signals where found == name { return }
    }

    func add(_ event: EventView) {
        history.append(event)
        for (id, watcher) in watchers {
            if case .dropped = watcher.yield(event) {
                watcher.finish()
                watchers[id] = nil
            }
        }
    }

    /// Ends every stream of events, as a source does whose reader fell behind.
    func endWatches() {
        for watcher in watchers.values { watcher.finish() }
    }

    func status() async throws(APIError) -> StatusDocument {
        StatusDocument(
            version: "1.0", pid: 1, started: APITime(FixedWallClock().now), summary: summary, phase: "active",
            holdsSleepDelay: false, configurationDirectory: "/c", socket: "/s",
            hooks: [HookView(name: "desk\"top", usable: true, problem: nil, pending: 2, dead: 1)],
            diagnostics: [DiagnosticView(severity: "error", file: "f", line: 1, column: 2, message: "m")],
            problems: [])
    }

    func hosts() async throws(APIError) -> HostList {
        HostList(hosts: hostViews.values.sorted { $0.name < $1.name }, summary: summary)
    }

    func host(_ name: String) async throws(APIError) -> HostDocument {
        HostDocument(host: try known(name), sessions: Self.sessionViews, record: [], diagnostics: [])
    }

    func enable(_ name: String) async throws(APIError) -> ActionDocument {
        try set(name, enabled: true, condition: "connecting")
    }

    func disable(_ name: String) async throws(APIError) -> ActionDocument {
        try set(name, enabled: false, condition: "disabled")
    }

    /// What `add` and `set` were given, as the routes have read it.
    private(set) var values: [[String: RecordValueBody]] = []

    func add(_ name: String, _ values: [String: RecordValueBody]) async throws(APIError) -> ActionDocument {
        guard hostViews[name] == nil else {
            throw .conflict(code: "host.exists", message: "there is a host \(name)", help: nil)
        }
        self.values.append(values)
        let view = Self.view(name, "connecting")
        hostViews[name] = view
        return ActionDocument(host: view, changed: true, message: "done")
    }

    func remove(_ name: String) async throws(APIError) -> RemovalDocument {
        _ = try known(name)
        hostViews[name] = nil
        return RemovalDocument(host: name, record: "/r", override: nil, message: "done")
    }

    func set(_ name: String, _ values: [String: RecordValueBody]) async throws(APIError) -> ActionDocument {
        let view = try known(name)
        self.values.append(values)
        return ActionDocument(host: view, changed: true, message: "done")
    }

    func probe(_ name: String) async throws(APIError) -> ActionDocument { try act(name) }

    func resume(_ name: String) async throws(APIError) -> ActionDocument { try act(name) }

    func cancel(_ name: String) async throws(APIError) -> ActionDocument { try act(name) }

    func refresh() async throws(APIError) -> RefreshDocument {
        RefreshDocument(refreshed: true, hosts: [try known("devbox")], message: "refreshed")
    }

    func rehearse(isSleep: Bool) async throws(APIError) -> DebugDocument {
        DebugDocument(phase: isSleep ? "background" : "active", holding: false, message: "played")
    }

    func toggleKeepAlive(_ name: String?) async throws(APIError) -> ActionDocument {
        try act(name ?? "devbox")
    }

    func trust(_ name: String, fingerprint: String?) async throws(APIError) -> TrustDocument {
        _ = try known(name)
        let key = HostKeyView(
            name: name, type: "ssh-ed25519", fingerprint: fingerprint ?? "SHA256:asked",
            verdict: fingerprint == nil ? "known" : "unknown", expected: nil, file: "/k")
        return TrustDocument(host: name, key: key, added: fingerprint != nil)
    }

    /// What was given to `unlock`, which the test asks for.
    private(set) var passphrases: [[UInt8]] = []

    func unlock(_ name: String, passphrase: SecretBytes) async throws(APIError) -> UnlockDocument {
        guard try known(name).enabled else { throw .hostDisabled(name) }
        let bytes = passphrase.withBytes { Array($0) }
        passphrases.append(bytes)
        guard bytes.elementsEqual("right".utf8) else { throw .wrongPassphrase("it does not open /k") }
        return UnlockDocument(host: name, keys: ["/k"])
    }

    func check(_ name: String) async throws(APIError) -> CheckDocument {
        if name == "slow" {
            signal.yield("slow")
            // Until the task is cancelled.
            let (never, _) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
            for await _ in never {}
            throw .stopping
        }
        _ = try known(name)
        return CheckDocument(
            host: name, passed: true, linkDetail: nil, code: nil, reason: nil, help: nil, connectSeconds: 0.1,
            probeSeconds: nil, sessions: nil)
    }

    func sessions(host: String?) async throws(APIError) -> SessionList {
        if let host { _ = try known(host) }
        return SessionList(sessions: Self.sessionViews.filter { host == nil || $0.host == host })
    }

    func session(_ id: SessionID) async throws(APIError) -> SessionDocument {
        guard let session = Self.sessionViews.first(where: { $0.id == id.rawValue }) else {
            throw .sessionNotFound(id.rawValue)
        }
        return SessionDocument(session: session)
    }

    func explain(_ id: SessionID) async throws(APIError) -> ExplainDocument {
        let session = try await session(id).session
        let sign = WeighedEvidence(
            evidence: Evidence(kind: .dialog, strength: .strong, rule: "claude.permission-dialog"),
            meaning: .state(.needsYou(.permission)), outcome: .applied, age: .seconds(5))
        let look = SessionLook(
            time: session.lastSeen.time, evidence: [sign], effect: .changed, state: .needsYou(.permission))
        return ExplainDocument(session: id.rawValue, now: session, looks: [LookView(look)])
    }

    func attach(_ name: String, session: String?) async throws(APIError) -> Watch<AttachLine> {
        guard try known(name).enabled else { throw .hostDisabled(name) }
        if let session, session != "%4" { throw .sessionNotFound(session) }
        let (stream, continuation) = AsyncStream<AttachLine>.makeStream(bufferingPolicy: .bufferingNewest(8))
        continuation.yield(
            .phase(PhaseDocument(phase: "active", hasRoute: true, awaitsPassphrase: false, bootID: nil)))
        continuation.onTermination = { _ in self.signal.yield("window closed") }
        let document = AttachDocument(
            host: name, session: session, transport: "ssh", destination: name, restore: "none",
            arguments: ["ssh", "-t", "--", name], bootID: nil)
        return Watch(past: [.attach(document)], live: stream)
    }

    func watchHost(_ name: String) async throws(APIError) -> Watch<HostDocument> {
        let first = try await host(name)
        return Watch(past: [first], live: silence())
    }

    func watchSession(_ id: SessionID) async throws(APIError) -> Watch<SessionDocument> {
        let first = try await session(id)
        return Watch(past: [first], live: silence())
    }

    private func silence<Document: Sendable>() -> AsyncStream<Document> {
        let (stream, continuation) = AsyncStream<Document>.makeStream(bufferingPolicy: .bufferingNewest(1))
        continuation.onTermination = { _ in self.signal.yield("stream ended") }
        return stream
    }

    func events(_ query: EventQuery) async throws(APIError) -> EventList {
        let included = after(query).events.filter { query.includes($0) }
        return EventList(
            events: Array(query.after == nil ? included.suffix(query.limit) : included.prefix(query.limit)))
    }

    func watchEvents(_ query: EventQuery) async throws(APIError) -> Watch<EventView> {
        let (stream, continuation) = AsyncStream<EventView>.makeStream(
            bufferingPolicy: .bufferingOldest(100_000))
        lastWatcher += 1
        let id = lastWatcher
        watchers[id] = continuation
        continuation.onTermination = { _ in
            self.signal.yield("stream ended")
        }
        let (past, isKnown) = after(query)
        let included = past.filter { query.includes($0) }
        return Watch(
            past: query.after == nil ? included.suffix(query.limit) : included,
            live: stream.filter { query.includes($0) }, isIncomplete: !isKnown)
    }

    func logs(_ query: LogQuery) async throws(APIError) -> LogList { LogFeed(center: center).list(query) }

    func watchLogs(_ query: LogQuery) async throws(APIError) -> Watch<LogView> {
        LogFeed(center: center).watch(query)
    }

    func reload() async throws(APIError) -> ReloadDocument {
        ReloadDocument(hosts: hostViews.count, added: [], changed: [], removed: [], diagnostics: [])
    }

    func hooks() async throws(APIError) -> HookList { HookList(hooks: try await status().hooks) }

    private var summary: FleetSummary { FleetSummary(hosts: 1, online: 1, needsYou: 0, disabled: 1) }

    private func after(_ query: EventQuery) -> (events: [EventView], isKnown: Bool) {
        guard let id = query.after else { return (history, true) }
        guard let index = history.firstIndex(where: { $0.id == id }) else { return (history, false) }
        return (Array(history[(index + 1)...]), true)
    }

    private func known(_ name: String) throws(APIError) -> HostView {
        guard let view = hostViews[name] else {
            throw .hostNotFound(name, suggestion: name.lowercased() == "devbox" ? "devbox" : nil)
        }
        return view
    }

    private func act(_ name: String) throws(APIError) -> ActionDocument {
        let view = try known(name)
        guard view.enabled else { throw .hostDisabled(name) }
        return ActionDocument(host: view, changed: true, message: "done")
    }

    private func set(_ name: String, enabled: Bool, condition: String) throws(APIError) -> ActionDocument {
        var view = try known(name)
        let changed = view.enabled != enabled
        view.enabled = enabled
        view.condition = condition
        hostViews[name] = view
        return ActionDocument(host: view, changed: changed, message: "done")
    }

    static func view(_ name: String, _ condition: String) -> HostView {
        HostView(
            name: name, label: name, condition: condition, enabled: condition != "disabled", reason: nil,
            code: nil,
            help: nil, link: nil, linkDetail: nil, linkReason: nil, generation: 1,
            lastObserved: APITime(FixedWallClock().now),
            ageSeconds: 1, stale: false, attempt: nil, nextAttempt: nil, bootID: nil, tags: [],
            sessions: SessionCounts(), warnings: [])
    }

    static let sessionViews = [
        SessionView(
            id: "devbox/42-ab", host: "devbox", agent: "claude", version: nil, place: "main:0.1", socket: nil,
            pid: 42,
            state: "busy", reason: nil, flags: [], evidence: [], since: APITime(FixedWallClock().now),
            lastSeen: APITime(FixedWallClock().now), stale: false, clock: nil)
    ]
}

extension EventView {
    static func test(
        _ id: String, kind: String = "turn.ended", host: String = "devbox", summary: String = "s"
    ) -> EventView {
        EventView(
            id: id, kind: kind, key: "k", time: APITime(FixedWallClock().now), host: host, session: nil,
            agent: nil,
            place: nil, reason: nil, turn: nil, late: false, gapSeconds: 0, summary: summary,
            delivery: "pending",
            dropReason: nil)
    }
}
