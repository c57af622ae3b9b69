import HostsModel
import HostsTestSupport
import Testing

@testable import HostsSSH

@Suite struct HostAccessTests {
    private func fingerprint(of server: LocalSSHD) async throws -> String {
        let line = try await Tool.run("ssh-keygen", ["-l", "-f", server.folder.path("host_key.pub")])
        return String(line.split(separator: " ")[1])
    }

    @Test func `an unknown key is shown, accepted, and then known`() async throws {
        let server = try await LocalSSHD()
        try server.folder.write("known_hosts", "other.example ssh-ed25519 AAAA")
        let factory = LinkFixture.factory(config: server.configFile)
        let offer = try await factory.hostKey(of: server.record)
        let fingerprint = try await fingerprint(of: server)
        #expect(
            offer
                == HostKeyOffer(
                    host: server.knownHostsName(), type: "ssh-ed25519", fingerprint: fingerprint,
                    verdict: .unknown, file: server.knownHostsFile))
        #expect(server.log.count(of: "Accepted") == 0)
        let wrong = await #expect(throws: HostAccessError.self) {
            try await factory.trust(server.record, fingerprint: "SHA256:abc")
        }
        #expect(wrong == .otherKey(offer))
        #expect(try await factory.trust(server.record, fingerprint: fingerprint) == offer)
        // The line that had no end keeps to itself.
        #expect(try server.folder.read("known_hosts").hasPrefix("other.example ssh-ed25519 AAAA\n"))
        #expect(await factory.failure(of: server.record) == nil)
        #expect(try await factory.hostKey(of: server.record).verdict == .known)
    }

    @Test func `a name is hashed where ssh would hash it, and ssh-keygen finds it`() async throws {
        let server = try await LocalSSHD()
        try server.folder.remove("known_hosts")
        try server.writeConfig(lines: ["HashKnownHosts yes"])
        let factory = LinkFixture.factory(config: server.configFile)
        _ = try await factory.trust(server.record, fingerprint: try await fingerprint(of: server))
        #expect(try server.folder.read("known_hosts").hasPrefix("|1|"))
        #expect(try server.folder.mode(of: "known_hosts") == 0o600)
        let found = try await Tool.run(
            "ssh-keygen", ["-F", server.knownHostsName(), "-f", server.knownHostsFile])
        #expect(found.contains("found: line 1"))
        #expect(await factory.failure(of: server.record) == nil)
    }

    @Test func `a changed or revoked key is never added`() async throws {
        let server = try await LocalSSHD()
        let other = try await LocalSSHD()
        let factory = LinkFixture.factory(config: server.configFile)
        let fingerprint = try await fingerprint(of: server)
        for line in [
            "\(server.knownHostsName()) \(try other.hostKey())\n", "@revoked * \(try server.hostKey())\n",
        ] {
            try server.folder.write("known_hosts", line)
            let error = await #expect(throws: HostAccessError.self) {
                try await factory.trust(server.record, fingerprint: fingerprint)
            }
            guard case .refused = error else {
                Issue.record("\(String(describing: error))")
                continue
            }
            #expect(try server.folder.read("known_hosts") == line)
        }
    }

    @Test(arguments: ["accept-new", "no"])
    func `a new key is taken where ssh_config says so`(value: String) async throws {
        let server = try await LocalSSHD()
        try server.folder.write("known_hosts", "")
        try server.writeConfig(lines: ["StrictHostKeyChecking \(value)"])
        let factory = LinkFixture.factory(config: server.configFile)
        #expect(await factory.failure(of: server.record) == nil)
        #expect(try server.folder.read("known_hosts").contains(try server.hostKey()))
    }

    @Test(arguments: [("accept-new", false), ("no", true), ("ask", false), ("yes", false)])
    func `a changed key is let through only where ssh lets it`(value: String, isOnline: Bool) async throws {
        let server = try await LocalSSHD()
        let other = try await LocalSSHD()
        let line = "\(server.knownHostsName()) \(try other.hostKey())\n"
        try server.folder.write("known_hosts", line)
        try server.writeConfig(lines: ["StrictHostKeyChecking \(value)"])
        let error = await LinkFixture.factory(config: server.configFile).failure(of: server.record)
        #expect(isOnline ? error == nil : error?.code == "ssh.hostkey.changed")
        #expect(try server.folder.read("known_hosts") == line)
    }

    @Test func `many writers lose nothing, and a link stays a link`() async throws {
        let folder = try TemporaryFolder()
        try folder.write("real", "first line without an end")
        try await Tool.run("ln", ["-s", folder.path("real"), folder.path("known_hosts")])
        try await Tool.makeKey(folder.path("key"))
        let blob = try #require(
            Base64.decode(Array(try folder.read("key.pub").split(separator: " ")[1].utf8)[...]))
        let key = try #require(PublicKey(blob: blob))
        let failures = await withTaskGroup(of: Bool.self) { group in
            for index in 0..<50 {
                group.addTask {
                    let writer = KnownHostsWriter(name: "host\(index)", key: key, isHashed: false)
                    do {
                        try writer.append(to: folder.path("known_hosts"))
                        return false
                    } catch {
                        return true
                    }
                }
            }
            return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(failures == 0)
        let lines = try folder.read("real").split(separator: "\n")
        #expect(lines.count == 51)
        #expect((0..<50).allSatisfy { index in lines.contains { $0.hasPrefix("host\(index) ") } })
        #expect(try folder.names(in: "") == ["key", "key.pub", "known_hosts", "real"])
    }

    @Test func `a key is shown and accepted where only the ssh program can talk to the server`() async throws
    {
        var options = LocalSSHD.Options()
        options.configuration = ["MACs umac-128-etm@openssh.com"]
        let server = try await LocalSSHD(options)
        try server.folder.write("known_hosts", "")
        let factory = LinkFixture.factory(config: server.configFile)
        #expect(await factory.failure(of: server.record)?.code == "ssh.hostkey.unknown")
        let offer = try await factory.hostKey(of: server.record)
        #expect(offer.fingerprint == (try await fingerprint(of: server)))
        #expect(offer.verdict == .unknown)
        #expect(server.log.count(of: "Accepted") == 0)
        _ = try await factory.trust(server.record, fingerprint: offer.fingerprint)
        #expect(await factory.failure(of: server.record) == nil)
    }

    @Test func `the jump host whose key is unknown is the one that is asked about`() async throws {
        var options = LocalSSHD.Options()
        options.name = "outer"
        let outer = try await LocalSSHD(options)
        let inner = try await LocalSSHD()
        try inner.writeConfig(lines: ["ProxyJump outer"])
        let config = try inner.folder.write(
            "both", try outer.folder.read("ssh_config") + inner.folder.read("ssh_config"))
        try outer.folder.write("known_hosts", "")
        let factory = LinkFixture.factory(config: config)
        let offer = try await factory.hostKey(of: inner.record)
        #expect(offer.host == outer.knownHostsName())
        _ = try await factory.trust(inner.record, fingerprint: offer.fingerprint)
        #expect(try await factory.hostKey(of: inner.record).host == inner.knownHostsName())
        #expect(await factory.failure(of: inner.record) == nil)
    }
}
