import FoundationEssentials
import HostsAPI
import HostsTestSupport
import Testing

/// The person's decision to leave a host alone, exactly as seed 002 has it.
@Suite(.serialized, .timeLimit(.minutes(5))) struct DisableTests {
    @Test func `disable closes the link, keeps the sessions, changes one file, and refuses every action`()
        async throws
    {
        let host = try await ScriptedHost(name: "b")
        _ = try await host.start(ScriptedAgent(kind: .claude))
        let daemon = try await PrivateDaemon(servers: [host.server], settings: PrivateDaemon.quick)
        try await daemon.until("b", "online")
        #expect(try await daemon.sessions(of: "b").map(\.agent) == ["claude"])
        let before = try files(of: daemon)

        #expect(try await daemon.hostsctl("disable", "b").status == 0)
        let shown = try await daemon.host("b")
        #expect(shown.condition == "disabled")
        #expect(shown.ageSeconds != nil)
        #expect(try await daemon.sessions(of: "b").map(\.stale) == [true])
        try await host.server.log.until("Disconnected from user")
        #expect(try files(of: daemon).subtracting(before) == ["hosts.d/b.override.toml"])
        #expect(before.subtracting(try files(of: daemon)).isEmpty)

        for verb in ["probe", "resume", "cancel", "unlock"] {
            let refusal = try await daemon.hostsctl([verb, "b"], input: "a passphrase\n")
            #expect(refusal.status == 7)
            #expect(refusal.errorOutput.contains("b is disabled"))
            #expect(refusal.errorOutput.contains("hostsctl enable b"))
        }
        #expect(try await daemon.hostsctl("check", "b").status == 0)
        #expect(try await daemon.host("b").condition == "disabled")

        let again = try await daemon.hostsctl("disable", "b")
        #expect(again.status == 0)
        #expect(again.output.contains("already disabled"))
        let position = daemon.log.position
        #expect(try await daemon.hostsctl("enable", "b").status == 0)
        try await daemon.until("b", "online", after: position)
        await daemon.terminate()
    }

    @Test func `an override that another machine has written does the same`() async throws {
        let server = try await LocalSSHD()
        let daemon = try await PrivateDaemon(servers: [server], settings: PrivateDaemon.quick)
        try await daemon.until("devbox", "online")
        let override = "config/hosts.d/devbox.override.toml"
        try daemon.folder.write(override, "enabled = false\n")
        try await daemon.until("devbox", "disabled")
        try await server.log.until("Disconnected from user")
        #expect(try await daemon.hostsctl("probe", "devbox").status == 7)
        let position = daemon.log.position
        try daemon.folder.write(override, "enabled = true\n")
        try await daemon.until("devbox", "online", after: position)
        try await server.log.until("Accepted publickey", count: 2)
        #expect(server.log.count(of: "Accepted publickey") == 2)
        await daemon.terminate()
    }

    /// Every file of the configuration, with its content: a changed file counts as a new one.
    private func files(of daemon: PrivateDaemon) throws -> Set<String> {
        let folder = daemon.folder.path("config")
        let names = try FileManager.default.subpathsOfDirectory(atPath: folder)
        return Set(names.filter { !$0.hasSuffix(".d") })
    }
}
