import HostsHub
import HostsLog
import HostsModel
import HostsTestSupport
import Testing

/// A hub among simulated hosts, in a time that is moved by hand.
final class World: Sendable {
    let clock = ManualClock()
    let fleet = SimulatedFleet()
    let events = EventLog()
    private let makeInterpreter: @Sendable (HostID) -> any ProbeInterpreter

    init(
        makeInterpreter: @escaping @Sendable (HostID) -> any ProbeInterpreter = {
            FakeInterpreter(host: $0, wantsConfirmation: false)
        }
    ) {
        self.makeInterpreter = makeInterpreter
    }

    func record(_ name: String, destination: String = "d", isEnabled: Bool = true) -> HostRecord {
        guard let id = HostID(rawValue: name) else { preconditionFailure("\(name) is no host name") }
        return HostRecord(id: id, destination: destination, isEnabled: isEnabled)
    }

    /// Runs a hub with these hosts for as long as `body` takes; afterwards every link must be closed.
    func run(records: [String], _ body: (ConnectionHub) async throws -> Void) async throws {
        let log = LogCenter(sinks: [], clock: FixedWallClock())
        let environment = ConnectionHub.Environment(
            connector: fleet, clock: clock, wallClock: FixedWallClock(), jitter: FixedJitter(0.5),
            logs: log, hasRoute: { _ in false },
            makeInterpreter: makeInterpreter)
        let hub = ConnectionHub(environment: environment, settings: ConnectionHub.Settings())
        let events = events
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await hub.run() }
            group.addTask { for await event in hub.events { events.append(event) } }
            await hub.setRecords(records.map { record($0) })
            do {
                try await body(hub)
            } catch {
                group.cancelAll()
                throw error
            }
            group.cancelAll()
            try await group.waitForAll()
        }
        #expect(fleet.violations.isEmpty)
        #expect(fleet.openLinks == 0)
    }

    /// Gives everything that can go on without the clock the chance to.
    func settle() async {
        for _ in 0..<300 { await Task.yield() }
    }

    /// Moves time until the next look at a host has been observed.
    func nextObservation(of host: HostID) async throws {
        let start = events.count
        try await events.waitMovingTime(clock, from: start) {
            if case .observed(let observation, _) = $0 { observation.host == host } else { false }
        }
    }
}

/// The fleet events of a run, to wait on.
final class EventLog: Sendable {
    private struct State: Sendable {
        var events: [FleetEvent] = []
        var watchers: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Locked(State())

    var all: [FleetEvent] { state.withLock { $0.events } }

    var count: Int { state.withLock { $0.events.count } }

    func append(_ event: FleetEvent) {
        let watchers = state.withLock { state in
            state.events.append(event)
            defer { state.watchers = [] }
            return state.watchers
        }
        for watcher in watchers { watcher.resume() }
    }

    /// Waits until an event that matches has come, now or earlier.
    func waitFor(from start: Int = 0, _ matches: (FleetEvent) -> Bool) async throws {
        var seen = start
        while true {
            // The count belongs to the events that were looked at: one that comes now must end the wait.
            let (isThere, count) = state.withLock {
                ($0.events[seen...].contains(where: matches), $0.events.count)
            }
            if isThere { return }
            seen = count
            await waitForMore(than: count)
        }
    }

    /// The same, and moves time on whenever somebody sleeps.
    func waitMovingTime(_ clock: ManualClock, from start: Int? = nil, _ matches: (FleetEvent) -> Bool)
        async throws
    {
        let start = start ?? count
        while !state.withLock({ $0.events[start...].contains(where: matches) }) {
            await clock.untilSleeping()
            clock.advanceToNextDeadline()
            await Task.yield()
        }
    }

    private func waitForMore(than count: Int) async {
        await withCheckedContinuation { continuation in
            let hasMore = state.withLock { state in
                if state.events.count > count { return true }
                state.watchers.append(continuation)
                return false
            }
            if hasMore { continuation.resume() }
        }
    }
}

extension FleetEvent {
    func isCondition(_ condition: HostCondition, of host: HostID) -> Bool {
        guard case .condition(host, _, condition, _) = self else { return false }
        return true
    }

    func isReconnecting(_ host: HostID) -> Bool {
        guard case .condition(host, _, .reconnecting, _) = self else { return false }
        return true
    }
}

extension HostID {
    static func named(_ name: String) throws -> HostID { try #require(HostID(rawValue: name)) }

    static func allNamed(_ names: [String]) throws -> [HostID] { try names.map { try named($0) } }
}
