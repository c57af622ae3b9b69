import HostsConfig
import HostsTestSupport
import Testing

/// Where the programs look for the rules that came with them.
@Suite struct ShippedRulesTests {
    @Test func `the shipped rules stand beside an installed program`() throws {
        let folder = try TemporaryFolder()
        let rules = try folder.makeFolder("usr/share/hostsd/agents.d")
        #expect(AgentRulesFolder.shipped(with: folder.path("usr/bin/hostsd")) == rules)
    }

    @Test func `the rules of the source tree serve a program that was built in it`() throws {
        let folder = try TemporaryFolder()
        let rules = try folder.makeFolder("Config/agents.d")
        #expect(AgentRulesFolder.shipped(with: folder.path(".build/debug/hostsd")) == rules)
    }

    @Test(arguments: ["/nowhere/bin/hostsd", "/hostsd", "hostsd", ""])
    func `where there are none, the installed place is named`(program: String) {
        #expect(AgentRulesFolder.shipped(with: program).hasSuffix("/share/hostsd/agents.d"))
    }
}
