import HostsConfig
import HostsLog
import HostsModel
import HostsTestSupport
import Testing

@testable import HostsDaemon

@Suite struct RuleShelfTests {
    @Test func `the shipped rules stand beside an installed program`() throws {
        let folder = try TemporaryFolder()
        let rules = try folder.makeFolder("usr/share/hostsd/agents.d")
        #expect(RuleShelf.shippedFolder(program: folder.path("usr/bin/hostsd")) == rules)
    }

    @Test func `the rules of the source tree serve a program that was built in it`() throws {
        let folder = try TemporaryFolder()
        let rules = try folder.makeFolder("Config/agents.d")
        #expect(RuleShelf.shippedFolder(program: folder.path(".build/debug/hostsd")) == rules)
    }

    @Test(arguments: ["/nowhere/bin/hostsd", "/hostsd", "hostsd", ""])
    func `where there are none, the installed place is named`(program: String) {
        #expect(RuleShelf.shippedFolder(program: program).hasSuffix("/share/hostsd/agents.d"))
    }

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
