import Glibc
import HostsAPI
import HostsTestSupport
import Testing

/// What a person gets wrong: each says what to do, and everything else goes on.
@Suite(.serialized, .timeLimit(.minutes(5))) struct BadInputTests {
    @Test func `each bad record affects its own host only, and says where`() async throws {
        let server = try await LocalSSHD()
        let daemon = try await PrivateDaemon(servers: [server])
        try await daemon.until("devbox", "online")
        try daemon.folder.write("config/hosts.d/broken.toml", "ssh = \n")
        try daemon.folder.write("config/hosts.d/typo.toml", "ssh = \"devbox\"\nlable = \"x\"\n")
        try daemon.folder.write("config/hosts.d/lost.override.toml", "enabled = false\n")
        let reload = try await daemon.hostsctl("reload")
        #expect(reload.output.contains("broken.toml:1:"))
        #expect(reload.output.contains("typo.toml:2:1"))
        #expect(reload.output.contains("did you mean \"label\""))
        #expect(reload.output.contains("lost.override.toml"))
        #expect(try await daemon.host("broken").condition == "badRecord")
        #expect(try await daemon.host("devbox").condition == "online")
        #expect(server.log.count(of: "Accepted publickey") >= 1)

        // An action on a broken record says where it is broken.
        for verb in ["probe", "check", "disable"] {
            let refused = try await daemon.hostsctl(verb, "broken")
            #expect(refused.status == 6)
            #expect(refused.errorOutput.contains("broken.toml:1:"))
        }
        #expect(try await daemon.events("config.error").map(\.host) == ["broken"])

        // A file that becomes bad keeps its last good record.
        try daemon.folder.write("config/hosts.d/devbox.toml", "ssh = \"devbox\"\nenabled = yes\n")
        #expect(try await daemon.hostsctl("reload").output.contains("devbox.toml:2:"))
        #expect(try await daemon.host("devbox").condition == "online")
        #expect(try await daemon.hostsctl("reload").status == 6)
        let faults = try await daemon.events("config.error")
        #expect(faults.map(\.host) == ["broken", "devbox"])
        #expect(faults.last?.summary.contains("devbox.toml:2:") == true)

        // A start tells of what is new only.
        await daemon.terminate()
        try await daemon.restart()
        #expect(try await daemon.hostsctl("reload").status == 6)
        #expect(try await daemon.events("config.error").count == 2)
        await daemon.terminate()
    }

    @Test func `many files that become bad at once are one alert`() async throws {
        let server = try await LocalSSHD()
        let daemon = try await PrivateDaemon(servers: [server], settings: PrivateDaemon.quick)
        try daemon.folder.makeFolder("new")
        for number in 0..<20 { try daemon.folder.write("new/bad\(number).toml", "ssh = \n") }
        for number in 0..<20 {
            #expect(
                rename(
                    daemon.folder.path("new/bad\(number).toml"),
                    daemon.folder.path("config/hosts.d/bad\(number).toml")) == 0)
        }
        #expect(try await daemon.hostsctl("reload").status == 6)
        // The folder's watch may read it in between: once more at most.
        let faults = try await daemon.events("config.error")
        #expect((1...6).contains(faults.count))
        #expect(faults.contains { $0.summary.contains("files have errors") })
        await daemon.terminate()
    }

    @Test func `an unknown and a changed host key stop the host, with the command that helps`() async throws {
        let server = try await LocalSSHD()
        try server.folder.write("known_hosts", "")
        let daemon = try await PrivateDaemon(servers: [server])
        try await daemon.until("devbox", "needsYou")
        let shown = try await daemon.host("devbox")
        #expect(shown.code == "ssh.hostkey.unknown")
        #expect(shown.reason?.contains("SHA256:") == true)
        #expect(shown.help?.contains("hostsctl trust devbox") == true)
        try server.trustHostKey()
        #expect(try await daemon.hostsctl("resume", "devbox").status == 0)
        #expect(try await daemon.host("devbox").condition == "online")

        let other = try await server.makeKey("other")
        let key = try server.folder.read("other.pub").split(separator: " ").prefix(2).joined(separator: " ")
        try server.folder.write("known_hosts", "\(server.knownHostsName()) \(key)\n")
        server.killConnections()
        try await daemon.log.until("ssh.hostkey.changed")
        let changed = try await daemon.host("devbox")
        #expect(changed.code == "ssh.hostkey.changed")
        #expect(changed.help?.contains("ssh-keygen -f ") == true)
        #expect(changed.help?.hasSuffix("hostsctl trust devbox") == true)
        try await server.log.until("Accepted publickey")
        #expect(server.log.count(of: "Accepted publickey") == 1)
        #expect(!other.isEmpty)
        await daemon.terminate()
    }

    @Test func `nothing there, a web server, a missing key and a passphrase each have their own words`()
        async throws
    {
        let servers = try await ["gone", "nokey", "locked"].asyncMap { name in
            var options = LocalSSHD.Options()
            options.name = name
            return try await LocalSSHD(options)
        }
        servers[0].stop()
        try servers[1].writeConfig(identityFiles: [servers[1].folder.path("nowhere")])
        let locked = try await servers[2].makeKey("locked", passphrase: "secret")
        try servers[2].writeConfig(identityFiles: [locked])
        let daemon = try await PrivateDaemon(servers: servers, settings: PrivateDaemon.quick)
        try await daemon.until("gone", "reconnecting")
        try await daemon.until("nokey", "needsYou")
        try await daemon.until("locked", "needsYou")
        #expect(try await daemon.host("gone").code == "connect.refused")
        #expect(try await daemon.host("nokey").code == "ssh.key.missing")
        #expect(try await daemon.host("locked").code == "ssh.key.passphrase")
        #expect(try await daemon.host("locked").help?.contains("ssh-add") == true)
        #expect(!daemon.log.lines.contains { $0.contains("secret") })
        await daemon.terminate()
    }

    @Test func `a second daemon on the socket says so and leaves the first alone`() async throws {
        let server = try await LocalSSHD()
        let daemon = try await PrivateDaemon(servers: [server], settings: PrivateDaemon.quick)
        let second = try await daemon.runSecond("--socket", daemon.socket)
        #expect(second.status == 78)
        #expect(second.errorOutput.contains("already running"))
        #expect(try await daemon.hostsctl("status").status == 0)
        // With a socket of its own it would tell of the same events a second time.
        let other = try await daemon.runSecond("--socket", daemon.folder.path("run/other.sock"))
        #expect(other.status == 78)
        #expect(other.errorOutput.contains("another hostsd keeps its events in"))
        #expect(other.errorOutput.contains("--state-dir"))
        let long = "/var/tmp/" + String(repeating: "x", count: 120)
        let tooLong = try await daemon.runSecond("--socket", long)
        #expect(tooLong.status == 78)
        #expect(tooLong.errorOutput.contains("107"))
        await daemon.terminate()
        let afterwards = try await daemon.hostsctl("status")
        #expect(afterwards.status == 8)
        #expect(afterwards.errorOutput.contains(daemon.socket))
    }

    @Test func `a hook that is not executable, fails or hangs is named, and the others are told`()
        async throws
    {
        let host = try await ScriptedHost(name: "a")
        let agent = try await host.start(ScriptedAgent(kind: .claude))
        let daemon = try await PrivateDaemon(
            servers: [host.server], settings: PrivateDaemon.quick + "[hooks]\ntimeout_seconds = 1\n",
            hooks: [
                "fails": "exit 1\n", "hangs": "sleep 1000\n", "good": "echo \"$1\" >> \"$HOME/told\"\n",
                "setup": "exit 78\n",
            ])
        try daemon.folder.write("config/hooks.d/plain", "#!/bin/sh\n", mode: 0o600)
        try await daemon.until("a", "online")
        #expect(try await daemon.hostsctl("reload").status == 0)
        try await agent.tell(.permission)
        try await daemon.log.until("alert posted for a/")
        let hooks = try await daemon.hostsctl("hooks")
        #expect(hooks.output.contains("plain"))
        #expect(hooks.output.contains("chmod"))
        #expect(try daemon.folder.read("home/told").contains("needs.you"))
        await daemon.terminate()
    }
}

extension Array where Element: Sendable {
    /// Maps one element after the other.
    fileprivate func asyncMap<Result>(_ transform: (Element) async throws -> Result) async throws -> [Result]
    {
        var results: [Result] = []
        for element in self { results.append(try await transform(element)) }
        return results
    }
}
