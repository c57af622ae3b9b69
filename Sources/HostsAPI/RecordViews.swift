/// A value for a key of a record, as a request gives it.
package enum RecordValueBody: Hashable, Sendable {
    /// Read as on a command line: `Dev box`, `true`, `ml,office`.
    case text(String)
    case flag(Bool)
    case words([String])
    /// Takes the key out of the override.
    case null
}

extension RecordValueBody: Codable {
    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let flag = try? container.decode(Bool.self) {
            self = .flag(flag)
        } else if let text = try? container.decode(String.self) {
            self = .text(text)
        } else {
            self = .words(try container.decode([String].self))
        }
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .text(let text): try container.encode(text)
        case .flag(let flag): try container.encode(flag)
        case .words(let words): try container.encode(words)
        case .null: try container.encodeNil()
        }
    }
}

/// The answer to `DELETE /v1/hosts/NAME`.
package struct RemovalDocument: Codable, Hashable, Sendable {
    package var schema: Int
    package var host: String
    /// Where the record is now; hostsd does not read it there.
    package var record: String
    /// Where the override is now; null where there was none.
    @OrNull package var override: String?
    /// One line for people.
    package var message: String

    package init(host: String, record: String, override: String?, message: String) {
        schema = apiSchema
        self.host = host
        self.record = record
        self.override = override
        self.message = message
    }
}
