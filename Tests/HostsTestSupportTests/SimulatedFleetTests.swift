import HostsModel
import HostsTestSupport
import Testing

@Suite struct SimulatedFleetTests {
    @Test func `a look that meets the cut of its link is no use of it afterwards`() async throws {
        let host = try #require(HostID(rawValue: "a"))
        let record = HostRecord(id: host, destination: "a")
        let fleet = SimulatedFleet()
        for token in 0..<20_000 {
            let link = try await fleet.connect(to: record, token: token)
            await withTaskGroup(of: Void.self) { group in
                group.addTask { await Self.look(link) }
                group.addTask { fleet.cut(host) }
            }
            #expect(fleet.openLinks == 0)
        }
        #expect(fleet.violations.isEmpty)
    }

    @Test func `looks on two open links of one host are a violation`() async throws {
        let host = try #require(HostID(rawValue: "a"))
        let record = HostRecord(id: host, destination: "a")
        let fleet = SimulatedFleet()
        for token in 1...2 { await Self.look(try await fleet.connect(to: record, token: token)) }
        #expect(fleet.violations == ["a has two links in use"])
        // A fleet and its open links hold each other.
        fleet.cut(host)
    }

    private static func look(_ link: any ProbeLink) async {
        do throws(LinkError) {
            _ = try await link.probe(ProbeRequest(function: "look"), until: .now)
        } catch {
            return  // the cut came first
        }
    }
}
