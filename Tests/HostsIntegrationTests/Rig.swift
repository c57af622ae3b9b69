import FoundationEssentials
import HostsAPI
import HostsModel
import HostsTestSupport
import Testing

/// What the tests ask a `PrivateDaemon`, beside its log.
extension PrivateDaemon {
    /// Looks every second, so that a test is not spent waiting.
    static let quick = "[probe]\ninterval_seconds = 1\n"

    /// One host as the API shows it.
    func host(_ name: String) async throws -> HostView {
        try decode(HostDocument.self, try await hostsctl("show", name, "--json")).host
    }

    func hosts() async throws -> [HostView] {
        try decode(HostList.self, try await hostsctl("list", "--json")).hosts
    }

    func sessions(of name: String) async throws -> [SessionView] {
        try decode(SessionList.self, try await hostsctl("sessions", "--host", name, "--json")).sessions
    }

    /// The stored events of these kinds, oldest first.
    func events(_ kinds: String...) async throws -> [EventView] {
        let answer = try await hostsctl("events", "--limit", "1000", "--json")
        return try decode(EventList.self, answer).events.filter { kinds.contains($0.kind) }
    }

    /// Waits until the log says that a host has come to a condition, counted from the start of the daemon.
    func until(_ host: String, _ condition: String, count: Int = 1) async throws {
        try await log.until(" \(host): \(condition)", count: count)
    }

    private func decode<Document: Decodable>(_ type: Document.Type, _ answer: Tool.Answer) throws -> Document
    {
        guard answer.status == 0 else {
            throw FixtureError("hostsctl: \(answer.status) \(answer.errorOutput)")
        }
        return try JSONDecoder().decode(type, from: Data(answer.output.utf8))
    }
}
