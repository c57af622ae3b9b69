import Glibc
import HostsAPI
import HostsModel
import HostsTestSupport
import Testing

/// The real client over a real socket.
@Suite(.ownThread) struct CurlTransportTests {
    private func transport(_ server: ScriptedServer, _ limits: ClientLimits = ClientLimits()) throws
        -> CurlTransport
    {
        try CurlTransport(socket: server.path, userAgent: "hostsctl/test", limits: limits)
    }

    private func answer(
        _ replies: [ScriptedServer.Reply], limits: ClientLimits = ClientLimits(),
        within timeout: Duration = .seconds(20)
    ) throws -> Result<DaemonAnswer, ClientError> {
        let server = try ScriptedServer(replies)
        defer { server.stop() }
        let transport = try transport(server, limits)
        return Result { () throws(ClientError) in try transport.answer(to: .hosts, within: timeout) }
    }

    @Test func `a call gives status and body, and says who asks for what`() throws {
        let server = try ScriptedServer([
            .send(HTTPText.whole("{}"), piece: 1),
            .send(HTTPText.whole("[1]", status: "409 Conflict"), piece: 7),
        ])
        defer { server.stop() }
        let transport = try transport(server)
        #expect(
            try transport.answer(to: .hosts, within: .seconds(20))
                == DaemonAnswer(status: 200, body: Array("{}".utf8)))
        let second = try transport.answer(to: .act(.probe, on: "a b/ü"), within: .seconds(20))
        #expect(second == DaemonAnswer(status: 409, body: Array("[1]".utf8)))
        // Both came over one connection: the script has one act.
        #expect(server.requests.count == 2)
        #expect(
            server.requests[0].hasPrefix(
                "GET /v1/hosts HTTP/1.1\r\nHost: localhost\r\nUser-Agent: hostsctl/test\r\nAccept: application/json\r\n"
            ))
        #expect(server.requests[1].hasPrefix("POST /v1/hosts/a%20b%2F%C3%BC/probe HTTP/1.1\r\n"))
        #expect(server.requests[1].contains("Content-Length: 0\r\n"))
    }

    @Test func `a body is sent whole, and the next request has none of it`() throws {
        let server = try ScriptedServer([
            .send(HTTPText.whole("{}"), piece: 100), .send(HTTPText.whole("{}"), piece: 100),
        ])
        defer { server.stop() }
        let transport = try transport(server)
        let body = SecretBytes(copying: String(repeating: "x", count: 20_000).utf8)
        _ = try transport.answer(to: .unlock("devbox", body), within: .seconds(20))
        _ = try transport.answer(to: .act(.cancel, on: "devbox"), within: .seconds(20))
        #expect(server.requests[0].hasPrefix("POST /v1/hosts/devbox/unlock HTTP/1.1\r\n"))
        #expect(server.requests[0].contains("Content-Length: 20000\r\n"))
        #expect(server.requests[0].contains("Content-Type: application/json\r\n"))
        #expect(server.requests[0].hasSuffix("\r\n\r\n" + String(repeating: "x", count: 20_000)))
        #expect(server.requests[1].hasPrefix("POST /v1/hosts/devbox/cancel HTTP/1.1\r\n"))
        #expect(server.requests[1].contains("Content-Length: 0\r\n"))
    }

    @Test func `each request has its own method, whatever came before`() throws {
        let requests = [
            APIRequest.remove("a"), .hosts, .set("a", ["label": .text("x")]), .act(.probe, on: "a"),
        ]
        let server = try ScriptedServer(requests.map { _ in .send(HTTPText.whole("{}"), piece: 100) })
        defer { server.stop() }
        let transport = try transport(server)
        for request in requests { _ = try transport.answer(to: request, within: .seconds(20)) }
        let lines = server.requests.map { String($0.prefix { $0 != "\r\n" }) }
        #expect(
            lines == [
                "DELETE /v1/hosts/a HTTP/1.1", "GET /v1/hosts HTTP/1.1", "PATCH /v1/hosts/a HTTP/1.1",
                "POST /v1/hosts/a/probe HTTP/1.1",
            ])
        #expect(server.requests[2].hasSuffix("\r\n\r\n{\"label\":\"x\"}"))
    }

    @Test func `garbage, silence and half an answer are told apart`() throws {
        if case .failure(.badAnswer) = try answer([.sendAndClose(Array("SSH-2.0-OpenSSH_9.2\r\n".utf8))]) {
        } else {
            Issue.record("garbage")
        }
        #expect(
            try answer([.sendAndHang([])], within: .milliseconds(100))
                == .failure(.timedOut(after: .milliseconds(100))))
        if case .failure(.connectionLost) = try answer([.sendAndClose([])]) {
        } else {
            Issue.record("nothing")
        }
        let cut = HTTPText.whole("0123456789").dropLast(3)
        if case .failure(.connectionLost) = try answer([.sendAndClose(Array(cut))]) {
        } else {
            Issue.record("half")
        }
    }

    @Test func `an answer is bounded`() throws {
        let limits = ClientLimits(response: .bytes(64))
        let good = String(repeating: "x", count: 64)
        #expect(try answer([.send(HTTPText.whole(good), piece: 9)], limits: limits).get().body.count == 64)
        #expect(
            try answer([.send(HTTPText.whole(good + "x"), piece: 9)], limits: limits)
                == .failure(.tooLarge(limit: 64)))
    }

    @Test func `a socket that is not there, or where nobody listens, is a daemon that does not run`() throws {
        let server = try ScriptedServer([])
        let path = server.path
        server.stop()
        let missing = try CurlTransport(socket: path, userAgent: "x")
        #expect(throws: ClientError.notRunning(tried: [path])) {
            try missing.answer(to: .hosts, within: .seconds(20))
        }
        let dead = try CurlTransport(socket: "/dev/null", userAgent: "x")
        #expect(throws: ClientError.notRunning(tried: ["/dev/null"])) {
            try dead.answer(to: .hosts, within: .seconds(20))
        }
    }

    @Test func `a path of 107 bytes fits, one of 108 does not`() throws {
        let path = "/" + String(repeating: "a", count: 106)
        _ = try CurlTransport(socket: path, userAgent: "x")
        #expect(throws: ClientError.socketPathTooLong(path: path + "a", limit: 107)) {
            try CurlTransport(socket: path + "a", userAgent: "x")
        }
    }

    // MARK: - Streams

    private struct Followed: Equatable {
        var lines: [String] = []
        var outcome: Result<StreamOutcome, ClientError>
    }

    private func follow(
        _ reply: ScriptedServer.Reply, limits: ClientLimits = ClientLimits(), after id: String? = nil,
        deadline: Duration? = nil, keep: Int = .max
    ) throws -> Followed {
        let server = try ScriptedServer([reply])
        defer { server.stop() }
        let transport = try transport(server, limits)
        var lines: [String] = []
        let outcome = Result { () throws(ClientError) in
            try transport.stream(
                .events(host: "devbox").following, after: id,
                until: deadline.map { ContinuousClock.now.advanced(by: $0) },
                line: { line in
                    lines.append(String(decoding: line, as: UTF8.self))
                    return lines.count < keep
                })
        }
        try server.untilPlayed()
        if let id { #expect(server.requests.first?.contains("Last-Event-ID: \(id)\r\n") == true) }
        #expect(server.requests.first?.hasPrefix("GET /v1/events?host=devbox&follow=1 HTTP/1.1\r\n") == true)
        #expect(server.requests.first?.contains("Accept: application/x-ndjson\r\n") == true)
        return Followed(lines: lines, outcome: outcome)
    }

    private static let lines = [#"{"id":"1"}"#, #"{"id":"zwei 日本"}"#, #"{"id":"3"}"#]
    private static let text = lines[0] + "\n\n" + lines[1] + "\r\n" + lines[2] + "\n"

    @Test(arguments: 1..<30)
    func `a stream is the same however its chunks are cut`(size: Int) throws {
        var chunks: [[UInt8]] = []
        var rest = Array(Self.text.utf8)[...]
        while !rest.isEmpty {
            chunks.append(Array(rest.prefix(size)))
            rest = rest.dropFirst(size)
        }
        let bytes = HTTPText.stream(chunks, isFinished: true)
        let expected = Followed(lines: Self.lines, outcome: .success(.finished))
        #expect(try follow(.send(bytes, piece: 1)) == expected)
        #expect(try follow(.send(bytes, piece: bytes.count)) == expected)
    }

    @Test func `a stream that is cut at any byte gives whole lines only, and is lost`() throws {
        let whole = HTTPText.stream(Self.text, isFinished: true)
        for end in whole.indices.dropLast() where end % 3 == 0 || end > whole.count - 20 {
            let followed = try follow(.sendAndClose(Array(whole[..<end])))
            #expect(Self.lines.starts(with: followed.lines))
            switch followed.outcome {
            case .failure(.connectionLost), .failure(.badAnswer): break
            default: Issue.record("cut at \(end): \(followed.outcome)")
            }
        }
    }

    @Test func `a silent stream is given up after two heartbeats`() throws {
        let limits = ClientLimits(heartbeat: .milliseconds(60))
        let silent = HTTPText.stream(Self.text, isFinished: false)
        let followed = try follow(.sendAndHang(silent), limits: limits)
        #expect(followed.lines == Self.lines)
        #expect(followed.outcome == .failure(.heartbeatMissed(after: .milliseconds(120))))
    }

    @Test func `a heartbeat is no line`() throws {
        let beats = HTTPText.stream(Self.text + String(repeating: "\n", count: 5), isFinished: true)
        let expected = Followed(lines: Self.lines, outcome: .success(.finished))
        #expect(try follow(.send(beats, piece: 1)) == expected)
    }

    @Test func `a daemon that never answers is given up, too`() throws {
        let limits = ClientLimits(call: .milliseconds(80))
        #expect(
            try follow(.sendAndHang([]), limits: limits).outcome
                == .failure(.timedOut(after: .milliseconds(80))))
    }

    @Test func `a deadline ends a stream that lives`() async throws {
        let live = HTTPText.stream(Self.text, isFinished: false)
        let followed = try await Patience.attempt { deadline in
            try follow(.sendAndHang(live), deadline: deadline)
        } until: {
            $0.lines == Self.lines
        }
        if case .failure(.deadlinePassed) = followed.outcome {} else { Issue.record("\(followed.outcome)") }
        #expect(followed.lines == Self.lines)
    }

    @Test func `the reader can stop, and say where to go on`() throws {
        let live = HTTPText.stream(Self.text, isFinished: false)
        let expected = Followed(lines: [Self.lines[0]], outcome: .success(.stopped))
        #expect(try follow(.sendAndHang(live), after: "e-17", keep: 1) == expected)
    }

    @Test func `an error in place of a stream is its document`() throws {
        let body = #"{"schema":1,"error":{"code":"request.bad","message":"no","help":null}}"#
        let followed = try follow(.send(HTTPText.whole(body, status: "400 Bad Request"), piece: 5))
        let refusal = DaemonAnswer(status: 400, body: Array(body.utf8))
        #expect(followed == Followed(outcome: .success(.refused(refusal))))
    }

    @Test func `a line without an end is bounded`() throws {
        let limits = ClientLimits(line: .bytes(16))
        let endless = HTTPText.stream("ok\n" + String(repeating: "x", count: 17), isFinished: false)
        let followed = try follow(.sendAndHang(endless), limits: limits)
        #expect(followed == Followed(lines: ["ok"], outcome: .failure(.tooLarge(limit: 16))))
    }
}
