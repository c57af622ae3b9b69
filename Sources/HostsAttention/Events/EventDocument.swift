import FoundationEssentials
import HostsModel

/// An event as the API sends it and a hook reads it on standard input: every field is there, absent facts are null.
struct EventDocument: Encodable {
    /// Longest document, in bytes; every field of an event is bounded far below.
    static let limit = ByteCount.kibibytes(64)

    let event: AttentionEvent

    private enum Key: String, CodingKey {
        case schema, id, kind, key, time, host, session, agent, place, reason, turn, late, gapSeconds, summary
        case delivery, dropReason
    }

    func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: Key.self)
        try object.encode(1, forKey: .schema)
        try object.encode(event.id.rawValue, forKey: .id)
        try object.encode(event.kind.rawValue, forKey: .kind)
        try object.encode(event.key, forKey: .key)
        try object.encode(event.time.rfc3339, forKey: .time)
        // `encode` and not `encodeIfPresent`: a field that is left out would be another schema.
        try object.encode(event.host?.rawValue, forKey: .host)
        try object.encode(event.session?.rawValue, forKey: .session)
        try object.encode(event.agent?.rawValue, forKey: .agent)
        try object.encode(event.place, forKey: .place)
        try object.encode(event.reason, forKey: .reason)
        try object.encode(event.turn, forKey: .turn)
        try object.encode(event.isLate, forKey: .late)
        try object.encode(event.gap?.seconds ?? 0, forKey: .gapSeconds)
        try object.encode(event.summary, forKey: .summary)
        try object.encode(event.delivery.word, forKey: .delivery)
        try object.encode(event.delivery.dropReason?.rawValue, forKey: .dropReason)
    }

    /// The JSON text in UTF-8, in one line, keys sorted, with a newline at its end.
    func json() throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return Array(try encoder.encode(self)) + Array("\n".utf8)
    }
}
