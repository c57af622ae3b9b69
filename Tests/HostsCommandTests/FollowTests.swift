import HostsAPI
import HostsCommand
import HostsModel
import Testing

/// `-f`: what is shown across losses of the daemon.
@Suite struct FollowTests {
    private func stage(_ daemon: FakeDaemon) -> Stage { Stage(daemon: daemon) }

    private func event(_ id: String) throws -> String {
        try FakeDaemon.line(Documents.event(id, "turn.ended", "event \(id)", ago: 1))
    }

    private func log(_ sequence: Int) throws -> String {
        try FakeDaemon.line(
            LogView(
                sequence: sequence, time: Documents.time(0), category: "hub", level: "info", event: "x",
                message: "line \(sequence)", fields: [:]))
    }

    @Test func `a lost stream goes on behind its last line, with one notice for each change`() throws {
        let daemon = try Documents.daemon()
        daemon.streams = [
            ([try event("1"), try event("2")], .failure(.connectionLost(detail: "reset"))),
            ([], .failure(.notRunning(tried: ["/s"]))),
            ([try event("3")], .success(.finished)),
            ([try event("4")], .failure(.heartbeatMissed(after: .seconds(30)))),
        ]
        let result = stage(daemon).run("events", "-f", "--limit", "2", "--host", "devbox")
        #expect(
            result.output == """
                2026-11-30 19:59:59  turn.ended        event 1
                2026-11-30 19:59:59  turn.ended        event 2
                2026-11-30 19:59:59  turn.ended        event 3
                2026-11-30 19:59:59  turn.ended        event 4

                """)
        #expect(daemon.lastIDs == [nil, "2", "2", "3", "4"])
        // Only the first asks for a beginning.
        #expect(
            daemon.requests.filter { $0.contains("events") }
                == ["GET /v1/events?limit=2&host=devbox&follow=1"]
                + Array(repeating: "GET /v1/events?host=devbox&follow=1", count: 4))
        #expect(
            result.error == """
                hostsctl: the connection to hostsd broke: reset; trying again
                hostsctl: hostsd is back
                hostsctl: hostsd is not running: nobody answers at /s; trying again
                hostsctl: hostsd is back
                hostsctl: hostsd ended the stream; trying again
                hostsctl: hostsd is back
                hostsctl: hostsd was silent for 30 s; trying again
                hostsctl: hostsd is back
                hostsctl: the answer cannot be understood: the script is at its end
                hint: hostsctl version shows whether hostsctl and hostsd fit together

                """)
        #expect(result.code == .failure)
    }

    @Test func `JSON lines are passed on unchanged, and notices stay out of them`() throws {
        let daemon = try Documents.daemon()
        let odd = #"{"id":"9", "later":{"x" : 1},"kind":"new.kind"}"#
        daemon.streams = [([odd], .success(.finished)), ([try event("10")], .success(.stopped))]
        let result = stage(daemon).run("events", "-f", "--json", "-q")
        #expect(result.output == odd + "\n" + (try event("10")) + "\n")
        #expect(result.error == "")
        #expect(result.code == .success)
    }

    @Test func `the numbers of the log begin anew with the daemon`() throws {
        let daemon = try Documents.daemon()
        daemon.streams = [([try log(500)], .failure(.connectionLost(detail: "x")))]
        var stage = stage(daemon)
        stage.onPause = {
            guard daemon.streams.isEmpty else { return }
            try? daemon.set("GET /v1/status", Documents.statusOfAnotherRun)
            daemon.streams = [([(try? log(1)) ?? ""], .success(.stopped))]
        }
        let result = stage.run("logs", "-f", "--category", "hub")
        #expect(result.output.contains("line 500") && result.output.contains("line 1"))
        #expect(daemon.lastIDs == [nil, "0"])
        #expect(
            daemon.requests.filter { $0.contains("logs") } == [
                "GET /v1/logs?category=hub&level=info&limit=10&follow=1",
                "GET /v1/logs?category=hub&level=info&follow=1",
            ])
    }

    @Test func `the last word of a daemon is told, and it is tried again`() throws {
        let daemon = try Documents.daemon()
        let word = try FakeDaemon.line(
            ErrorDocument(code: "stream.dropped", message: "the reader was too slow", help: nil))
        daemon.streams = [([try event("1"), word], .success(.finished)), ([], .success(.stopped))]
        let result = stage(daemon).run("events", "--follow")
        #expect(result.error == "hostsctl: the reader was too slow; trying again\nhostsctl: hostsd is back\n")
        #expect(daemon.lastIDs == [nil, "1"])
    }

    struct Ending: Sendable, CustomTestStringConvertible {
        let error: ClientError
        let code: ExitCode
        var testDescription: String { "\(error)" }
    }

    @Test(arguments: [
        Ending(error: .notRunning(tried: ["/s"]), code: .notRunning),
        Ending(error: .timedOut(after: .seconds(10)), code: .timedOut),
        Ending(error: .notPermitted(socket: "/s"), code: .notPermitted),
        Ending(error: .connectionLost(detail: "x"), code: .failure),
    ])
    func `a daemon that was never reached is not waited for`(_ c: Ending) throws {
        let daemon = try Documents.daemon()
        daemon.fail("GET /v1/status", c.error)
        let result = stage(daemon).run("logs", "-f")
        #expect(result.code == c.code)
        #expect(daemon.requests == ["GET /v1/status"])
    }

    @Test func `a stream that is refused, or is none, ends at once`() throws {
        let daemon = try Documents.daemon()
        let body = try FakeDaemon.json(APIError.badRequest("kind must be names").document)
        daemon.streams = [([], .success(.refused(DaemonAnswer(status: 400, body: body))))]
        let refused = stage(daemon).run("events", "-f")
        #expect(refused.error == "hostsctl: kind must be names\n")
        #expect(refused.code == .usage)
        daemon.streams = [(["no json"], .success(.finished))]
        #expect(stage(daemon).run("events", "-f").code == .failure)
    }

    @Test func `a reader whose disk is full is told once`() throws {
        let daemon = try Documents.daemon()
        daemon.streams = [([try event("1"), try event("2")], .success(.finished))]
        var stage = stage(daemon)
        stage.isFull = true
        let result = stage.run("events", "-f")
        #expect(result.error == "hostsctl: the output cannot be written\n")
        #expect(result.code == .failure)
    }

    @Test func `the pauses grow, and a line makes them short again`() {
        var state = FollowState()
        let first = state.ended(.streamEnded)
        #expect(first == .fail(.streamEnded))
        state.reached()
        for pause in FollowState.pauses + [.seconds(5), .seconds(5)] {
            state.reached()
            let step = state.ended(.notRunning(tried: []))
            #expect(step == .reconnect(after: pause))
        }
        state.received(id: "7")
        let again = state.ended(.heartbeatMissed(after: .seconds(30)))
        #expect(again == .reconnect(after: FollowState.pauses[0]))
        #expect(state.lastID == "7")
        let bad = state.ended(.badAnswer(detail: ""))
        #expect(bad == .fail(.badAnswer(detail: "")))
    }
}
