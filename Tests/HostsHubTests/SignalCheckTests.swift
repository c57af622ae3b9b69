import HostsHub
import HostsLog
import HostsModel
import HostsTestSupport
import Testing

@Suite struct SignalCheckTests {
    private func check(_ fleet: SimulatedFleet) async throws -> SignalCheck.Outcome {
        let log = LogCenter(sinks: [], clock: FixedWallClock())
        let environment = ConnectionHub.Environment(
            connector: fleet, clock: ManualClock(), wallClock: FixedWallClock(), jitter: FixedJitter(0.5),
            logs: log, hasRoute: { _ in false },
            makeInterpreter: { FakeInterpreter(host: $0, wantsConfirmation: false) })
        let record = HostRecord(id: try HostID.named("a"), destination: "a", isEnabled: false)
        return await SignalCheck(environment: environment).run(record)
    }

    @Test func `a disabled host may be checked, and nothing is left open`() async throws {
        let fleet = SimulatedFleet()
        let outcome = try await check(fleet)
        #expect(outcome.error == nil)
        #expect(outcome.sessions == 0)
        #expect(fleet.dials(of: try HostID.named("a")) == 1)
        #expect(fleet.openLinks == 0)
    }

    @Test func `a failed dial and a failed look each say why`() async throws {
        let fleet = SimulatedFleet()
        let a = try HostID.named("a")
        fleet.set(.fails(.connectionRefused(address: "a")), for: a)
        #expect(try await check(fleet).error == .connectionRefused(address: "a"))
        fleet.set(.succeeds, for: a)
        fleet.set(looks: .fail(.timedOut(.probe, after: .seconds(20))), for: a)
        let outcome = try await check(fleet)
        #expect(outcome.error == .timedOut(.probe, after: .seconds(20)))
        #expect(outcome.link != nil)
        #expect(fleet.openLinks == 0)
    }

    @Test func `a reply that cannot be read is a failed look`() async throws {
        let fleet = SimulatedFleet()
        fleet.set(body: [1], for: try HostID.named("a"))
        #expect(try await check(fleet).error?.code == "probe.bad-reply")
        #expect(fleet.openLinks == 0)
    }
}
