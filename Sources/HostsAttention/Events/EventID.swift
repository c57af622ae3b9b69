import HostsModel

/// The identifier of an event: 16 hexadecimal digits whose order is the order of the events.
package struct EventID: RawRepresentable, Hashable, Comparable, Sendable {
    package let rawValue: String

    /// Takes an identifier as it is, as from a `Last-Event-ID` header; nil when it is not of that form.
    package init?(rawValue: String) {
        let bytes = rawValue.utf8
        guard bytes.count == 16,
            bytes.allSatisfy({ (0x30...0x39).contains($0) || (0x61...0x66).contains($0) })
        else { return nil }
        self.rawValue = rawValue
    }

    fileprivate init(number: UInt64) {
        let digits = String(number, radix: 16)
        rawValue = String(repeating: "0", count: 16 - digits.count) + digits
    }

    fileprivate var number: UInt64 { UInt64(rawValue, radix: 16) ?? 0 }

    package static func < (left: EventID, right: EventID) -> Bool { left.rawValue < right.rawValue }
}

extension EventID: CustomStringConvertible {
    package var description: String { rawValue }
}

/// Makes identifiers that only grow, even when civil time is set back or many events share a millisecond.
struct EventIDSource {
    /// The low bits count within a millisecond; what overflows them borrows from the time.
    private static let counterBits: UInt64 = 20

    private var last: UInt64 = 0

    /// Takes note of an identifier of an earlier run.
    mutating func advance(past id: EventID) {
        last = max(last, id.number)
    }

    mutating func next(at time: WallTime) -> EventID {
        let earliest = UInt64(clamping: time.milliseconds) << Self.counterBits
        last = max(last &+ 1, earliest)
        return EventID(number: last)
    }
}
