import HostsHub
import HostsLog
import HostsModel
import HostsPolicy
import HostsSystem
import HostsTestSupport
import Testing

@testable import HostsDaemon

/// Everything that acts on sleep and wake, in real time: a hub of simulated hosts, the observer, and a stand-in for
/// logind.
final class LifecycleRig: Sendable {
    let fleet = SimulatedFleet()
    let hub: ConnectionHub
    let bus: PrivateBus
    let logind: PrivateLoginManager
    let observer: LifecycleObserver
    let background: BackgroundActivity
    /// For each delivery whether the delay was held.
    let deliveries = Locked<[Bool]>([])
    /// The stand-in outlives the rig.
    let keepsLogind = Locked(false)
    private let logs = LogCenter(level: .trace, sinks: [], clock: FixedWallClock())

    private init(
        delayMicroseconds: UInt64, hasBus: Bool, backgroundClock: any MonotonicClock
    ) async throws {
        bus = try await PrivateBus()
        logind = try await PrivateLoginManager(on: bus, delayMicroseconds: delayMicroseconds)
        let clock = SystemClock()
        let hub = ConnectionHub(
            environment: ConnectionHub.Environment(
                connector: fleet, clock: clock, wallClock: FixedWallClock(), jitter: FixedJitter(0.5),
                logs: logs, hasRoute: { _ in false }, makeInterpreter: { EmptyLook(host: $0) }),
            settings: ConnectionHub.Settings())
        self.hub = hub
        let log = logs.log(.background)
        let login = try LoginManager(
            address: hasBus ? bus.address : "unix:path=/nonexistent/bus", firstPause: .milliseconds(20),
            longestPause: .milliseconds(100), log: log)
        observer = LifecycleObserver(login: login, suspend: nil, routes: nil, clock: clock, log: log)
        let deliveries = deliveries
        background = BackgroundActivity(hub: hub, login: login, clock: backgroundClock, log: log) { _ in
            let isHolding = await hub.isHoldingBackgroundTime
            deliveries.withLock { $0.append(isHolding) }
        }
    }

    static func run(
        delayMicroseconds: UInt64 = 5_000_000, hasBus: Bool = true,
        backgroundClock: any MonotonicClock = SystemClock(),
        _ body: @escaping @Sendable (LifecycleRig) async throws -> Void
    ) async throws {
        let rig = try await LifecycleRig(
            delayMicroseconds: delayMicroseconds, hasBus: hasBus, backgroundClock: backgroundClock)
        let conductor = LifecycleConductor(
            observer: rig.observer, hub: rig.hub, background: rig.background,
            service: ServiceManager(address: nil))
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await rig.hub.run() }
            group.addTask { for await _ in rig.hub.events {} }
            group.addTask { await rig.observer.run() }
            group.addTask { await conductor.run() }
            group.addTask { await rig.background.run() }
            let failure: (any Error)?
            do {
                try await body(rig)
                failure = nil
            } catch {
                failure = error
            }
            group.cancelAll()
            try await group.waitForAll()
            if let failure { throw failure }
        }
        #expect(rig.fleet.violations.isEmpty)
        if !rig.keepsLogind.withLock({ $0 }) { rig.logind.stop() }
    }

    /// A host by its name.
    func host(_ name: String) -> HostID {
        guard let id = HostID(rawValue: name) else { preconditionFailure("\(name) is no host name") }
        return id
    }

    /// Takes records: each name with whether it has opted in.
    func set(_ hosts: [String: Bool], disabled: Set<String> = []) async {
        await hub.setRecords(
            hosts.map { name, isOptedIn in
                HostRecord(
                    id: host(name), destination: "d", isEnabled: !disabled.contains(name),
                    backgroundKeepAlive: isOptedIn)
            })
    }

    func condition(_ name: String) async -> HostCondition? { await hub.snapshot(of: host(name))?.condition }

    func areOnline(_ names: String...) async -> Bool {
        for name in names where await condition(name) != .online { return false }
        return true
    }

    func isHeld() async throws -> Bool { try await logind.inhibitors().contains("hostsd") }

    func count(of event: String) -> Int { logs.records().count { $0.event == event } }

    /// Those of these events that were logged, in their order.
    func events(of names: Set<String>) -> [String] {
        logs.records().map { "\($0.event)" }.filter { names.contains($0) }
    }

    /// Waits until something holds; the suite's time limit ends a wait in vain.
    func until(_ holds: () async throws -> Bool) async throws {
        while try await !holds() { await Task.yield() }
    }
}

private struct EmptyLook: ProbeInterpreter {
    let host: HostID

    func nextRequest() -> ProbeRequest { ProbeRequest(function: "look") }

    func explain(_ session: SessionID) -> SessionExplanation? { nil }

    func interpret(_ reply: ProbeReply, at time: WallTime) throws(LinkError) -> ProbeStep {
        .observation(HostObservation(host: host, bootID: "boot", time: time, sessions: []))
    }
}
