import Glibc
import HostsAPI
import HostsLog
import HostsModel
import HostsTestSupport

@testable import HostsServer

/// A server on a socket of its own, with the test's daemon behind it.
struct ServerFixture: Sendable {
    let daemon: TestDaemon
    let clock: ManualClock
    let path: String

    /// Runs a server around a test and ends it gracefully.
    static func with(_ body: @Sendable (ServerFixture) async throws -> Void) async throws {
        let directory = try TemporaryFolder()
        let fixture = ServerFixture(
            daemon: TestDaemon(), clock: ManualClock(), path: directory.path + "/api.sock")
        let server = try fixture.makeServer()
        let run = Task { try await server.run() }
        let result: Result<Void, any Error>
        do {
            result = .success(try await body(fixture))
        } catch {
            result = .failure(error)
        }
        run.cancel()
        try await run.value
        try result.get()
        withExtendedLifetime(directory) {}
    }

    func makeServer() throws(HTTPServerError) -> HTTPServer {
        try HTTPServer(
            path: path, service: daemon, version: VersionDocument(version: "1.0", pid: 1), clock: clock,
            log: daemon.center.log(.api))
    }

    /// One request on a connection of its own.
    func request(_ method: String, _ target: String, fields: [String] = [], body: String = "") async throws
        -> Reply
    {
        let client = try Client(path)
        let head = Self.head(
            method, target, ["Connection: close", "Content-Length: \(body.utf8.count)"] + fields)
        await client.send(head + body)
        return try Reply(await client.readToEnd())
    }

    func get(_ target: String, fields: [String] = []) async throws -> Reply {
        let client = try Client(path)
        await client.send(Self.head("GET", target, ["Connection: close"] + fields))
        return try Reply(await client.readToEnd())
    }

    /// The number of the last log line.
    var lastLogged: Int { daemon.center.records().last?.sequence ?? 0 }

    /// Waits until the server has logged something after a line.
    func untilLogged(_ event: String, after sequence: Int) async {
        let (past, live) = daemon.center.watch(after: sequence)
        if past.contains(where: { $0.event == event }) { return }
        for await record in live where record.event == event { return }
    }

    /// Opens a stream and reads its header.
    func stream(_ target: String, fields: [String] = []) async throws -> (Client, header: String) {
        let client = try Client(path)
        await client.send(Self.head("GET", target, fields))
        return (client, try await client.read(until: "\r\n\r\n"))
    }

    /// Opens a window and reads the header of its stream.
    func window(_ host: String, body: String = "") async throws -> (Client, header: String) {
        let client = try Client(path)
        let fields = ["Content-Length: \(body.utf8.count)"]
        await client.send(Self.head("POST", "/v1/hosts/\(host)/attach", fields) + body)
        return (client, try await client.read(until: "\r\n\r\n"))
    }

    static func head(_ method: String, _ target: String, _ fields: [String]) -> String {
        (["\(method) \(target) HTTP/1.1", "Host: localhost"] + fields).joined(separator: "\r\n") + "\r\n\r\n"
    }
}
