import HostsAPI
import HostsTestSupport
import Testing

/// Why an agent is thought to be in its state, asked of the real hostsd.
@Suite(.serialized, .timeLimit(.minutes(5))) struct ExplainTests {
    /// Rules that see the composer of the stand-in, and no work.
    private static let blind = """
        schema = 1
        agent = "claude"
        versions = { maximum = "3" }
        [process]
        names = ["claude"]
        [composer]
        top = '^─{2,}.*─$'
        prompt = '^❯'
        bottom = '^─{10,}$'
        [[rules]]
        name = "composer"
        stage = "composer"
        means = "idle"
        when = [{ region = "composer", pattern = '^❯' }]

        """

    @Test func `the looks at an agent are told with their signs, after its end too`() async throws {
        let host = try await ScriptedHost(name: "a")
        let agent = try await host.start(ScriptedAgent(kind: .codex))
        let daemon = try await PrivateDaemon(servers: [host.server], settings: PrivateDaemon.quick)
        try await daemon.until("a", "online")
        try await agent.tell(.busy)
        try await daemon.untilAgent(is: "busy")
        try await agent.tell(.permission)
        try await daemon.untilAgent(is: "needsYou")
        let id = try #require(try await daemon.sessions(of: "a").first?.id)
        let page = try await daemon.hostsctl("explain", id)
        #expect(page.status == 0)
        let rows = page.output.split(separator: "\n").map {
            $0.split(separator: " ").joined(separator: " ")
        }
        #expect(rows.contains("applied busy codex.status-row (statusRow, strong)"))
        #expect(rows.contains("applied needs you: permission codex.permission-dialog (dialog, strong)"))
        // The title knows no reason.
        #expect(rows.contains("applied needs you: other codex.title-action-required (title, strong)"))
        try await agent.tell(.exit)
        try await daemon.log.until("exited")
        let gone = try await daemon.hostsctl("explain", id)
        #expect(gone.output.contains("process.gone"))
        #expect(try await daemon.hostsctl("explain", "a/1-0").status == 4)
        await daemon.terminate()
    }

    @Test func `rules that see no work are told once, and their sessions are listed`() async throws {
        let host = try await ScriptedHost(name: "a")
        let agent = try await host.start(ScriptedAgent(kind: .claude))
        let daemon = try await PrivateDaemon(servers: [host.server], settings: PrivateDaemon.quick)
        try daemon.folder.makeFolder("config/agents.d")
        try daemon.folder.write("config/agents.d/claude.toml", Self.blind)
        #expect(try await daemon.hostsctl("reload").status == 0)
        try await daemon.until("a", "online")
        try await agent.tell(.busy)
        try await daemon.log.until("see no work on a")
        let unknown = try await daemon.hostsctl("sessions", "--unknown")
        #expect(unknown.output.contains("rules do not fit"))
        #expect(unknown.output.contains("claude.composer"))
        // Whether the version is known depends on a look before the reload, with the rules that read the state file.
        let stale = try await daemon.events("rules.stale").map(\.key)
        #expect(stale == ["rules:a:claude:"] || stale == ["rules:a:claude:2.1.284"])
        #expect(try await daemon.events("turn.ended") == [])
        await daemon.terminate()
    }
}
