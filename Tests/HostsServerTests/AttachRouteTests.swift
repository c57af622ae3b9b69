import HostsTestSupport
import Testing

@testable import HostsServer

/// Windows of the person's, over the socket.
@Suite(.timeLimit(.minutes(1))) struct AttachRouteTests {
    @Test func `a window is a stream, and is closed at the next sign of life after its client has gone`()
        async throws
    {
        try await ServerFixture.with { server in
            let (client, header) = try await server.window("devbox", body: #"{"session":"%4"}"#)
            #expect(header.contains("Content-Type: application/x-ndjson"))
            let first = try await client.read(until: "}\n")
            #expect(first.contains(#""kind":"attach""#) && first.contains(#""session":"%4""#))
            let second = try await client.read(until: "}\n")
            #expect(second.contains(#""kind":"phase""#) && second.contains(#""phase":"active""#))
            client.hangUp()
            await server.clock.untilSleeping(for: .seconds(15))
            server.clock.advance(by: .seconds(15))
            await server.daemon.until("window closed")
        }
    }

    @Test(arguments: [
        ("gpu", "", 409, "host.disabled"), ("nobody", "{}", 404, "host.not-found"),
        ("devbox", #"{"session":"x"}"#, 404, "session.not-found"),
        ("devbox", #"{"session":""}"#, 400, "1 to 256 bytes"), ("devbox", "[]", 400, "the body must be"),
        ("devbox", #"{"sesion":"x"}"#, 400, "no member sesion"),
    ])
    func `what cannot be opened is an answer, and no stream`(
        host: String, body: String, status: Int, part: String
    ) async throws {
        try await ServerFixture.with { server in
            let reply = try await server.request("POST", "/v1/hosts/\(host)/attach", body: body)
            #expect(reply.status == status)
            #expect(reply.body.contains(part), "\(reply.body)")
        }
    }

    @Test(arguments: ["/v1/hosts/devbox?follow=1", "/v1/sessions/devbox/42-ab?follow=1"])
    func `a page is followed, and its watch ends with its reader`(target: String) async throws {
        try await ServerFixture.with { server in
            let (client, header) = try await server.stream(target)
            #expect(header.contains("Content-Type: application/x-ndjson"))
            let first = try await client.read(until: "}\n")
            #expect(first.contains(#""schema":1"#))
            client.hangUp()
            await server.clock.untilSleeping(for: .seconds(15))
            server.clock.advance(by: .seconds(15))
            await server.daemon.until("stream ended")
        }
    }
}
