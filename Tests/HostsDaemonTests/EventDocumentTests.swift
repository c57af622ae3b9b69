import FoundationEssentials
import HostsAPI
import HostsModel
import Testing

@testable import HostsAttention
@testable import HostsDaemon

/// Holds together what HostsAttention writes for a hook and what HostsAPI lists.
///
/// They are two, because HostsAttention must not depend on the API's client and its library.
@Suite struct EventDocumentTests {
    private static let time = WallTime(milliseconds: 1_796_068_800_007)

    private func expectSame(_ event: AttentionEvent) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let listed = Array(try encoder.encode(EventView(event))) + Array("\n".utf8)
        #expect(
            String(decoding: try EventDocument(event: event).json(), as: UTF8.self)
                == String(decoding: listed, as: UTF8.self))
    }

    @Test(arguments: AttentionEvent.Kind.allCases)
    func `a hook reads what the API lists`(kind: AttentionEvent.Kind) throws {
        let host = try #require(HostID(rawValue: "dev"))
        let id = try #require(EventID(rawValue: "0123456789abcdef"))
        try expectSame(
            AttentionEvent(
                id: id, kind: kind, key: "k", time: Self.time, host: host,
                session: SessionID(rawValue: "dev/1-a"), agent: AgentName(rawValue: "claude"),
                place: "main:0.1", reason: "plan", turn: "t", gap: .milliseconds(1500), summary: "a \"b\"/c",
                delivery: .pending))
        try expectSame(
            AttentionEvent(id: id, kind: kind, key: "k", time: Self.time, summary: "s", delivery: .delivered))
    }
}
