import HostsAPI
import HostsAttention
import HostsConfig
import HostsHub
import HostsLog
import HostsModel
import HostsServer
import HostsSystem
import HostsTestSupport
import Testing

@testable import HostsDaemon

/// A folder on disk with the real watch, reader, keeper and hub, and simulated hosts.
///
/// Three times: that of the keeper is moved by hand, that of the watch goes on where it waits for calm, and that
/// of the hub stands still.
final class FolderRig: Sendable {
    let folder: TemporaryFolder
    let clock = ManualClock()
    private let watchClock = ManualClock()
    let fleet = SimulatedFleet()
    let logs = LogCenter(level: .trace, sinks: [], clock: FixedWallClock())
    let hub: ConnectionHub
    let keeper: ConfigurationKeeper
    let service: FleetService
    private let watch: FolderWatch
    private let history = Locked<[Configuration]>([])
    private let fences = Locked(0)

    /// Makes the rig; nothing is read before `run`.
    init(_ prepare: (TemporaryFolder) throws -> Void) throws {
        folder = try TemporaryFolder()
        try folder.makeFolder("config")
        try folder.makeFolder("run")
        try prepare(folder)
        let paths = Paths(
            configuration: folder.path("config"), state: folder.path("state"),
            socket: folder.path("run/api.sock"))
        try folder.makeFolder("state")
        watch = try FolderWatch(folders: paths.watchedFolders, clock: watchClock, log: logs.log(.config))
        let still = ManualClock()
        let wall = FixedWallClock()
        let environment = ConnectionHub.Environment(
            connector: fleet, clock: still, wallClock: wall, jitter: FixedJitter(0.5), logs: logs,
            hasRoute: { _ in false }, makeInterpreter: { EmptyInterpreter(host: $0) })
        let hub = ConnectionHub(environment: environment, settings: ConnectionHub.Settings())
        self.hub = hub
        let hook = HookEnvironment(inherited: [:], socket: "/none")
        let center = try AttentionCenter(
            database: folder.path("state/hostsd.db"),
            environment: AttentionCenter.Environment(
                clock: still, wall: wall, jitter: FixedJitter(0),
                runner: SettableHookRunner(HookRunner(environment: hook)),
                readHooks: { HookSet(hooks: []) }, log: logs))
        let history = history
        let keeper = ConfigurationKeeper(
            reader: ConfigurationReader(directory: paths.configuration), clock: clock, log: logs.log(.config),
            putInForce: { configuration in
                let bad = configuration.bad.compactMapValues(\.first).mapValues { ($0.location, $0.text) }
                await hub.setRecords(Array(configuration.records.values), bad: bad)
                history.withLock { $0.append(configuration) }
            }, tell: { _ in })
        self.keeper = keeper
        service = FleetService(
            facts: .init(version: VersionDocument(version: "1", pid: 1), started: wall.now, paths: paths),
            hub: hub, center: center, keeper: keeper, overrides: OverrideWriter(paths: paths),
            windows: BackgroundRefresh(
                hub: hub, interval: .seconds(900), clock: still, log: logs.log(.background),
                isAttentionActive: { true }, deliver: { _ in }),
            delayRefusal: { nil },
            rehearse: { _ in },
            check: SignalCheck(environment: environment), access: { NoAccess() }, logs: LogFeed(center: logs),
            clock: wall, readAll: { await keeper.reload() })
    }

    /// Runs hub, watch and keeper while `body` runs, after a first reading.
    func run(_ body: () async throws -> Void) async throws {
        let (hub, watch, keeper) = (hub, watch, keeper)
        let running = Task {
            await withDiscardingTaskGroup { group in
                group.addTask { await hub.run() }
                group.addTask { await watch.run() }
                group.addTask {
                    await keeper.run(reload: { await keeper.reload() }, changes: watch.changes)
                }
            }
        }
        await keeper.reload()
        let result: Result<Void, any Error>
        do { result = .success(try await body()) } catch { result = .failure(error) }
        running.cancel()
        await running.value
        #expect(fleet.violations.isEmpty)
        try result.get()
    }

    /// Waits until the watch has led to a reading of everything that was written before this call.
    ///
    /// It writes one more file and waits for what that says; twice, for the first time the folder may have been
    /// listed before this call, and only that file read after it.
    func untilRead() async throws {
        try await untilFenceIsRead()
        try await untilFenceIsRead()
    }

    private func untilFenceIsRead() async throws {
        let number = fences.withLock { count in
            count += 1
            return count
        }
        try folder.replace("config/hosts.d/fence.toml", "transport = 'local'\nlabel = 'fence \(number)'")
        let fence = try #require(HostID(rawValue: "fence"))
        while history.withLock({ $0.last?.records[fence]?.label }) != "fence \(number)" {
            watchClock.advanceToNextDeadline()
            try Task.checkCancellation()
            await Task.yield()
        }
    }

    /// Waits until the watch has led to a reading that found something wrong.
    func untilDiagnosed() async throws {
        while await keeper.diagnostics.isEmpty {
            watchClock.advanceToNextDeadline()
            try Task.checkCancellation()
            await Task.yield()
        }
    }

    /// Lets the time pass after which a missing file counts as removed, and waits for a reading.
    func untilMissingCount() async throws {
        clock.advance(by: RecordPresence.grace)
        try await untilRead()
    }

    /// The record of a host that is in force.
    func record(_ name: String) throws -> HostRecord? {
        let host = try #require(HostID(rawValue: name))
        return history.withLock { $0.last?.records[host] }
    }

    /// The hosts of every configuration that was in force, the fence and repetitions left out.
    var hostsInForce: [[String]] {
        history.withLock { history in
            history.map { $0.records.keys.map(\.rawValue).filter { $0 != "fence" }.sorted() }
        }.reduce(into: []) { if $0.last != $1 { $0.append($1) } }
    }

    /// What is wrong now, without the folder's path.
    func diagnostics() async -> [String] {
        await keeper.diagnostics.map {
            $0.description.replacing(folder.path("config/hosts.d/"), with: "")
        }
    }

    func until(_ name: String, _ isWanted: (HostSnapshot?) -> Bool) async throws {
        let host = try #require(HostID(rawValue: name))
        while !isWanted(await hub.snapshot(of: host)) {
            try Task.checkCancellation()
            await Task.yield()
        }
    }

    func untilOnline(_ names: String...) async throws {
        for name in names { try await until(name) { $0?.condition == .online } }
    }

    func dials(_ name: String) throws -> Int {
        fleet.dials(of: try #require(HostID(rawValue: name)))
    }
}

/// A looks-at-nothing interpreter.
private struct EmptyInterpreter: ProbeInterpreter {
    let host: HostID

    func nextRequest() -> ProbeRequest { ProbeRequest(function: "look") }

    func explain(_ session: SessionID) -> SessionExplanation? { nil }

    func interpret(_ reply: ProbeReply, at time: WallTime) throws(LinkError) -> ProbeStep {
        .observation(HostObservation(host: host, bootID: "boot", time: time, sessions: []))
    }
}

/// Nobody asks for keys here.
private struct NoAccess: HostAccess {
    func hostKey(of record: HostRecord) async throws(LinkError) -> HostKeyOffer { throw .cancelled }

    func trust(_ record: HostRecord, fingerprint: String) async throws(HostAccessError) -> HostKeyOffer {
        throw .link(.cancelled)
    }

    func unlock(_ record: HostRecord, passphrase: [UInt8]) async throws(HostAccessError) -> [String] {
        throw .nothingLocked
    }
}
