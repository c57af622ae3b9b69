import HostsHub
import HostsLog
import HostsModel
import HostsPolicy
import HostsSSH
import HostsTestSupport

/// The real hub with real links in real time, and a journal of what it tells.
final class FaultRig: Sendable {
    struct Entry: Sendable {
        let event: FleetEvent
        let instant: ContinuousClock.Instant
    }

    /// One loop for the whole process, as in the daemon.
    static let loop: EventLoop = {
        do { return try EventLoop() } catch { preconditionFailure("no event loop: \(error)") }
    }()
    private static let log = LogCenter(level: .warning, sinks: [], clock: FixedWallClock())

    /// How often the journal is looked at; instants are those of the events all the same.
    private static let pollInterval = Duration.milliseconds(10)

    let hub: ConnectionHub
    let start = ContinuousClock.now
    private let journal = Locked<[Entry]>([])

    private init(_ hub: ConnectionHub) {
        self.hub = hub
    }

    /// Makes links as the daemon does, from an ssh_config of a fixture.
    static func factory(
        config: String, _ change: (inout LinkSettings) -> Void = { _ in }
    ) -> LinkFactory {
        var settings = LinkSettings(environment: Tool.environment, homeDirectory: "/nonexistent")
        settings.configFile = config
        change(&settings)
        return LinkFactory(
            resources: LinkResources(loop: loop), settings: settings, program: LookInterpreter.program,
            log: log.log(.ssh))
    }

    /// Supervises hosts for as long as `body` takes.
    ///
    /// The jitter is always the middle one, so that the schedule is 2, 4, 8, 8 and 8 s.
    static func run(
        _ records: [HostRecord], config: String, interval: Duration = .seconds(5),
        links: (inout LinkSettings) -> Void = { _ in }, _ body: (FaultRig) async throws -> Void
    ) async throws {
        let environment = ConnectionHub.Environment(
            connector: factory(config: config, links), clock: SystemClock(), wallClock: FixedWallClock(),
            jitter: FixedJitter(0.5), logs: log, hasRoute: { _ in false },
            makeInterpreter: { LookInterpreter(host: $0) })
        var settings = ConnectionHub.Settings()
        settings.interval = interval
        let rig = FaultRig(ConnectionHub(environment: environment, settings: settings))
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await rig.hub.run() }
            group.addTask {
                for await event in rig.hub.events {
                    rig.journal.withLock { $0.append(Entry(event: event, instant: .now)) }
                }
            }
            await rig.hub.setRecords(records)
            do {
                try await body(rig)
            } catch {
                group.cancelAll()
                throw error
            }
            group.cancelAll()
            try await group.waitForAll()
        }
    }

    /// The same for one server, by way of a proxy.
    static func run(
        _ server: LocalSSHD, proxy: FaultProxy, interval: Duration = .seconds(5),
        links: (inout LinkSettings) -> Void = { _ in }, _ body: (FaultRig) async throws -> Void
    ) async throws {
        try server.lead(through: proxy)
        try await run(
            [server.record], config: server.configFile, interval: interval, links: links, body)
    }

    // MARK: What happened

    var entries: [Entry] { journal.withLock { $0 } }

    /// The conditions that a host has taken on since an instant.
    func conditions(of host: HostID, since instant: ContinuousClock.Instant) -> [String] {
        entries.filter { $0.instant >= instant }.compactMap { $0.condition(of: host)?.word }
    }

    /// How many looks there have been since an instant.
    func looks(at host: HostID, since instant: ContinuousClock.Instant) -> Int {
        entries.count { $0.instant >= instant && $0.observation(of: host) != nil }
    }

    /// Waits until a host takes on a condition.
    ///
    /// - Parameters:
    ///   - host: Which one.
    ///   - words: The conditions that are waited for, as the API names them.
    ///   - instant: What came before does not count; nil: everything counts.
    ///   - limit: How long; more than the bound of the row, so that a miss is measured.
    /// - Returns: When that was.
    /// - Throws: When it does not happen.
    @discardableResult
    func until(
        _ host: HostID, _ words: String..., after instant: ContinuousClock.Instant? = nil,
        within limit: Duration = .seconds(60)
    ) async throws -> ContinuousClock.Instant {
        try await until("\(host) \(words.joined(separator: " or "))", after: instant, within: limit) {
            guard let condition = $0.condition(of: host) else { return false }
            return words.contains(condition.word)
        }.instant
    }

    /// Waits until a host is dialled again after a pause: it then shows `reconnecting` once more.
    func untilDialled(_ host: HostID, after pause: ContinuousClock.Instant) async throws
        -> ContinuousClock.Instant
    {
        try await until(host, "reconnecting", after: pause + .microseconds(1))
    }

    /// Waits until a host has been looked at.
    @discardableResult
    func untilLook(
        at host: HostID, after instant: ContinuousClock.Instant, within limit: Duration = .seconds(60)
    ) async throws -> HostObservation {
        let entry = try await until("look at \(host)", after: instant, within: limit) {
            $0.observation(of: host) != nil
        }
        guard let observation = entry.observation(of: host) else { preconditionFailure("just looked for") }
        return observation
    }

    private func until(
        _ what: String, after instant: ContinuousClock.Instant?, within limit: Duration,
        _ isWanted: (Entry) -> Bool
    ) async throws -> Entry {
        let deadline = ContinuousClock.now + limit
        var next = 0
        while true {
            let entries = entries
            while next < entries.count {
                let entry = entries[next]
                next += 1
                if entry.instant >= instant ?? start, isWanted(entry) { return entry }
            }
            guard ContinuousClock.now < deadline else {
                throw FixtureError("not within \(limit.short): \(what); \(await story())")
            }
            try await ContinuousClock().sleep(for: Self.pollInterval)
        }
    }

    /// What every host shows, for a message.
    private func story() async -> String {
        await hub.snapshots().prefix(4).map {
            "\($0.record.id) is \($0.condition.word) (\($0.lastError?.message ?? "no error"))"
        }.joined(separator: ", ")
    }

    /// What a host shows now.
    func condition(of host: HostID) async throws -> HostCondition {
        guard let snapshot = await hub.snapshot(of: host) else { throw FixtureError("there is no \(host)") }
        return snapshot.condition
    }

    /// The last error of a host.
    func error(of host: HostID) async throws -> LinkError {
        guard let error = await hub.snapshot(of: host)?.lastError else {
            throw FixtureError("\(host) has no error")
        }
        return error
    }
}

extension FaultRig.Entry {
    func condition(of host: HostID) -> HostCondition? {
        guard case .condition(host, _, let condition, _) = event else { return nil }
        return condition
    }

    func observation(of host: HostID) -> HostObservation? {
        guard case .observed(let observation, _) = event, observation.host == host else { return nil }
        return observation
    }
}

extension LocalSSHD {
    /// The name of the host in a rig.
    var id: HostID { record.id }

    /// Has clients connect by way of a proxy.
    func lead(through proxy: FaultProxy, lines: [String] = []) throws {
        try writeConfig(port: proxy.port, lines: lines)
        try trustHostKey(port: proxy.port)
    }
}

extension LinkFactory {
    /// Connects and looks once, with all of its own deadlines.
    ///
    /// - Returns: Why that fails; nil when it does not.
    func failure(of record: HostRecord) async -> LinkError? {
        do {
            let link = try await connect(to: record, token: 1)
            defer { link.close(.daemonStopping) }
            _ = try await link.ask("look")
            return nil
        } catch {
            return error
        }
    }
}

extension ProbeLink {
    /// Runs one request.
    func ask(
        _ function: String, _ arguments: String..., within limit: Duration = .seconds(10)
    ) async throws(LinkError) -> String {
        let request = ProbeRequest(function: function, arguments: arguments)
        return String(decoding: try await probe(request, until: .now + limit).body, as: UTF8.self)
    }
}

/// Waits, while something is left as it is.
func leaveAlone(for duration: Duration) async throws {
    try await ContinuousClock().sleep(for: duration)
}

/// How long something takes.
func measured(_ body: () async throws -> Void) async rethrows -> Duration {
    let start = ContinuousClock.now
    try await body()
    return .now - start
}
