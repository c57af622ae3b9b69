import CSSH
import HostsModel
import HostsTestSupport
import Testing

@testable import HostsSSH

struct PrivateKeyTests {
    struct Kind: Sendable, CustomTestStringConvertible {
        let arguments: [String]
        var testDescription: String { arguments.joined(separator: " ") }
    }

    static let kinds = [
        Kind(arguments: ["-t", "ed25519"]), Kind(arguments: ["-t", "ecdsa", "-b", "256"]),
        Kind(arguments: ["-t", "ecdsa", "-b", "384"]), Kind(arguments: ["-t", "ecdsa", "-b", "521"]),
        Kind(arguments: ["-t", "rsa", "-b", "2048"]), Kind(arguments: ["-t", "ecdsa", "-m", "PEM"]),
        Kind(arguments: ["-t", "ecdsa", "-b", "521", "-m", "PKCS8"]),
        Kind(arguments: ["-t", "ecdsa", "-b", "384", "-m", "PEM"]),
        Kind(arguments: ["-t", "ecdsa", "-b", "256", "-m", "PKCS8"]),
        Kind(arguments: ["-t", "rsa", "-m", "PEM"]), Kind(arguments: ["-t", "rsa", "-m", "PKCS8"]),
    ]

    @Test(arguments: kinds)
    func `the public part is what ssh-keygen says`(kind: Kind) async throws {
        let folder = try TemporaryFolder()
        let path = folder.path("key")
        try await Tool.run("ssh-keygen", ["-q", "-N", "", "-f", path] + kind.arguments)
        guard case .usable(_, let key) = KeyFile.read(path) else {
            Issue.record("not usable: \(KeyFile.read(path))")
            return
        }
        let line = try await Tool.run("ssh-keygen", ["-l", "-f", path + ".pub"])
        #expect(line.contains(key.fingerprint))
    }

    @Test func `every prefix of a key file is refused without a trap`() async throws {
        let folder = try TemporaryFolder()
        for type in ["ed25519", "ecdsa", "rsa"] {
            let path = folder.path(type)
            try await Tool.makeKey(path, type: type)
            let text = Array(try folder.read(type).utf8)
            for count in 0..<(text.count - 1) {
                var key: OpaquePointer?
                let status = hosts_key_parse(text, count, &key)
                #expect(status != HOSTS_KEY_OK)
                hosts_key_free(key)
            }
        }
    }

    @Test(arguments: 0..<100)
    func `a damaged key is refused or usable, and never a trap`(seed: Int) async throws {
        var generator = SeededGenerator(seed: UInt64(seed))
        let lines = Self.ed25519.split(separator: "\n")
        var body = Array(lines.dropFirst().dropLast().joined().utf8)
        for _ in 0..<3 {
            body[Int.random(in: 0..<body.count, using: &generator)] = UInt8.random(
                in: 0x41...0x5a, using: &generator)
        }
        let text = Array("\(lines[0])\n".utf8) + body + Array("\n\(lines[lines.count - 1])\n".utf8)
        var key: OpaquePointer?
        _ = hosts_key_parse(text, text.count, &key)
        hosts_key_free(key)
    }

    /// A key that was made for this test and opens nothing.
    static let ed25519 = """
        -----BEGIN OPENSSH PRIVATE KEY-----
        b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAMwAAAAtzc2gtZW
        QyNTUxOQAAACCpVpUijLEZBT1UdYGEaM+BFtTemtxc5pE4TSPa3L5QBwAAAIi4FbuPuBW7
        jwAAAAtzc2gtZWQyNTUxOQAAACCpVpUijLEZBT1UdYGEaM+BFtTemtxc5pE4TSPa3L5QBw
        AAAECuRHziVWoYkIwKu11/h5mhuHfUdURpokcCth2/1FMmYKlWlSKMsRkFPVR1gYRoz4EW
        1N6a3FzmkThNI9rcvlAHAAAAAXgBAgME
        -----END OPENSSH PRIVATE KEY-----
        """

    @Test func `what is no key is said to be none`() throws {
        let folder = try TemporaryFolder()
        func detail(_ text: String, mode: UInt32 = 0o600) throws -> String? {
            guard case .unusable(let detail) = KeyFile.read(try folder.write("key", text, mode: mode)) else {
                return nil
            }
            return detail
        }
        #expect(try detail("") == "it is no private key that hostsd can read")
        #expect(try detail("-----BEGIN OPENSSH PRIVATE KEY-----\n-----END OPENSSH PRIVATE KEY-----\n") != nil)
        #expect(try detail(Self.ed25519, mode: 0o644) == "others can read it; chmod 600 it")
        guard case .unusable = KeyFile.read(folder.path), case .missing = KeyFile.read(folder.path("none"))
        else {
            Issue.record("a folder is no key, and nothing is nothing")
            return
        }
    }
}

struct CredentialsTests {
    private let user = "dev"

    private func key(_ number: UInt8) throws -> PublicKey {
        var writer = SSHWriter()
        writer.string(Array("ssh-ed25519".utf8))
        writer.string([UInt8](repeating: number, count: 32))
        return try #require(PublicKey(blob: writer.bytes))
    }

    private func identity(_ path: String, explicit: Bool = true) -> Destination.Identity {
        Destination.Identity(path: path, isExplicit: explicit, problem: nil)
    }

    private func agent(_ keys: PublicKey...) -> Credentials.Agent {
        .identities(keys.map { AgentIdentity(key: $0, comment: "c") }, path: "/agent")
    }

    @Test func `the agent's keys that files name come first in the agent's order, then its others`() throws {
        let keys = try (0..<4).map { try key(UInt8($0)) }
        let files = [(identity("/a"), KeyFile.publicOnly(keys[3])), (identity("/b"), .encrypted(keys[1]))]
        let all = Credentials(
            files: files, agent: agent(keys[0], keys[1], keys[2], keys[3]), isLimited: false)
        #expect(all.candidates.map(\.key) == [keys[1], keys[3], keys[0], keys[2]])
        let limited = Credentials(
            files: files, agent: agent(keys[0], keys[1], keys[2], keys[3]), isLimited: true)
        #expect(limited.candidates.map(\.key) == [keys[1], keys[3]])
        #expect(limited.candidates.map(\.label) == ["/b (agent)", "/a (agent)"])
    }

    @Test func `the order is that of the ssh program`() async throws {
        let server = try await LocalSSHD()
        let agent = try await PrivateAgent()
        var paths: [String] = []
        for name in ["a", "b", "c", "d"] {
            paths.append(try await server.makeKey(name, isAuthorized: false))
        }
        // The agent's order is another one than that of the files; it has not all, and one that no file names.
        for index in [2, 1, 3] { try await agent.add(paths[index]) }
        try server.writeConfig(identityFiles: Array(paths[..<3]), agent: agent.socket)
        let answer = try await Tool.answer(
            "ssh", ["-v", "-F", server.configFile, "-o", "BatchMode=yes", server.options.name, "true"],
            environment: Tool.environment)
        // Its lines end in CR and LF.
        let asked = answer.errorOutput.split(whereSeparator: \.isNewline)
            .filter { $0.contains("Offering public key:") }
            .compactMap { line in line.split(separator: " ").first { $0.hasPrefix("SHA256:") } }
            .map(String.init)
        let client = AgentClient(path: agent.socket, loop: LinkFixture.loop)
        defer { client.close() }
        let credentials = Credentials(
            files: paths[..<3].map { (identity($0), KeyFile.read($0)) },
            agent: .identities(try await client.identities(until: LinkFixture.soon), path: agent.socket),
            isLimited: false)
        #expect(asked.count == 4)
        #expect(credentials.candidates.map(\.key.fingerprint) == asked)
    }

    @Test func `a key that two files hold is offered once`() async throws {
        let folder = try TemporaryFolder()
        try await Tool.makeKey(folder.path("key"))
        try folder.write("copy", try folder.read("key"))
        let files = ["key", "copy"].map { (identity(folder.path($0)), KeyFile.read(folder.path($0))) }
        let local = Credentials(files: files, agent: .absent, isLimited: false)
        #expect(local.candidates.map(\.label) == [folder.path("key")])
        let key = try #require(files[0].1.publicKey)
        let held = Credentials(files: files, agent: agent(key), isLimited: false)
        #expect(held.candidates.map(\.label) == ["\(folder.path("key")) (agent)"])
    }

    @Test func `the key file of a hardware key is for the ssh program`() throws {
        // As ssh-keygen writes it: the container of OpenSSH's PROTOCOL.key around a key of PROTOCOL.u2f.
        let type = Array("sk-ssh-ed25519@openssh.com".utf8)
        var blob = SSHWriter()
        blob.string(type)
        blob.string([UInt8](repeating: 1, count: 32))
        blob.string(Array("ssh:".utf8))
        var secret = SSHWriter()
        for _ in 0..<2 { secret.uint32(7) }
        secret.string(type)
        var container = SSHWriter()
        container.raw(Array("openssh-key-v1\0".utf8))
        for text in ["none", "none", ""] { container.string(Array(text.utf8)) }
        container.uint32(1)
        container.string(blob.bytes)
        container.string(secret.bytes)
        let folder = try TemporaryFolder()
        let text = Base64.encodeWithoutPadding(container.bytes)
        let padding = String(repeating: "=", count: (4 - text.count % 4) % 4)
        let path = try folder.write(
            "id_ed25519_sk",
            "-----BEGIN OPENSSH PRIVATE KEY-----\n\(text)\(padding)\n-----END OPENSSH PRIVATE KEY-----\n")
        let file = KeyFile.read(path)
        #expect(file.publicKey?.blob == blob.bytes)
        let alone = Credentials(files: [(identity(path), file)], agent: .absent, isLimited: false)
        #expect(alone.opensshReason?.contains(path) == true)
        #expect(alone.nothingToOffer.code == "ssh.key.unusable")
        let both = Credentials(
            files: [(identity(path), file)], agent: agent(try key(1)), isLimited: false)
        #expect(both.opensshReason == nil)
        #expect(both.remainingForOpenSSH?.contains(path) == true)
    }

    @Test func `what is over the limit is named as not tried`() throws {
        let keys = try (0..<8).map { try key(UInt8($0)) }
        let credentials = Credentials(
            files: [], agent: .identities(keys.map { AgentIdentity(key: $0, comment: "c") }, path: "/a"),
            isLimited: false)
        #expect(credentials.candidates.count == 6)
        guard case .tooManyKeys(_, let tried) = credentials.refusal(user: user, tried: []) else {
            Issue.record("a refusal")
            return
        }
        #expect(tried.count == 2)
    }

    @Test func `where there is nothing to offer, the likeliest reason is given`() throws {
        let missing = (identity("/m"), KeyFile.missing)
        let usual = (identity("~/.ssh/id_ed25519", explicit: false), KeyFile.missing)
        let locked = (identity("/l", explicit: false), KeyFile.encrypted(nil))
        func reason(_ files: [(Destination.Identity, KeyFile)], _ agent: Credentials.Agent) -> LinkError {
            Credentials(files: files, agent: agent, isLimited: false).nothingToOffer
        }
        #expect(reason([usual], .absent) == .keyMissing(path: "~/.ssh/id_ed25519"))
        #expect(reason([usual], agent()) == .agentHasNoKeys(path: "/agent"))
        #expect(
            reason([usual], .failed(path: "/a", detail: "d")) == .agentUnavailable(path: "/a", detail: "d"))
        #expect(reason([missing], agent()) == .keyMissing(path: "/m"))
        #expect(reason([missing, locked], agent()) == .keyNeedsPassphrase(path: "/l"))
        #expect(reason([], .absent) == .keyMissing(path: "~/.ssh/id_ed25519"))
    }

    @Test func `after a refusal a key that was named but could not be offered matters more than others`()
        throws
    {
        let other = try key(1)
        let files = [(identity("/m"), KeyFile.missing)]
        let credentials = Credentials(files: files, agent: agent(other), isLimited: false)
        #expect(credentials.refusal(user: user, tried: ["c (agent)"]) == .keyMissing(path: "/m"))
        let both = Credentials(
            files: files + [(identity("/k"), .publicOnly(other))], agent: agent(other), isLimited: false)
        #expect(both.refusal(user: user, tried: ["/k"]) == .authenticationRefused(user: user, tried: ["/k"]))
    }

    @Test func `keys that libssh2 cannot carry are not offered`() throws {
        var writer = SSHWriter()
        writer.string(Array("sk-ssh-ed25519@openssh.com".utf8))
        let fido = try #require(PublicKey(blob: writer.bytes))
        #expect(Credentials(files: [], agent: agent(fido), isLimited: false).candidates.isEmpty)
    }

    @Test func `an RSA blob is renamed without a change to its numbers`() throws {
        var writer = SSHWriter()
        writer.string(Array("ssh-rsa".utf8))
        writer.string([1, 0, 1])
        writer.string([0, 0xff, 7])
        let key = try #require(PublicKey(blob: writer.bytes))
        var reader = SSHReader(try #require(key.renamedForSHA2))
        #expect(reader.text() == "rsa-sha2-512")
        #expect(reader.string() == [1, 0, 1])
        #expect(reader.string() == [0, 0xff, 7])
        #expect(reader.isAtEnd)
    }
}
