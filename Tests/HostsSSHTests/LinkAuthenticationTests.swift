import HostsModel
import HostsTestSupport
import Testing

@testable import HostsSSH

struct LinkAuthenticationTests {
    struct Kind: Sendable, CustomTestStringConvertible {
        let type: String
        let isPEM: Bool
        var testDescription: String { type + (isPEM ? " in PEM" : " in OpenSSH's format") }
    }

    @Test(arguments: [
        Kind(type: "ed25519", isPEM: false), Kind(type: "ecdsa", isPEM: false),
        Kind(type: "ecdsa", isPEM: true),
        Kind(type: "rsa", isPEM: false), Kind(type: "rsa", isPEM: true),
    ])
    func `a key file is accepted`(kind: Kind) async throws {
        let server = try await LocalSSHD()
        let path = try await server.makeKey("other", type: kind.type, isPEM: kind.isPEM)
        try server.writeConfig(identityFiles: [path])
        #expect(await LinkFixture.factory(config: server.configFile).failure(of: server.record) == nil)
        try await server.log.until("Accepted publickey")
        #expect(server.log.count(of: "Accepted publickey") == 1)
        #expect(server.log.count(of: "Failed publickey") == 0)
    }

    @Test(arguments: ["ed25519", "ecdsa", "rsa"])
    func `a key in the agent is accepted`(type: String) async throws {
        let server = try await LocalSSHD()
        let agent = try await PrivateAgent()
        let path = try await server.makeKey("other", type: type)
        try await agent.add(path)
        try server.writeConfig(identityFiles: [server.folder.path("none")], agent: agent.socket)
        let link = try await LinkFixture.factory(config: server.configFile).connect(
            to: server.record, token: 1)
        defer { link.close(.daemonStopping) }
        #expect(link.summary.detail.contains("agent"))
        #expect(try await link.ask("say", "agent").text == "agent\n")
    }

    @Test func `the agent's key that an identity file names comes first`() async throws {
        let server = try await LocalSSHD()
        let agent = try await PrivateAgent()
        for number in 0..<7 {
            try await agent.add(try await server.makeKey("wrong\(number)", isAuthorized: false))
        }
        let right = try await server.makeKey("right", passphrase: "")
        try await agent.add(right)
        try server.writeConfig(
            identityFiles: [right + ".pub"], agent: agent.socket, lines: ["IdentitiesOnly yes"])
        #expect(await LinkFixture.factory(config: server.configFile).failure(of: server.record) == nil)
        #expect(server.log.count(of: "Failed publickey") == 0)
    }

    @Test func `no more keys are offered than a server bears`() async throws {
        let server = try await LocalSSHD()
        let agent = try await PrivateAgent()
        for number in 0..<8 {
            try await agent.add(try await server.makeKey("wrong\(number)", isAuthorized: false))
        }
        try server.writeConfig(identityFiles: [server.folder.path("none")], agent: agent.socket)
        let error = await LinkFixture.factory(config: server.configFile).failure(of: server.record)
        // sshd has had enough before the sixth (MaxAuthTries).
        #expect(error?.code == "ssh.auth.too-many-keys")
        try await server.log.until("Connection from")
        #expect(server.log.count(of: "Connection from") == 1)
    }

    @Test func `a wrong key makes one connection and is named`() async throws {
        let server = try await LocalSSHD()
        let wrong = try await server.makeKey("wrong", isAuthorized: false)
        try server.writeConfig(identityFiles: [wrong])
        let error = await LinkFixture.factory(config: server.configFile).failure(of: server.record)
        #expect(error == .authenticationRefused(user: server.user, tried: [wrong]))
        #expect(error?.disposition == .needsYou)
        try await server.log.until("Connection closed")
        try await server.log.until("Connection from")
        #expect(server.log.count(of: "Connection from") == 1)
    }

    @Test(arguments: [true, false])
    func `a key with a passphrase is said to have one, without a connection`(isPEM: Bool) async throws {
        let server = try await LocalSSHD()
        let path = try await server.makeKey("locked", type: "ecdsa", passphrase: "secret", isPEM: isPEM)
        try server.writeConfig(identityFiles: [path])
        let factory = LinkFixture.factory(config: server.configFile)
        #expect(await factory.failure(of: server.record) == .keyNeedsPassphrase(path: path))
        #expect(server.log.count(of: "Connection from") == 0)
    }

    @Test func `a key with a passphrase works through the agent that has it`() async throws {
        let server = try await LocalSSHD()
        let agent = try await PrivateAgent()
        let path = try await server.makeKey("key")
        try await agent.add(path)
        try await Tool.run("ssh-keygen", ["-q", "-p", "-P", "", "-N", "secret", "-f", path])
        try server.writeConfig(identityFiles: [path], agent: agent.socket)
        #expect(await LinkFixture.factory(config: server.configFile).failure(of: server.record) == nil)
    }

    @Test func `a missing key is named, a key that others can read is refused`() async throws {
        let server = try await LocalSSHD()
        let missing = server.folder.path("missing")
        try server.writeConfig(identityFiles: [missing])
        let factory = LinkFixture.factory(config: server.configFile)
        #expect(await factory.failure(of: server.record) == .keyMissing(path: missing))
        let exposed = try await server.makeKey("exposed")
        try await Tool.run("chmod", ["644", exposed])
        try server.writeConfig(identityFiles: [exposed])
        #expect(await factory.failure(of: server.record)?.code == "ssh.key.unusable")
        #expect(server.log.count(of: "Connection from") == 0)
    }

    @Test func `a locked or absent agent is said to be so, without a connection`() async throws {
        let server = try await LocalSSHD()
        let agent = try await PrivateAgent()
        try await agent.add(server.identityFile)
        try await agent.lock()
        let none = "/nonexistent/default"
        try server.writeConfig(identityFiles: ["~/.ssh/id_ed25519"], agent: agent.socket)
        let factory = LinkFixture.factory(config: server.configFile)
        #expect(await factory.failure(of: server.record) == .agentHasNoKeys(path: agent.socket))
        try await agent.unlock()
        #expect(await factory.failure(of: server.record) == nil)
        try server.writeConfig(identityFiles: ["~/.ssh/id_ed25519"], agent: none)
        #expect(await factory.failure(of: server.record)?.code == "ssh.agent.unavailable")
        try await server.log.until("Connection from")
        #expect(server.log.count(of: "Connection from") == 1)
    }

    @Test func `a second factor is told from a wrong key`() async throws {
        var options = LocalSSHD.Options()
        options.configuration = [
            "AuthenticationMethods publickey,password", "PasswordAuthentication yes", "PermitRootLogin yes",
        ]
        let server = try await LocalSSHD(options)
        let error = await LinkFixture.factory(config: server.configFile).failure(of: server.record)
        #expect(error == .secondFactorWanted(user: server.user, methods: "password"))
        try await server.log.until("Connection from")
        #expect(server.log.count(of: "Connection from") == 1)
    }
}
