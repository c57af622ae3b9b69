import FoundationEssentials
import HostsAPI
import HostsModel
import HostsTestSupport
import Testing

/// What the tests ask a `PrivateDaemon`, beside its log.
extension PrivateDaemon {
    /// Looks every second, so that a test is not spent waiting.
    ///
    /// Not for a test that asks whether a host is `online`: on a busy machine a look may take longer than that, and the
    /// host is `checking` for a moment.
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

    /// Waits until the log says that a host has come to a condition.
    ///
    /// - Parameters:
    ///   - host: Its name.
    ///   - condition: The word for it.
    ///   - position: Where in the log to begin. A host may come to a condition more often than a test causes it: on a
    ///     busy machine a look is late, and its end makes the host `online` once more. What follows from an act of the
    ///     test is waited for behind the place where the log was before that act.
    /// - Returns: The position behind that line.
    /// - Throws: When that does not happen within a minute.
    @discardableResult
    func until(_ host: String, _ condition: String, after position: Int = 0) async throws -> Int {
        try await log.until(" \(host): \(condition)", after: position)
    }

    /// Looks until the only agent of host `a` is in this state.
    func untilAgent(is state: String) async throws {
        while try await sessions(of: "a").map(\.state) != [state] {
            guard try await hostsctl("probe", "a").status == 0 else { throw FixtureError("no probe") }
        }
    }

    private func decode<Document: Decodable>(_ type: Document.Type, _ answer: Tool.Answer) throws -> Document
    {
        guard answer.status == 0 else {
            throw FixtureError("hostsctl: \(answer.status) \(answer.errorOutput)")
        }
        return try JSONDecoder().decode(type, from: Data(answer.output.utf8))
    }
}
