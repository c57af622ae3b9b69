import Glibc
import HostsAPI
import HostsModel
import HostsTestSupport
import Testing

/// The real program, the real client and a real socket.
@Suite(.ownThread) struct ProcessTests {
    private func documents() throws -> [ScriptedServer.Reply] {
        [
            .send(HTTPText.whole(try FakeDaemon.line(Documents.hosts)), piece: 100),
            .send(HTTPText.whole(try FakeDaemon.line(Documents.sessions)), piece: 100),
        ]
    }

    @Test func `list shows the fleet`() throws {
        let server = try ScriptedServer(try documents())
        defer { server.stop() }
        let result = try ChildProcess(["list", "--socket", server.path]).finish()
        #expect(result.error == "")
        #expect(result.ending == .exit(0))
        // The C locale of this child must not spoil the columns.
        #expect(result.output.contains("● busy, stalled          claude  devbox  日本語:0.0           "))
        #expect(result.output.hasSuffix("\n1 of 4 hosts online, 2 need you, 1 disabled\n"))
    }

    @Test func `list as JSON is what the daemon sent, byte for byte`() throws {
        let body = #"{"hosts": [], "later" : 1.50}"#
        let server = try ScriptedServer([.send(HTTPText.whole(body), piece: 3)])
        defer { server.stop() }
        let result = try ChildProcess(["--json", "--socket=" + server.path]).finish()
        #expect(result.output == body + "\n")
        #expect(result.ending == .exit(0))
    }

    private func following() throws -> ScriptedServer {
        let event = try FakeDaemon.line(Documents.event("1", "turn.ended", "done", ago: 1))
        return try ScriptedServer(
            [.send(HTTPText.status, piece: 1000)],
            [.sendAndHang(HTTPText.stream(event + "\n", isFinished: false))])
    }

    @Test func `Ctrl-C ends a stream with 130, quietly`() throws {
        let server = try following()
        defer { server.stop() }
        let child = try ChildProcess(["events", "-f", "--socket", server.path])
        #expect(child.firstLine().hasSuffix("turn.ended        done"))
        kill(child.pid, SIGINT)
        let result = child.finish()
        #expect(result.ending == .exit(130))
        #expect(result.error == "")
    }

    @Test func `a reader that goes away ends a stream by SIGPIPE, quietly`() throws {
        let server = try following()
        defer { server.stop() }
        let result = try ChildProcess(["events", "-f", "--socket", server.path], reads: false).finish()
        #expect(result.ending == .signal(SIGPIPE))
        #expect(result.error == "")
    }

    @Test func `--timeout ends a stream with 124`() async throws {
        let result = try await Patience.attempt { limit in
            let server = try following()
            defer { server.stop() }
            let seconds = (limit.seconds * 1000).rounded() / 1000
            let words = ["events", "-f", "--timeout", "\(seconds)", "--socket", server.path]
            return (limit: seconds, child: try ChildProcess(words).finish())
        } until: {
            $0.child.output.hasSuffix("done\n")
        }
        #expect(result.child.output.hasSuffix("done\n"))
        #expect(result.child.ending == .exit(124))
        let text = result.limit < 1 ? "\(result.limit)" : "\(Int(result.limit))"
        #expect(result.child.error == "hostsctl: stopped after \(text) s, as --timeout says\n")
    }

    @Test func `no daemon is 8, a wrong word is 2`() throws {
        let missing = try ChildProcess(["--socket", "/nonexistent/api.sock"]).finish()
        #expect(missing.ending == .exit(8))
        #expect(
            missing.error.hasPrefix(
                "hostsctl: hostsd is not running: nobody answers at /nonexistent/api.sock\n"))
        #expect(try ChildProcess(["lst"]).finish().ending == .exit(2))
        #expect(try ChildProcess(["help"]).finish().ending == .exit(0))
    }
}
