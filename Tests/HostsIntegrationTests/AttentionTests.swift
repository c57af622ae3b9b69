import HostsAPI
import HostsTestSupport
import Testing

/// From what an agent does on a host to what a hook is told.
@Suite(.serialized, .timeLimit(.minutes(5))) struct AttentionTests {
    /// Writes one line for each event that is told.
    private static let hook = """
        printf '%s %s late=%s\\n' "$1" "$HOSTSD_AGENT" "$HOSTSD_LATE" >> "$HOME/told"
        cat > "$HOME/last.json"

        """

    private func told(_ daemon: PrivateDaemon, _ kind: String) throws -> [String] {
        try daemon.folder.read("home/told").split(separator: "\n").map(String.init).filter {
            $0.hasPrefix(kind)
        }
    }

    @Test(arguments: ScriptedAgent.Kind.allCases)
    func `a question and the end of a turn are told, each once`(kind: ScriptedAgent.Kind) async throws {
        let host = try await ScriptedHost(name: "a")
        let agent = try await host.start(ScriptedAgent(kind: kind))
        let daemon = try await PrivateDaemon(
            servers: [host.server], settings: PrivateDaemon.quick, hooks: ["tell": Self.hook])
        try await daemon.until("a", "online")
        try await agent.tell(.busy)
        try await daemon.untilAgent(is: "busy")
        try await agent.tell(.permission)
        try await daemon.log.until("asks for permission")
        try await agent.tell(.busy)
        try await daemon.untilAgent(is: "busy")
        try await agent.tell(.idle)
        try await daemon.log.until("finished its turn")
        await daemon.terminate()
        #expect(try told(daemon, "needs.you") == ["needs.you \(kind) late=0"])
        #expect(try told(daemon, "turn.ended") == ["turn.ended \(kind) late=0"])
        #expect(daemon.log.count(of: "alert posted for a/") >= 2)
    }

    @Test func `a turn that ends while the link is cut is told once, as late`() async throws {
        let host = try await ScriptedHost(name: "a")
        let agent = try await host.start(ScriptedAgent(kind: .claude))
        let daemon = try await PrivateDaemon(
            servers: [host.server], settings: PrivateDaemon.quick, hooks: ["tell": Self.hook])
        try await daemon.until("a", "online")
        try await agent.tell(.busy)
        try await daemon.untilAgent(is: "busy")
        let position = daemon.log.position
        host.server.killConnections()
        try await agent.tell(.idle)
        let lost = try await daemon.until("a", "reconnecting", after: position)
        try await daemon.until("a", "online", after: lost)
        try await daemon.log.until("finished its turn")
        #expect(try await daemon.hostsctl("probe", "a").status == 0)
        let ended = try await daemon.events("turn.ended")
        #expect(ended.map(\.late) == [true])
        #expect(ended.allSatisfy { $0.gapSeconds > 0 })
        await daemon.terminate()
        #expect(try told(daemon, "turn.ended") == ["turn.ended claude late=1"])
    }

    @Test func `nothing is invented when the link is cut and nothing has happened`() async throws {
        let host = try await ScriptedHost(name: "a")
        let agent = try await host.start(ScriptedAgent(kind: .claude))
        let daemon = try await PrivateDaemon(servers: [host.server], settings: PrivateDaemon.quick)
        try await daemon.until("a", "online")
        try await agent.tell(.busy)
        try await daemon.untilAgent(is: "busy")
        for _ in 0..<2 {
            let position = daemon.log.position
            host.server.killConnections()
            let lost = try await daemon.until("a", "reconnecting", after: position)
            try await daemon.until("a", "online", after: lost)
        }
        #expect(try await daemon.hostsctl("probe", "a").status == 0)
        #expect(try await daemon.events("turn.ended", "needs.you", "agent.exited").isEmpty)
        #expect(try await daemon.sessions(of: "a").map(\.state) == ["busy"])
        await daemon.terminate()
    }

    @Test func `after a crash the first look announces nothing old`() async throws {
        let host = try await ScriptedHost(name: "a")
        let agent = try await host.start(ScriptedAgent(kind: .claude))
        let daemon = try await PrivateDaemon(servers: [host.server], settings: PrivateDaemon.quick)
        try await daemon.until("a", "online")
        try await agent.tell(.busy)
        try await daemon.untilAgent(is: "busy")
        daemon.crash()
        try await agent.tell(.idle)
        try await daemon.restart()
        try await daemon.until("a", "online")
        #expect(try await daemon.hostsctl("probe", "a").status == 0)
        #expect(try await daemon.events("turn.ended").isEmpty)
        await daemon.terminate()
    }

    @Test func `a turn that ends during a planned restart is told once, as late`() async throws {
        let host = try await ScriptedHost(name: "a")
        let agent = try await host.start(ScriptedAgent(kind: .claude))
        let daemon = try await PrivateDaemon(servers: [host.server], settings: PrivateDaemon.quick)
        try await daemon.until("a", "online")
        try await agent.tell(.busy)
        try await daemon.untilAgent(is: "busy")
        await daemon.terminate()
        try await agent.tell(.idle)
        try await daemon.restart()
        try await daemon.log.until("finished its turn")
        #expect(try await daemon.hostsctl("probe", "a").status == 0)
        let ended = try await daemon.events("turn.ended")
        #expect(ended.map(\.late) == [true])
        #expect(ended.allSatisfy { $0.gapSeconds > 0 })
        await daemon.terminate()
        // And nothing is told twice by the next one.
        try await daemon.restart()
        try await daemon.until("a", "online")
        #expect(try await daemon.hostsctl("probe", "a").status == 0)
        #expect(try await daemon.events("turn.ended").count == 1)
        await daemon.terminate()
    }

    @Test func `a hook that fails for a while is told after a restart`() async throws {
        let host = try await ScriptedHost(name: "a")
        let agent = try await host.start(ScriptedAgent(kind: .claude))
        let hook = """
            [ "$1" = needs.you ] || exit 0
            [ -e "$HOME/open" ] || exit 75
            echo "$HOSTSD_EVENT_ID" >> "$HOME/told"

            """
        let daemon = try await PrivateDaemon(
            servers: [host.server], settings: PrivateDaemon.quick, hooks: ["tell": hook])
        try await daemon.until("a", "online")
        try await agent.tell(.permission)
        try await daemon.log.until("asks for permission")
        #expect(try await daemon.events("needs.you").map(\.delivery) == ["pending"])
        daemon.crash()
        try daemon.folder.write("home/open", "")
        try await daemon.restart()
        try await daemon.log.until("alert posted for a/")
        let events = try await daemon.events("needs.you")
        #expect(events.map(\.delivery) == ["delivered"])
        #expect(try daemon.folder.read("home/told") == events.map { $0.id + "\n" }.joined())
        await daemon.terminate()
    }

    @Test func `rules that are changed reach a host that is known already`() async throws {
        let host = try await ScriptedHost(name: "a")
        _ = try await host.start(ScriptedAgent(kind: .claude))
        let daemon = try await PrivateDaemon(servers: [host.server], settings: PrivateDaemon.quick)
        try await daemon.until("a", "online")
        #expect(try await daemon.sessions(of: "a").map(\.agent) == ["claude"])
        // The person's own rules for the same program know no state at all.
        try daemon.folder.makeFolder("config/agents.d")
        try daemon.folder.write(
            "config/agents.d/claude.toml",
            "schema = 1\nagent = \"claude\"\nrevision = \"mine\"\n[process]\nnames = [\"claude\"]\n")
        #expect(try await daemon.hostsctl("reload").status == 0)
        try await daemon.untilAgent(is: "unknown")
        await daemon.terminate()
    }
}
