import HostsConfig
import HostsLog
import HostsModel
import HostsTestSupport
import Testing

@testable import HostsDaemon

@Suite struct RuleShelfTests {
    @Test func `rules that are missing or wrong are told`() async throws {
        let folder = try TemporaryFolder()
        try folder.makeFolder("own")
        try folder.write("own/claude.toml", "name = ")
        let shelf = RuleShelf(
            shipped: folder.path("none"), own: folder.path("own"),
            log: LogCenter(sinks: [], clock: FixedWallClock()).log(.config))
        let faults = await shelf.read()
        #expect(faults.contains { $0.location.file == folder.path("own/claude.toml") })
    }
}
