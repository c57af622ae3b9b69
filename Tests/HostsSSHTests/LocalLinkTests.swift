import HostsModel
import HostsTestSupport
import Testing

@testable import HostsSSH

struct LocalLinkTests {
    private func open(_ change: (inout LinkSettings) -> Void = { _ in }) async throws -> any ProbeLink {
        let id = try #require(HostID(rawValue: "here"))
        let record = HostRecord(id: id, destination: "", transport: .local)
        return try await LinkFixture.factory(config: nil, change).connect(to: record, token: 3)
    }

    @Test func `a local shell answers like a remote one`() async throws {
        let link = try await open()
        defer { link.close(.daemonStopping) }
        #expect(link.token == 3)
        #expect(link.summary.kind == .local)
        #expect(try await link.ask("say", "it's", "me").text == "it's\nme\n")
        #expect(try await link.ask("pid").text == link.ask("pid").text)
        #expect(try await link.ask("fail").status == 7)
        #expect(try await link.ask("slurp").text == "end")
        #expect(try await link.ask("many", "8000").text.utf8.count > 128 * 1024)
    }

    @Test func `the environment is the one of the settings`() async throws {
        let program = ShellProgram(definitions: "show() { printf %s \"$WORD\"; }")
        let factory = LinkFixture.factory(config: nil, program: program) { $0.environment["WORD"] = "a b" }
        let id = try #require(HostID(rawValue: "here"))
        let link = try await factory.connect(
            to: HostRecord(id: id, destination: "", transport: .local), token: 1)
        defer { link.close(.daemonStopping) }
        #expect(try await link.ask("show").text == "a b")
    }

    @Test func `a probe past its deadline closes the link and kills what it had started`() async throws {
        let link = try await open()
        let shell = try await link.ask("pid").text.dropLast()
        let error = await #expect(throws: LinkError.self) {
            try await link.probe(ProbeRequest(function: "hang"), until: .now + .milliseconds(100))
        }
        #expect(error?.code == "timeout.probe")
        #expect(await link.untilClosed() == error)
        // Reaped: its number is free, so that no such process is found.
        await untilGone(String(shell))
    }

    @Test func `the end of the shell is noticed at once`() async throws {
        let link = try await open()
        let shell = try await link.ask("pid").text.dropLast()
        try await Tool.run("kill", ["-9", String(shell)])
        #expect(await link.untilClosed().code == "link.closed")
        await untilGone(String(shell))
    }

    @Test func `too long a reply is refused`() async throws {
        let link = try await open()
        let error = await #expect(throws: LinkError.self) { try await link.ask("many", "20000") }
        #expect(error?.code == "probe.bad-reply")
    }

    private func untilGone(_ pid: String) async {
        while true {
            do { try await Tool.run("kill", ["-0", pid]) } catch { return }
        }
    }
}
