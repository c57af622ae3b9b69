import HostsAPI
import HostsTestSupport
import Testing

/// What a person does for a host that waits for them, with the real programs.
@Suite(.serialized, .timeLimit(.minutes(5))) struct HostAccessTests {
    @Test func `an unknown host is online after hostsctl trust`() async throws {
        let server = try await LocalSSHD()
        let daemon = try await PrivateDaemon(servers: [server])
        try await daemon.until("devbox", "online")
        await daemon.terminate()
        try server.folder.write("known_hosts", "")
        let other = try await PrivateDaemon(servers: [server])
        let stopped = try await other.until("devbox", "needsYou")
        #expect(try await other.host("devbox").code == "ssh.hostkey.unknown")
        // No terminal to ask on, and no answer beforehand.
        let asked = try await other.hostsctl("trust", "devbox")
        #expect(asked.status == 2)
        let line = try await Tool.run("ssh-keygen", ["-l", "-f", server.folder.path("host_key.pub")])
        let fingerprint = String(line.split(separator: " ")[1])
        #expect(asked.output.contains(fingerprint) || asked.errorOutput.contains(fingerprint))
        let wrong = try await other.hostsctl(
            "trust", "devbox", "--yes", "SHA256:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA")
        #expect(wrong.status == 7)
        let right = try await other.hostsctl("trust", "devbox", "--yes", fingerprint)
        #expect(right.status == 0, "\(right)")
        try await other.until("devbox", "online", after: stopped)
        await other.terminate()
    }

    @Test func `a locked key is open after hostsctl unlock, until the daemon stops`() async throws {
        let server = try await LocalSSHD()
        let path = try await server.makeKey("locked", passphrase: "open sesame")
        try server.writeConfig(identityFiles: [path])
        let daemon = try await PrivateDaemon(servers: [server])
        let stopped = try await daemon.until("devbox", "needsYou")
        #expect(try await daemon.host("devbox").help?.hasPrefix("hostsctl unlock devbox") == true)
        let wrong = try await daemon.hostsctl(["unlock", "devbox"], input: "close sesame\n")
        #expect(wrong.status == 7)
        let right = try await daemon.hostsctl(["unlock", "devbox"], input: "open sesame\n")
        #expect(right.status == 0, "\(right)")
        let online = try await daemon.until("devbox", "online", after: stopped)
        server.killConnections()
        // The next login needs nobody.
        let lost = try await daemon.until("devbox", "reconnecting", after: online)
        try await daemon.until("devbox", "online", after: lost)
        await daemon.terminate()
        let next = try await PrivateDaemon(servers: [server])
        try await next.until("devbox", "needsYou")
        await next.terminate()
    }

    @Test func `a host comes back by itself when ssh_config is mended`() async throws {
        let server = try await LocalSSHD()
        try server.writeConfig(identityFiles: [server.folder.path("nowhere")])
        let daemon = try await PrivateDaemon(servers: [server])
        let stopped = try await daemon.until("devbox", "needsYou")
        try server.writeConfig()
        try await daemon.until("devbox", "online", after: stopped)
        await daemon.terminate()
    }
}
