import HostsHub
import HostsLog
import HostsModel
import HostsTestSupport
import Testing

/// A source of jitter that traps when it is asked off the hub: every event of a host asks it.
private final class IsolatedJitter: JitterSource {
    let hub = Locked<ConnectionHub?>(nil)

    func next() -> Double {
        hub.withLock { $0 }?.preconditionIsolated("only the hub changes a host")
        return 0.5
    }
}

@Suite struct HubIsolationTests {
    @Test func `what the person asks for changes the host on the hub, too`() async {
        await #expect(processExitsWith: .success) {
            let jitter = IsolatedJitter()
            let hub = ConnectionHub(
                environment: ConnectionHub.Environment(
                    connector: SimulatedFleet(), clock: ManualClock(), wallClock: FixedWallClock(),
                    jitter: jitter, logs: LogCenter(sinks: [], clock: FixedWallClock()),
                    hasRoute: { _ in false },
                    makeInterpreter: { FakeInterpreter(host: $0, wantsConfirmation: false) }),
                settings: ConnectionHub.Settings())
            jitter.hub.withLock { $0 = hub }
            let host = try HostID.named("a")
            await hub.setRecords([HostRecord(id: host, destination: "d")])
            let run = Task { await hub.run() }
            for _ in 0..<100 {
                try await hub.resume(host)
                try await hub.probe(host)
            }
            run.cancel()
            await run.value
        }
    }
}
