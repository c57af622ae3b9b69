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
