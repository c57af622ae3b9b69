import FoundationEssentials
package import HostsModel

/// A time on the wire: RFC 3339, UTC, with milliseconds, such as `2026-11-30T20:00:00.123Z`.
package struct APITime: Hashable, Comparable, Sendable {
    package let time: WallTime

    package init(_ time: WallTime) {
        self.time = time
    }

    private static let format = Date.ISO8601FormatStyle(includingFractionalSeconds: true)

    /// The text of the wire.
    package var text: String { time.rfc3339 }

    /// Reads the text of the wire; nil if it is no such time.
    package init?(text: String) {
        guard let date = try? Self.format.parse(text) else { return nil }
        time = WallTime(milliseconds: Int64((date.timeIntervalSince1970 * 1000).rounded()))
    }

    package static func < (left: APITime, right: APITime) -> Bool { left.time < right.time }
}

extension APITime: Codable {
    package init(from decoder: any Decoder) throws {
        let text = try decoder.singleValueContainer().decode(String.self)
        guard let time = APITime(text: text) else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: decoder.codingPath, debugDescription: "\(text) is no RFC 3339 time"))
        }
        self = time
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}
