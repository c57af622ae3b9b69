import HostsModel
import HostsTestSupport
import Testing

@testable import HostsSSH

struct AgentClientTests {
    /// What a client learns of an agent that says `greeting` to whatever it is asked.
    private func error(
        _ greeting: [UInt8], closesAfterwards: Bool = false, limit: Duration = .seconds(120)
    ) async throws -> AgentError? {
        let folder = try TemporaryFolder()
        let server = try ScriptedServer(
            unixPath: folder.path("agent"), greeting: greeting, closesAfterwards: closesAfterwards)
        defer { server.stop() }
        let client = AgentClient(path: folder.path("agent"), loop: LinkFixture.loop)
        defer { client.close() }
        do {
            _ = try await client.identities(until: .now + limit)
            return nil
        } catch {
            return error
        }
    }

    @Test func `a real agent lists and signs, again and again on one connection`() async throws {
        let agent = try await PrivateAgent()
        let folder = try TemporaryFolder()
        let client = AgentClient(path: agent.socket, loop: LinkFixture.loop)
        defer { client.close() }
        #expect(try await client.identities(until: LinkFixture.soon).isEmpty)
        try await Tool.makeKey(folder.path("key"))
        try await agent.add(folder.path("key"))
        let identities = try await client.identities(until: LinkFixture.soon)
        let identity = try #require(identities.first)
        #expect(identity.comment == "hosts test")
        #expect(identity.key.type == "ssh-ed25519")
        let signature = try await client.sign([1, 2, 3], with: identity.key, until: LinkFixture.soon)
        #expect(signature?.count == 64)
        try await agent.lock()
        #expect(try await client.identities(until: LinkFixture.soon).isEmpty)
        #expect(try await client.sign([1], with: identity.key, until: LinkFixture.soon) == nil)
    }

    @Test func `an agent that answers nonsense is said to`() async throws {
        #expect(try await error([0, 0, 0, 1, 5]) == .malformed)
        #expect(try await error([0, 0, 0, 0]) == .malformed)
        #expect(try await error([0, 0, 0, 5, 12, 0, 0, 0, 9]) == .malformed)
        // A reply of 4 GiB is announced: refused before a byte of it is read.
        #expect(try await error([255, 255, 255, 255]) == .malformed)
        // More than it announced would be taken for the next answer.
        #expect(try await error([0, 0, 0, 1, 5, 5]) == .malformed)
    }

    @Test func `an agent that hangs up, waits, or is not there is told apart`() async throws {
        #expect(try await error([0, 0, 0, 9], closesAfterwards: true)?.isUnreachable == true)
        #expect(try await error([], limit: .milliseconds(50)) == .deadline)
        let absent = AgentClient(path: "/nonexistent/agent", loop: LinkFixture.loop)
        let missing = await #expect(throws: AgentError.self) {
            try await absent.identities(until: LinkFixture.soon)
        }
        #expect(missing == .unreachable(detail: "No such file or directory"))
        let long = AgentClient(path: "/" + String(repeating: "a", count: 108), loop: LinkFixture.loop)
        let tooLong = await #expect(throws: AgentError.self) {
            try await long.identities(until: LinkFixture.soon)
        }
        #expect(tooLong?.isUnreachable == true)
    }

    @Test func `a question is given up when its task is cancelled`() async throws {
        let folder = try TemporaryFolder()
        let server = try ScriptedServer(unixPath: folder.path("agent"), greeting: [])
        defer { server.stop() }
        let client = AgentClient(path: folder.path("agent"), loop: LinkFixture.loop)
        defer { client.close() }
        let task = Task { try await client.identities(until: LinkFixture.soon) }
        task.cancel()
        let error = await #expect(throws: AgentError.self) { try await task.value }
        #expect(error == .cancelled)
    }

    @Test func `an agent whose answers are cut at any byte is unreachable, and no harm`() async throws {
        let folder = try TemporaryFolder()
        let real = try await PrivateAgent()
        let stub = try StubAgent()
        defer { stub.stop() }
        try await Tool.makeKey(folder.path("key"))
        try await real.add(folder.path("key"))
        let client = AgentClient(path: stub.socket, loop: LinkFixture.loop)
        defer { client.close() }
        stub.conduct = .asks(real.socket)
        let identity = try #require(try await client.identities(until: LinkFixture.soon).first)
        // Length, type, count; blob of 51, comment of 10. Then: length, type, signature of 83.
        for count in 0..<(4 + 1 + 4 + 4 + 51 + 4 + 10) {
            stub.conduct = .cuts(real.socket, after: count)
            let error = await #expect(throws: AgentError.self) {
                try await client.identities(until: LinkFixture.soon)
            }
            #expect(error?.isUnreachable == true)
        }
        for count in 0..<(4 + 1 + 4 + 83) {
            stub.conduct = .cuts(real.socket, after: count)
            let error = await #expect(throws: AgentError.self) {
                try await client.sign([1], with: identity.key, until: LinkFixture.soon)
            }
            #expect(error?.isUnreachable == true)
        }
        // The same client goes on.
        stub.conduct = .asks(real.socket)
        #expect(try await client.sign([1], with: identity.key, until: LinkFixture.soon)?.count == 64)
    }

    @Test func `refusal, silence, nonsense and a locked agent are told apart`() async throws {
        let folder = try TemporaryFolder()
        let names = (0..<8).map { folder.path("key\($0)") }
        for name in names { try await Tool.makeKey(name) }
        let stub = try StubAgent(publicKeys: names.map { $0 + ".pub" })
        defer { stub.stop() }
        let client = AgentClient(path: stub.socket, loop: LinkFixture.loop)
        defer { client.close() }
        let identities = try await client.identities(until: LinkFixture.soon)
        #expect(identities.map(\.comment) == names.map { $0 + ".pub" })
        let key = identities[7].key
        func failure(_ limit: Duration = .seconds(120)) async -> AgentError? {
            await #expect(throws: AgentError.self) {
                try await client.sign([1], with: key, until: .now + limit)
            }
        }
        #expect(await failure(.milliseconds(50)) == .deadline)
        stub.conduct = .refusesToSign
        #expect(try await client.sign([1], with: key, until: LinkFixture.soon) == nil)
        stub.conduct = .isLocked
        #expect(try await client.identities(until: LinkFixture.soon).isEmpty)
        #expect(try await client.sign([1], with: key, until: LinkFixture.soon) == nil)
        // An answer of a list, of nothing, and of a signature that is cut within.
        for body: [UInt8] in [
            [12, 0, 0, 0, 0], [14], [14, 0, 0, 0, 4, 0, 0, 0, 9], [14, 255, 255, 255, 255],
        ] {
            stub.conduct = .says([0, 0, 0, UInt8(body.count)] + body)
            #expect(await failure() == .malformed)
        }
        stub.conduct = .says([255, 255, 255, 255])
        #expect(await failure() == .malformed)
    }

    @Test func `an answer that comes late is read`() async throws {
        let stub = try StubAgent()
        defer { stub.stop() }
        stub.conduct = .isLocked
        stub.hold()
        let client = AgentClient(path: stub.socket, loop: LinkFixture.loop)
        defer { client.close() }
        async let identities = client.identities(until: LinkFixture.soon)
        stub.release()
        #expect(try await identities.isEmpty)
    }

    @Test func `an agent that lists more keys than anybody has is not believed`() {
        func reply(_ count: UInt32) -> [UInt8] {
            var blob = SSHWriter()
            blob.string(Array("ssh-ed25519".utf8))
            var writer = SSHWriter()
            writer.byte(12)
            writer.uint32(count)
            for _ in 0..<count {
                writer.string(blob.bytes)
                writer.string([])
            }
            return writer.bytes
        }
        #expect(AgentMessages.identities(reply(2048))?.count == 2048)
        #expect(AgentMessages.identities(reply(2049)) == nil)
    }

    /// The data of a login by an RSA key (RFC 4252 section 7).
    private func login(_ algorithm: String) -> [UInt8] {
        var writer = SSHWriter()
        writer.string([1, 2, 3])
        writer.byte(50)
        for text in ["user", "ssh-connection", "publickey"] { writer.string(Array(text.utf8)) }
        writer.byte(1)
        writer.string(Array(algorithm.utf8))
        return writer.bytes
    }

    @Test(arguments: [("rsa-sha2-512", UInt8(4)), ("rsa-sha2-256", 2), ("ssh-rsa", 4)])
    func `an RSA key signs by SHA-2 as the data say, and by nothing else`(name: String, flag: UInt8) throws {
        var blob = SSHWriter()
        blob.string(Array("ssh-rsa".utf8))
        let key = try #require(PublicKey(blob: blob.bytes))
        #expect(AgentMessages.signRequest(key: key, data: login(name)).last == flag)
        func reply(_ algorithm: String) -> AgentMessages.SignReply? {
            var signature = SSHWriter()
            signature.string(Array(algorithm.utf8))
            signature.string([7])
            var writer = SSHWriter()
            writer.byte(14)
            writer.string(signature.bytes)
            return AgentMessages.signature(writer.bytes, by: key, of: login(name))
        }
        #expect(reply(flag == 2 ? "rsa-sha2-256" : "rsa-sha2-512") == .signature([7]))
        // An old agent does not know the flags, and signs by SHA-1.
        #expect(reply("ssh-rsa") == .refused)
        for failure: UInt8 in [5, 30, 102] {
            #expect(AgentMessages.signature([failure], by: key, of: login(name)) == .refused)
        }
    }

    @Test func `every prefix of a list of keys is refused`() {
        var writer = SSHWriter()
        writer.byte(12)
        writer.uint32(1)
        var blob = SSHWriter()
        blob.string(Array("ssh-ed25519".utf8))
        writer.string(blob.bytes)
        writer.string(Array("comment".utf8))
        for count in 0..<writer.bytes.count {
            #expect(AgentMessages.identities(Array(writer.bytes.prefix(count))) == nil)
        }
        #expect(AgentMessages.identities(writer.bytes)?.map(\.comment) == ["comment"])
    }
}

extension AgentError {
    fileprivate var isUnreachable: Bool {
        if case .unreachable = self { true } else { false }
    }
}

struct ShellProtocolTests {
    @Test(arguments: ["", "a b", "it's", "''", "$HOME `id` \\ \" \n\t*", "-n", "ü\u{1b}[0m"])
    func `a quoted word is that word to a shell`(word: String) async throws {
        let output = try await Tool.run("sh", ["-c", "printf %s \(ShellProtocol.quoted(word))"])
        #expect(output == word)
    }

    @Test func `nonces are 128 bits and never the same`() {
        let nonces = Set((0..<1000).map { _ in ShellProtocol.makeNonce() })
        #expect(nonces.count == 1000)
        #expect(nonces.allSatisfy { $0.utf8.count == 32 })
    }

    @Test func `a NUL, which no argument can carry, is left out`() {
        #expect(ShellProtocol.quoted("a\0b") == "'ab'")
    }

    @Test func `a function that is not a name traps`() async {
        await #expect(processExitsWith: .failure) {
            _ = ShellProtocol.line(ProbeRequest(function: "x; rm"), nonce: "n")
        }
    }
}
