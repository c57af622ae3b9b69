import HostsAPI
import HostsLog
import HostsModel
import HostsTestSupport
import Testing

@testable import HostsServer

@Suite struct HTTPStreamTests {
    @Test func `events stream as server-sent events, and a stream resumes behind its last id`() async throws {
        try await ServerFixture.with { server in
            for id in ["e1", "e2", "e3"] { await server.daemon.add(.test(id)) }
            let (client, header) = try await server.stream(
                "/v1/events?after=e1", fields: ["Accept: text/event-stream", "Last-Event-ID: e2"])
            #expect(header.contains("Content-Type: text/event-stream"))
            #expect(!header.contains("Hostsd-Incomplete"))
            let first = try await client.read(until: "\n\n")
            #expect(first.contains("id: e3\ndata: {"))
            #expect(first.contains(#""id":"e3""#))
            await server.daemon.add(.test("e4"))
            let second = try await client.read(until: "\n\n")
            #expect(second.contains("id: e4\ndata: {"))
        }
    }

    @Test func `a place that is not known is told, and the whole past follows`() async throws {
        try await ServerFixture.with { server in
            await server.daemon.add(.test("e1"))
            let (client, header) = try await server.stream(
                "/v1/events", fields: ["Accept: text/event-stream", "Last-Event-ID: gone"])
            #expect(header.contains("Hostsd-Incomplete: 1"))
            let first = try await client.read(until: "\n\n")
            #expect(first.contains("event: resync\ndata: {"))
            let second = try await client.read(until: "\n\n")
            #expect(second.contains("id: e1\n"))
        }
    }

    @Test func `events stream as JSON lines, filtered`() async throws {
        try await ServerFixture.with { server in
            let (client, header) = try await server.stream(
                "/v1/events?follow=1&kind=needs.you,host.lost&host=gpu")
            #expect(header.contains("Content-Type: application/x-ndjson"))
            await server.daemon.add(.test("e1", kind: "needs.you"))
            await server.daemon.add(.test("e2", kind: "turn.ended", host: "gpu"))
            await server.daemon.add(.test("e3", kind: "needs.you", host: "gpu"))
            let line = try await client.read(until: "}\n")
            #expect(line.contains(#""id":"e3""#))
            #expect(!line.contains("e1") && !line.contains("e2"))
        }
    }

    @Test func `a stream begins with as much of the past as it asks for`() async throws {
        try await ServerFixture.with { server in
            for id in ["e1", "e2", "e3"] { await server.daemon.add(.test(id)) }
            let (client, _) = try await server.stream("/v1/events?follow=1&limit=1")
            let line = try await client.read(until: "}\n")
            #expect(line.contains(#""id":"e3""#))
        }
    }

    @Test func `the log streams by category and level from a place that the ring holds`() async throws {
        try await ServerFixture.with { server in
            let log = server.daemon.center.log(.hub)
            log.notice("a", "first")
            let sequence = server.daemon.center.records().last?.sequence ?? 0
            log.debug("b", "too quiet")
            log.notice("c", "second")
            let (client, _) = try await server.stream(
                "/v1/logs?after=\(sequence)&category=hub&level=info", fields: ["Accept: text/event-stream"])
            let first = try await client.read(until: "\n\n")
            #expect(first.contains(#""message":"second""#))
            log.warning("d", "third", .host(try #require(HostID(rawValue: "devbox"))))
            let second = try await client.read(until: "\n\n")
            #expect(second.contains(#""message":"third""#))
            #expect(second.contains(#""fields":{"host":"devbox"}"#))
        }
    }

    @Test(arguments: [("text/event-stream", ": heartbeat\n\n"), ("application/x-ndjson", "\n")])
    func `a silent stream gives a sign of life every 15 s`(accept: String, sign: String) async throws {
        try await ServerFixture.with { server in
            let (client, _) = try await server.stream("/v1/events", fields: ["Accept: \(accept)"])
            for _ in 0..<3 {
                await server.clock.untilSleeping(for: .seconds(15))
                server.clock.advance(by: .seconds(15))
                // The size of the chunk, the sign itself, and the end of the chunk.
                let chunk = try await client.read(until: "\r\n" + sign + "\r\n")
                #expect(chunk.uppercased().hasPrefix(String(sign.utf8.count, radix: 16).uppercased()))
            }
        }
    }

    @Test func `a client that has gone is noticed at the next sign of life`() async throws {
        try await ServerFixture.with { server in
            let (client, _) = try await server.stream("/v1/events?follow=1")
            client.hangUp()
            await server.clock.untilSleeping(for: .seconds(15))
            server.clock.advance(by: .seconds(15))
            await server.daemon.until("stream ended")
        }
    }

    @Test(arguments: ["text/event-stream", "application/x-ndjson"])
    func `a reader that is too slow is dropped with a last word`(accept: String) async throws {
        try await ServerFixture.with { server in
            let (client, _) = try await server.stream("/v1/events", fields: ["Accept: \(accept)"])
            let summary = String(repeating: "x", count: 1000)
            for number in 0..<3000 { await server.daemon.add(.test("e\(number)", summary: summary)) }
            await server.daemon.until("stream ended")
            let text = try Reply.unchunked(await client.readToEnd())
            #expect(text.contains(#""id":"e0""#))
            #expect(!text.contains(#""id":"e2999""#))
            let last = try #require(text.firstRange(of: #""code":"stream.dropped""#))
            #expect(!text[last.upperBound...].contains(#""id":"#))
            #expect(text.contains("event: dropped") == (accept == "text/event-stream"))
            // It goes on where it was.
            let ids = text.matches(of: /"id":"e([0-9]+)"/).compactMap { Int($0.output.1) }
            #expect(ids == Array(0..<ids.count))
            let (again, _) = try await server.stream(
                "/v1/events", fields: ["Accept: \(accept)", "Last-Event-ID: e\(ids.count - 1)"])
            let next = try await again.read(until: "}\n")
            #expect(next.contains("\"id\":\"e\(ids.count)\""))
        }
    }

    @Test func `a long past waits for its reader instead of dropping it`() async throws {
        try await ServerFixture.with { server in
            let summary = String(repeating: "x", count: 1000)
            for number in 0..<3000 { await server.daemon.add(.test("e\(number)", summary: summary)) }
            let (client, _) = try await server.stream("/v1/events?follow=1&after=e0")
            for number in stride(from: 1, to: 3000, by: 200) {
                let part = try await client.read(until: "\"id\":\"e\(number)\"")
                #expect(!part.contains("stream.dropped"))
            }
        }
    }

    @Test func `there is a limit of streams, and a place is free again when one ends`() async throws {
        try await ServerFixture.with { server in
            var clients: [Client] = []
            for _ in 0..<HTTPServer.streamLimit {
                clients.append(try await server.stream("/v1/logs?follow=1&category=daemon").0)
            }
            let refused = try await server.get("/v1/events?follow=1")
            #expect(refused.status == 503)
            #expect(refused.body.contains(#""code":"daemon.busy""#))
            let lists = try await server.get("/v1/events")
            #expect(lists.status == 200)
            for client in clients { client.hangUp() }
            await server.clock.untilSleeping(count: HTTPServer.streamLimit, for: .seconds(15))
            server.clock.advance(by: .seconds(15))
            await server.untilLogged("api.stream.ended", after: 0)
            let (_, header) = try await server.stream("/v1/events?follow=1")
            #expect(header.hasPrefix("HTTP/1.1 200"))
        }
    }

    @Test func `a stop ends every stream and every waiting request, each with a word`() async throws {
        let texts = Locked<[String]>([])
        let pending = Locked<[Task<String, Never>]>([])
        try await ServerFixture.with { server in
            for accept in ["text/event-stream", "application/x-ndjson", "text/event-stream"] {
                let (client, _) = try await server.stream("/v1/events", fields: ["Accept: \(accept)"])
                pending.withLock { $0.append(Task { await client.readToEnd() }) }
            }
            for _ in 0..<3 {
                let client = try Client(server.path)
                await client.send(ServerFixture.head("POST", "/v1/hosts/slow/check", ["Content-Length: 0"]))
                await server.daemon.until("slow")
                pending.withLock { $0.append(Task { await client.readToEnd() }) }
            }
            // A connection that is open and asks nothing.
            let idle = try Client(server.path)
            await idle.send("GET /v1")
            pending.withLock { $0.append(Task { await idle.readToEnd() }) }
        }
        for task in pending.withLock({ $0 }) {
            let text = await task.value
            texts.withLock { $0.append(text) }
        }
        let words = texts.withLock { $0 }
        #expect(words[0].contains("event: stopping\ndata: {"))
        #expect(words[1].contains(#""code":"daemon.stopping""#))
        #expect(words[2].hasSuffix("\r\n0\r\n\r\n"))
        for answer in words[3...5] {
            #expect(answer.hasPrefix("HTTP/1.1 503"))
            #expect(answer.contains(#""code":"daemon.stopping""#))
        }
        #expect(words[6].isEmpty)
    }

    @Test func `a stop does not wait for a reader that does not read`() async throws {
        let stuck = Locked<[Client]>([])
        try await ServerFixture.with { server in
            let (client, _) = try await server.stream("/v1/events?follow=1")
            stuck.withLock { $0.append(client) }
            let summary = String(repeating: "x", count: 1000)
            for number in 0..<3000 { await server.daemon.add(.test("e\(number)", summary: summary)) }
            await server.daemon.until("stream ended")
        }
        let text = await stuck.withLock { $0[0] }.readToEnd()
        #expect(!text.contains("stream.dropped"))
    }

    @Test(arguments: 0..<30) func `a stop while clients come and go ends`(round: Int) async throws {
        let clients = Locked<[Task<Void, Never>]>([])
        try await ServerFixture.with { server in
            for number in 0..<8 {
                let client = try Client(server.path)
                let task = Task {
                    let target = (number + round).isMultiple(of: 2) ? "/v1/events?follow=1" : "/v1/hosts"
                    await client.send(ServerFixture.head("GET", target, []))
                    if number.isMultiple(of: 3) { client.hangUp() }
                    _ = await client.readToEnd()
                }
                clients.withLock { $0.append(task) }
            }
        }
        for client in clients.withLock({ $0 }) { await client.value }
    }
}
