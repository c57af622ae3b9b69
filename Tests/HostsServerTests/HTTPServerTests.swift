import FoundationEssentials
import Glibc
import HostsAPI
import HostsLog
import HostsModel
import HostsTestSupport
import Testing

@testable import HostsServer

@Suite struct HTTPServerTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let method: String
        let target: String
        let status: Int
        let part: String
        init(_ method: String, _ target: String, _ status: Int, _ part: String) {
            (self.method, self.target, self.status, self.part) = (method, target, status, part)
        }
        var testDescription: String { "\(method) \(target) → \(status)" }
    }

    static let rows = [
        Row("GET", "/v1/status", 200, #""configurationDirectory":"/c""#),
        Row("GET", "/v1/version", 200, #"{"pid":1,"schema":1,"version":"1.0"}"#),
        Row("GET", "/v1/hosts", 200, #""name":"devbox""#),
        Row("GET", "/v1/hosts/devbox", 200, #""record":[]"#),
        Row("GET", "/v1/hosts/%64evbox", 200, #""record":[]"#),
        Row("GET", "http://localhost/v1/hosts/devbox", 200, #""record":[]"#),
        Row("POST", "/v1/hosts/gpu/enable", 200, #""changed":true"#),
        Row("POST", "/v1/hosts/gpu/disable", 200, #""changed":false"#),
        Row("POST", "/v1/hosts/devbox/probe", 200, #""message":"done""#),
        Row("POST", "/v1/hosts/devbox/resume", 200, #""message":"done""#),
        Row("POST", "/v1/hosts/devbox/cancel", 200, #""message":"done""#),
        Row("POST", "/v1/hosts/devbox/check", 200, #""passed":true"#),
        Row("POST", "/v1/hosts/devbox/trust", 200, #""added":false"#),
        Row("POST", "/v1/hosts/devbox/unlock", 400, #"the body must be {\"passphrase\":\"…\"}"#),
        Row("GET", "/v1/sessions", 200, #""id":"devbox/42-ab""#),
        Row("GET", "/v1/sessions?host=devbox", 200, #""id":"devbox/42-ab""#),
        Row("GET", "/v1/sessions?host=gpu", 200, #""sessions":[]"#),
        Row("GET", "/v1/sessions/devbox/42-ab", 200, #""agent":"claude""#),
        Row("GET", "/v1/sessions/devbox%2F42-ab", 200, #""agent":"claude""#),
        Row("GET", "/v1/events", 200, #"{"events":[],"schema":1}"#),
        Row("GET", "/v1/logs?category=api,hub&level=info", 200, #""logs":["#),
        Row("GET", "/v1/hooks", 200, #""pending":2"#),
        Row("POST", "/v1/reload", 200, #""hosts":2"#),
        Row("GET", "/healthz", 200, "ok\n"),
        Row("GET", "/metrics", 200, #"hostsd_hosts{condition="online"} 1"#),
        Row("GET", "/", 404, #""code":"request.path""#),
        Row("GET", "/v1/hosts/", 404, #""code":"request.path""#),
        Row("GET", "/v2/hosts", 404, #""message":"there is nothing at /v2/hosts""#),
        Row("GET", "/v1/hosts/DevBox", 404, #""help":"did you mean devbox?""#),
        Row("GET", "/v1/sessions/devbox/1", 404, #""code":"session.not-found""#),
        Row("GET", "/v1/sessions?host=x", 404, #""code":"host.not-found""#),
        Row("POST", "/v1/hosts/gpu/probe", 409, #""help":"hostsctl enable gpu""#),
        Row("GET", "/v1/hosts/gpu/probe", 405, #""code":"request.method""#),
        Row("DELETE", "/v1/hosts/gpu", 200, #""record":"/r""#),
        Row("DELETE", "/v1/hosts/x", 404, #""code":"host.not-found""#),
        Row("PATCH", "/v1/hosts/gpu", 400, "the body must be an object of texts, true, false, null"),
        Row("POST", "/v1/hosts", 400, "the body must be an object of texts, true, false, null"),
        Row("DELETE", "/v1/hosts", 405, "only GET, POST"),
        Row("GET", "/v1/hosts?x=1", 400, "there is no parameter x here"),
        Row("GET", "/v1/events?limit=0x", 400, "limit must be a whole number from 0 to 10000"),
        Row("GET", "/v1/events?limit=1&limit=2", 400, "the parameter limit is given twice"),
        Row("GET", "/v1/events?host=%2e%2e", 400, "host must be the name of a host"),
        Row("GET", "/v1/events?kind=needs%20you", 400, "kind must be names"),
        Row("GET", "/v1/events?follow=perhaps", 400, "follow must be 1 or 0"),
        Row("GET", "/v1/logs?category=hub,hob", 400, "category has no hob, only daemon"),
        Row("GET", "/v1/logs?level=loud", 400, "level has no loud, only trace"),
        Row("GET", "/v1/logs?after=-1", 400, "after must be a whole number"),
        Row("GET", "/v1/hosts/%zz", 400, "two hexadecimal digits"),
        Row("GET", "/v1/hosts/%ff", 400, "the path is not UTF-8"),
        Row("GET", "/v1/hosts/a%00b", 400, "control character"),
        Row("GET", "http://elsewhere/v1/hosts", 403, #""code":"request.not-permitted""#),
    ]

    @Test(arguments: rows) func `every route answers with its document`(row: Row) async throws {
        try await ServerFixture.with { server in
            let reply =
                row.method == "GET"
                ? try await server.get(row.target) : try await server.request(row.method, row.target)
            #expect(reply.status == row.status)
            #expect(reply.body.contains(row.part), "\(reply.body)")
            #expect(reply.header.contains("Hostsd-Version: 1.0"))
            if reply.status >= 400 {
                let document = try JSONDecoder().decode(ErrorDocument.self, from: Data(reply.body.utf8))
                #expect(document.schema == 1)
            }
        }
    }

    @Test(arguments: [
        (["Origin: http://localhost"], 403), (["Referer: http://localhost/"], 403),
        (["Host: localhost"], 400),
    ])
    func `what a page of a browser would send is refused`(fields: [String], status: Int) async throws {
        try await ServerFixture.with { server in
            for method in ["GET", "POST"] {
                let target = method == "GET" ? "/v1/hosts" : "/v1/reload"
                let reply = try await server.request(method, target, fields: fields)
                #expect(reply.status == status)
            }
        }
    }

    @Test(arguments: [
        ("localhost", 200), ("hostsd", 200), ("LOCALHOST:80", 200), ("example.com", 403),
        ("localhost.example.com", 403),
        ("localhost:", 403), ("", 403),
    ])
    func `only our own names are served`(host: String, status: Int) async throws {
        try await ServerFixture.with { server in
            let client = try Client(server.path)
            await client.send("GET /v1/version HTTP/1.1\r\nHost: \(host)\r\nConnection: close\r\n\r\n")
            let reply = try Reply(await client.readToEnd())
            #expect(reply.status == status)
        }
    }

    @Test func `a method that a path does not have is answered with those it has`() async throws {
        try await ServerFixture.with { server in
            let hosts = try await server.request("PUT", "/v1/hosts")
            #expect(hosts.header.contains("Allow: GET, POST, HEAD"))
            let reload = try await server.request("PUT", "/v1/reload")
            #expect(reload.header.contains("Allow: POST"))
        }
    }

    @Test func `HEAD gives the header of GET, and opens no stream`() async throws {
        try await ServerFixture.with { server in
            for target in ["/v1/version", "/v1/events?follow=1"] {
                let reply = try await server.request("HEAD", target)
                #expect(reply.status == 200)
                #expect(reply.body.isEmpty)
                #expect(reply.header.contains("Content-Type: application/json"))
            }
        }
    }

    @Test func `curl gets a document and a stream`() async throws {
        try await ServerFixture.with { server in
            let document = try await Curl.get(["http://localhost/v1/version"], server)
            #expect(document == #"{"pid":1,"schema":1,"version":"1.0"}"#)
            let action = try await Curl.get(["-X", "POST", "http://hostsd/v1/hosts/gpu/enable"], server)
            #expect(action.contains(#""changed":true"#))
            for id in ["e1", "e2"] { await server.daemon.add(.test(id)) }
            async let stream = Curl.get(["-N", "http://localhost/v1/events?follow=1&limit=9"], server)
            await server.clock.untilSleeping(for: StreamAnswer.heartbeatInterval)
            await server.daemon.endWatches()
            let lines = try await stream.split(separator: "\n")
            #expect(lines.count == 3)
            #expect(lines.last?.contains(#""code":"stream.dropped""#) == true)
        }
    }

    @Test func `one connection carries many requests`() async throws {
        try await ServerFixture.with { server in
            let client = try Client(server.path)
            await client.send(
                String(repeating: ServerFixture.head("GET", "/healthz", []), count: 100)
                    + ServerFixture.head("GET", "/healthz", ["Connection: close"]))
            let text = await client.readToEnd()
            #expect(text.ranges(of: "HTTP/1.1 200 OK").count == 101)
        }
    }

    @Test func `many clients are answered at once`() async throws {
        try await ServerFixture.with { server in
            try await withThrowingTaskGroup(of: Int.self) { group in
                for index in 0..<60 {
                    let target = index.isMultiple(of: 2) ? "/v1/hosts" : "/v1/hosts/nobody"
                    group.addTask { try await server.get(target).status }
                }
                var counts: [Int: Int] = [:]
                for try await status in group { counts[status, default: 0] += 1 }
                #expect(counts == [200: 30, 404: 30])
            }
        }
    }

    private static let fingerprint = "SHA256:" + String(repeating: "a", count: 43)

    @Test(arguments: [
        ("", 200, #""fingerprint":"SHA256:asked""#), ("{}", 200, #""added":false"#),
        (#"{"fingerprint":"\#(fingerprint)"}"#, 200, #""added":true"#),
        (#"{"fingerprint":"SHA256:short"}"#, 400, "fingerprint must be SHA256:"),
        (#"{"fingerprnt":"\#(fingerprint)"}"#, 400, "the body has no member fingerprnt"),
        (#"{"fingerprint":1}"#, 400, "the body must be {} or"), ("[]", 400, "the body must be {} or"),
        ("hello", 400, "the body must be {} or"),
    ])
    func `the body of trust is nothing, or a fingerprint`(body: String, status: Int, part: String)
        async throws
    {
        try await ServerFixture.with { server in
            let reply = try await server.request("POST", "/v1/hosts/devbox/trust", body: body)
            #expect(reply.status == status)
            #expect(reply.body.contains(part), "\(reply.body)")
        }
    }

    @Test(arguments: [
        ("POST", "/v1/hosts", #"{"name":"new","label":"New","tags":["a"],"enabled":false}"#, 200),
        ("POST", "/v1/hosts", #"{"name":"gpu"}"#, 409), ("POST", "/v1/hosts", #"{"label":"x"}"#, 400),
        ("POST", "/v1/hosts", #"{"name":true}"#, 400), ("POST", "/v1/hosts", "[]", 400),
        ("PATCH", "/v1/hosts/gpu", #"{"label":null,"ssh":"h"}"#, 200),
        ("PATCH", "/v1/hosts/gpu", #"{"label":3}"#, 400), ("PATCH", "/v1/hosts/gpu", #"{"a":{}}"#, 400),
        ("PATCH", "/v1/hosts/x", "{}", 404),
    ]) func `keys of records are read from a body`(
        method: String, target: String, body: String, status: Int
    ) async throws {
        try await ServerFixture.with { server in
            let reply = try await server.request(method, target, body: body)
            #expect(reply.status == status)
            let values = await server.daemon.values
            switch (method, status) {
            case ("POST", 200):
                #expect(values == [["label": .text("New"), "tags": .words(["a"]), "enabled": .flag(false)]])
            case ("PATCH", 200): #expect(values == [["label": .null, "ssh": .text("h")]])
            default: #expect(values == [])
            }
        }
    }

    @Test func `a passphrase reaches the daemon whole, in pieces too, and is neither logged nor repeated`()
        async throws
    {
        try await ServerFixture.with { server in
            let wrong = "hunter2-" + String(repeating: "x", count: 40_000)
            let refused = try await server.request(
                "POST", "/v1/hosts/devbox/unlock", body: #"{"passphrase":"\#(wrong)"}"#)
            #expect(refused.status == 403)
            #expect(refused.body.contains(#""code":"key.wrong-passphrase""#))
            let client = try Client(server.path)
            await client.send(
                ServerFixture.head(
                    "POST", "/v1/hosts/devbox/unlock", ["Transfer-Encoding: chunked", "Connection: close"]))
            for piece in [#"{"pass"#, #"phrase":"ri"#, #"ght"}"#] {
                await client.send(String(piece.utf8.count, radix: 16) + "\r\n" + piece + "\r\n")
            }
            await client.send("0\r\n\r\n")
            let opened = try Reply(await client.readToEnd())
            #expect(opened.status == 200)
            #expect(opened.body == #"{"host":"devbox","keys":["/k"],"schema":1}"#)
            let broken = try await server.request(
                "POST", "/v1/hosts/devbox/unlock", body: #"{"passphrase":"hunter2"#)
            let disabled = try await server.request(
                "POST", "/v1/hosts/gpu/unlock", body: #"{"passphrase":"hunter2"}"#)
            #expect([broken.status, disabled.status] == [400, 409])
            let given = await server.daemon.passphrases.map { String(decoding: $0, as: UTF8.self) }
            #expect(given == [wrong, "right"])
            #expect(![refused, broken, disabled].contains { $0.body.contains("hunter2") })
            let logged = server.daemon.center.records().map { "\($0)" }.joined()
            #expect(logged.contains("/v1/hosts/devbox/unlock"))
            #expect(!logged.contains("hunter2"))
        }
    }

    @Test func `a body up to the limit is read, and one byte more is too large`() async throws {
        try await ServerFixture.with { server in
            let whole = String(repeating: "x", count: HTTPRequest.bodyLimit.bytes)
            let read = try await server.request("POST", "/v1/hosts/devbox/trust", body: whole)
            #expect(read.body.contains("the body must be {} or"))
            let cut = try await server.request("POST", "/v1/hosts/devbox/trust", body: whole + "x")
            #expect(cut.status == 413)
            let refused = try await server.request("POST", "/v1/reload", body: whole)
            #expect(refused.status == 400)
            #expect(refused.body.contains("POST /v1/reload takes no body"))
            let tooLarge = try await server.request("POST", "/v1/reload", body: whole + "x")
            #expect(tooLarge.status == 413)
            #expect(tooLarge.body.contains(#""code":"request.too-large""#))
        }
    }

    @Test func `a body that does not tell its length is cut at the same size`() async throws {
        try await ServerFixture.with { server in
            let client = try Client(server.path)
            await client.send(
                ServerFixture.head("POST", "/v1/reload", ["Transfer-Encoding: chunked", "Connection: close"]))
            let chunk = "40000\r\n" + String(repeating: "x", count: 0x40000) + "\r\n"
            for _ in 0..<5 { await client.send(chunk) }
            await client.send("0\r\n\r\n")
            let reply = try Reply(await client.readToEnd())
            #expect(reply.status == 413)
        }
    }

    @Test func `a client that asks before it sends a large body is told before`() async throws {
        try await ServerFixture.with { server in
            let client = try Client(server.path)
            await client.send(
                ServerFixture.head(
                    "POST", "/v1/reload", ["Content-Length: 99999999", "Expect: 100-continue"]))
            let reply = try Reply(await client.readToEnd())
            #expect(reply.status == 413)
        }
    }

    struct Garbage: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let bytes: String
        init(_ description: String, _ bytes: String) { (testDescription, self.bytes) = (description, bytes) }
    }

    @Test(arguments: [
        Garbage("control bytes", "\u{0}\u{1}\u{2}\u{3}\r\n\r\n"),
        Garbage("a method alone", "GET\r\n\r\n"),
        Garbage("a word", "hello\r\n\r\n"),
        Garbage("another version", "GET / HTTP/9.9\r\n\r\n"),
        Garbage("a field without a colon", "GET /v1/hosts HTTP/1.1\r\nHost localhost\r\n\r\n"),
        Garbage(
            "a negative length", "POST /v1/reload HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n"),
        Garbage(
            "a chunk without a size",
            "POST /v1/reload HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"),
        Garbage(
            "a target without end",
            "GET /" + String(repeating: "a", count: 100_000) + " HTTP/1.1\r\nHost: localhost\r\n\r\n"),
        Garbage(
            "fields without end", "GET / HTTP/1.1\r\n" + String(repeating: "X: y\r\n", count: 20_000) + "\r\n"
        ),
        Garbage("an SSH client", "SSH-2.0-OpenSSH_9.2\r\n"),
    ])
    func `bytes that are no request end their connection only`(garbage: Garbage) async throws {
        try await ServerFixture.with { server in
            let client = try Client(server.path)
            await client.send(garbage.bytes)
            client.hangUp()
            let text = await client.readToEnd()
            #expect(!text.contains("HTTP/1.1 200"))
            let health = try await server.get("/healthz")
            #expect(health.status == 200)
        }
    }

    @Test func `every cut of a request leaves the server as it was`() async throws {
        try await ServerFixture.with { server in
            let request =
                Array(ServerFixture.head("POST", "/v1/reload", ["Content-Length: 3"]).utf8) + [1, 2, 3]
            for end in 0..<request.count {
                let client = try Client(server.path)
                await client.send(Array(request[..<end]))
                client.hangUp()
            }
            let health = try await server.get("/healthz")
            #expect(health.status == 200)
        }
    }

    @Test func `a request has its deadline, and the handler is cancelled`() async throws {
        try await ServerFixture.with { server in
            async let reply = server.request("POST", "/v1/hosts/slow/check")
            await server.daemon.until("slow")
            await server.clock.untilSleeping(for: HTTPServer.requestDeadline)
            server.clock.advance(by: HTTPServer.requestDeadline)
            let status = try await reply.status
            #expect(status == 504)
        }
    }

    @Test func `two hundred connects and cuts leave no descriptor behind`() async throws {
        // A process of its own, for the other suites open descriptors too.
        await #expect(processExitsWith: .success) {
            try await ServerFixture.with { server in
                let before = try await settledDescriptors(server)
                for round in 0..<200 {
                    let client = try Client(server.path)
                    switch round % 4 {
                    case 0: break
                    case 1: await client.send("GET /v1/hosts HTT")
                    case 2: await client.send(ServerFixture.head("GET", "/v1/hosts", []))
                    default:
                        let mark = server.lastLogged
                        await client.send(ServerFixture.head("GET", "/v1/events?follow=1", []))
                        _ = try await client.read(until: "\r\n\r\n")
                        client.hangUp()
                        // A stream sees that its reader has gone at the next sign of life.
                        await server.clock.untilSleeping(for: StreamAnswer.heartbeatInterval)
                        server.clock.advance(by: StreamAnswer.heartbeatInterval)
                        await server.untilLogged("api.stream.ended", after: mark)
                    }
                    client.hangUp()
                }
                let after = try await settledDescriptors(server)
                try #require(after == before, "\(before) descriptors before, \(after) after")
            }
        }
    }
}

/// How many descriptors the process has when nothing is on its way.
///
/// A client sees the end of a connection a moment before the server closes it, so this takes the least
/// of several looks with a request between them.
private func settledDescriptors(_ server: ServerFixture) async throws -> Int {
    var least = Int.max
    for _ in 0..<20 {
        _ = try await server.get("/healthz")
        least = min(least, try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count)
    }
    return least
}
