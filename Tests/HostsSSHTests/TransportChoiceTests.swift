import HostsModel
import HostsTestSupport
import Testing

@testable import HostsSSH

@Suite struct TransportChoiceTests {
    @Test(
        arguments: [
            (.noCommonAlgorithm(kind: "MAC", offered: "x"), true), (.needsOpenSSH(detail: "d"), true),
            (.jumpHost(name: "b", .needsOpenSSH(detail: "d")), true),
            (.jumpHost(name: "b", .connectionRefused(address: "a")), false),
            (.authenticationRefused(user: "u", tried: []), false), (.connectionRefused(address: "a"), false),
            (.hostKeyUnknown(host: "h", fingerprint: "f"), false),
            (.hostKeyChanged(host: "h", expected: "a", got: "b", file: "f"), false),
            (.keyNeedsPassphrase(path: "p"), false), (.rateLimited(detail: "d"), false), (.cancelled, false),
        ] as [(LinkError, Bool)])
    func `the ssh program is tried where it can do more`(error: LinkError, isTried: Bool) {
        #expect((TransportChoice().reason(for: error) != nil) == isTried)
        #expect(TransportChoice.isLasting(error) == isTried)
    }

    @Test func `a connection to share, or a ticket, is worth an attempt after a refusal`() {
        let refusal = LinkError.secondFactorWanted(user: "u", methods: "password")
        #expect(
            TransportChoice(hasSharedConnection: true).reason(for: refusal)?.contains("ControlPath") == true)
        #expect(TransportChoice(hasTicket: true).reason(for: refusal)?.contains("Kerberos") == true)
        #expect(!TransportChoice.isLasting(refusal))
        let changed = LinkError.hostKeyChanged(host: "h", expected: "a", got: "b", file: "f")
        #expect(TransportChoice(hasSharedConnection: true, hasTicket: true).reason(for: changed) == nil)
    }

    @Test func `a host with a user certificate is reached by the ssh program, and says why`() async throws {
        let server = try await LocalSSHD()
        let authority = server.folder.path("ca")
        try await Tool.makeKey(authority)
        let key = try await server.makeKey("certified", isAuthorized: false)
        try await Tool.run(
            "ssh-keygen", ["-q", "-s", authority, "-I", "test", "-n", server.user, key + ".pub"])
        try server.folder.write(
            "authorized_keys", "cert-authority \(try server.folder.read("ca.pub"))")
        try server.writeConfig(identityFiles: [key])
        let factory = LinkFixture.factory(config: server.configFile)
        let link = try await factory.connect(to: server.record, token: 1)
        defer { link.close(.daemonStopping) }
        #expect(link.summary.kind == .openssh)
        #expect(link.summary.reason?.contains("certificate") == true)
        #expect(try await link.ask("say", "x").text == "x\n")
        #expect(server.log.count(of: "Connection from") == 1)
        var record = server.record
        record.transport = .libssh2
        #expect(await factory.failure(of: record)?.code == "ssh.auth.refused")
    }
}
