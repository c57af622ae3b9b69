import HostsModel
import HostsTestSupport
import Testing

@testable import HostsSSH

struct LinkHostKeyTests {
    /// The server must not have heard a word of authentication, and have seen one connection.
    private func expectUntouched(_ server: LocalSSHD) async throws {
        try await server.log.until("Connection closed by")
        try await server.log.until("Connection from")
        #expect(server.log.count(of: "Connection from") == 1)
        for word in ["publickey", "userauth", "Accepted", "Failed"] {
            #expect(server.log.count(of: word) == 0)
        }
    }

    private func fingerprint(of server: LocalSSHD) async throws -> String {
        let line = try await Tool.run("ssh-keygen", ["-l", "-f", server.folder.path("host_key.pub")])
        return String(line.split(separator: " ")[1])
    }

    @Test func `an unknown host key is refused before authentication, with the command that accepts it`()
        async throws
    {
        let server = try await LocalSSHD()
        try server.folder.write("known_hosts", "")
        let error = await LinkFixture.factory(config: server.configFile).failure(of: server.record)
        #expect(
            error
                == .hostKeyUnknown(
                    host: server.knownHostsName(), fingerprint: try await fingerprint(of: server)))
        try await expectUntouched(server)
    }

    @Test func `a changed host key is refused before authentication, with both fingerprints`() async throws {
        let server = try await LocalSSHD()
        let other = try await LocalSSHD()
        try server.folder.write("known_hosts", "\(server.knownHostsName()) \(try other.hostKey())\n")
        let error = await LinkFixture.factory(config: server.configFile).failure(of: server.record)
        #expect(
            error
                == .hostKeyChanged(
                    host: server.knownHostsName(), expected: try await fingerprint(of: other),
                    got: try await fingerprint(of: server), file: server.knownHostsFile))
        try await expectUntouched(server)
    }

    @Test func `a revoked host key is refused whatever else is known`() async throws {
        let server = try await LocalSSHD()
        let key = try server.hostKey()
        try server.folder.write("known_hosts", "\(server.knownHostsName()) \(key)\n@revoked * \(key)\n")
        let error = await LinkFixture.factory(config: server.configFile).failure(of: server.record)
        #expect(error?.code == "ssh.hostkey.revoked")
        try await expectUntouched(server)
    }

    @Test func `a hashed name with a port is found`() async throws {
        let server = try await LocalSSHD()
        try await Tool.run("ssh-keygen", ["-q", "-H", "-f", server.knownHostsFile])
        #expect(try server.folder.read("known_hosts").hasPrefix("|1|"))
        #expect(await LinkFixture.factory(config: server.configFile).failure(of: server.record) == nil)
    }

    @Test func `a host that is known by one type of key does not look changed`() async throws {
        // The server also has an ECDSA key, which libssh2 1.10.0 would ask for first.
        let server = try await LocalSSHD()
        try await Tool.makeKey(server.folder.path("second_host_key"), type: "ecdsa")
        var options = LocalSSHD.Options()
        options.configuration = ["HostKey \(server.folder.path("second_host_key"))"]
        let both = try await LocalSSHD(options)
        #expect(await LinkFixture.factory(config: both.configFile).failure(of: both.record) == nil)
    }

    @Test(arguments: ["ask", "yes", "accept-new", "no"])
    func `a key of another type than the known one is a changed key, and never added`(value: String)
        async throws
    {
        let server = try await LocalSSHD()
        try await Tool.makeKey(server.folder.path("former"), type: "ecdsa")
        let former = try server.folder.read("former.pub").split(separator: " ").prefix(2)
        let line = "\(server.knownHostsName()) \(former.joined(separator: " "))\n"
        try server.folder.write("known_hosts", line)
        try server.writeConfig(lines: ["StrictHostKeyChecking \(value)"])
        // The ssh program is the measure.
        let ssh = try await Tool.answer(
            "ssh", ["-F", server.configFile, "-o", "BatchMode=yes", server.options.name, "true"],
            environment: Tool.environment)
        #expect(ssh.errorOutput.contains("REMOTE HOST IDENTIFICATION HAS CHANGED"))
        let factory = LinkFixture.factory(config: server.configFile)
        #expect(ssh.status == (value == "no" ? 0 : 255))
        let error = await factory.failure(of: server.record)
        #expect(value == "no" ? error == nil : error?.code == "ssh.hostkey.changed")
        let offer = try await factory.hostKey(of: server.record)
        let refusal = await #expect(throws: HostAccessError.self) {
            try await factory.trust(server.record, fingerprint: offer.fingerprint)
        }
        #expect(refusal == .refused(offer))
        #expect(try server.folder.read("known_hosts") == line)
    }

    @Test func `a host that is known by its RSA key only is reached as by ssh`() async throws {
        let keys = try TemporaryFolder()
        try await Tool.makeKey(keys.path("rsa"), type: "rsa")
        var options = LocalSSHD.Options()
        options.configuration = ["HostKey \(keys.path("rsa"))"]
        let server = try await LocalSSHD(options)
        let known = try keys.read("rsa.pub").split(separator: " ").prefix(2).joined(separator: " ")
        try server.folder.write("known_hosts", "\(server.knownHostsName()) \(known)\n")
        let link = try await LinkFixture.factory(config: server.configFile).connect(
            to: server.record, token: 1)
        defer { link.close(.daemonStopping) }
        #expect(try await link.ask("say", "x").text == "x\n")
        if !MethodPreferences.canAsk(for: "ssh-rsa") {
            #expect(link.summary.kind == .openssh)
            #expect(link.summary.reason?.contains("known by a key ssh-rsa") == true)
        }
    }

    @Test func `an ECDSA and an RSA host key are checked`() async throws {
        for type in ["ecdsa", "rsa"] {
            var options = LocalSSHD.Options()
            options.hostKeyType = type
            if type == "rsa" { options.configuration = ["HostKeyAlgorithms +ssh-rsa"] }
            let server = try await LocalSSHD(options)
            #expect(await LinkFixture.factory(config: server.configFile).failure(of: server.record) == nil)
        }
    }

    @Test func `HostKeyAlias is the name that counts`() async throws {
        let server = try await LocalSSHD()
        try server.folder.write("known_hosts", "alias \(try server.hostKey())\n")
        try server.writeConfig(lines: ["HostKeyAlias alias"])
        #expect(await LinkFixture.factory(config: server.configFile).failure(of: server.record) == nil)
    }
}
