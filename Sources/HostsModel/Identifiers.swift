/// The name of a supervised host: the file name of its record without `.toml`.
///
/// 1–63 characters of `[a-z0-9._-]`, the first one a letter or digit, and not ending in `.override`
/// (that suffix belongs to the machine-owned files). Safe in paths, URLs and logs.
package struct HostID: RawRepresentable, Hashable, Comparable, Sendable {
    package static let maximumLength = 63

    package let rawValue: String

    package init?(rawValue: String) {
        guard Self.isValid(rawValue) else { return nil }
        self.rawValue = rawValue
    }

    private static func isValid(_ name: String) -> Bool {
        let bytes = name.utf8
        guard let first = bytes.first, bytes.count <= maximumLength, isLetterOrDigit(first) else {
            return false
        }
        guard !name.hasSuffix(".override") else { return false }
        return bytes.allSatisfy { isLetterOrDigit($0) || $0 == 0x2e || $0 == 0x5f || $0 == 0x2d }
    }

    private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        (0x61...0x7a).contains(byte) || (0x30...0x39).contains(byte)
    }

    package static func < (left: HostID, right: HostID) -> Bool { left.rawValue < right.rawValue }
}

extension HostID: CustomStringConvertible {
    package var description: String { rawValue }
}

/// One running agent on one host, such as `devbox/4242-1f0c9a7be2d35c61`.
///
/// The part after the slash is the pid and a digest of what else tells two agents apart: the boot id of the host, the
/// place and the start time of the process. The same agent has the same identifier on every look and
/// after a restart of the daemon; another agent never has it.
package struct SessionID: RawRepresentable, Hashable, Comparable, Sendable {
    package let rawValue: String

    /// Takes an identifier as it is, such as from the store or a command line.
    package init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// Composes the identifier of an agent.
    ///
    /// The start time of the process is in the host's own unit; only its equality matters.
    package init(host: HostID, bootID: String, place: Place, pid: Int32, startTime: String) {
        var digest = StableDigest()
        for part in [bootID, place.socket ?? "", place.pane ?? "", place.tty ?? "", startTime] {
            digest.combine(part)
        }
        rawValue = "\(host)/\(pid)-\(digest.hexadecimal)"
    }

    /// The host part, or nil if there is none.
    package var host: HostID? {
        guard let slash = rawValue.firstIndex(of: "/") else { return nil }
        return HostID(rawValue: String(rawValue[..<slash]))
    }

    package static func < (left: SessionID, right: SessionID) -> Bool { left.rawValue < right.rawValue }
}

extension SessionID: CustomStringConvertible {
    package var description: String { rawValue }
}

/// The name of an agent program, such as `claude`; the file name of its rules without `.toml`.
package struct AgentName: RawRepresentable, Hashable, Comparable, Sendable {
    package let rawValue: String

    package init(rawValue: String) {
        self.rawValue = rawValue
    }

    package static func < (left: AgentName, right: AgentName) -> Bool { left.rawValue < right.rawValue }
}

extension AgentName: CustomStringConvertible {
    package var description: String { rawValue }
}

/// A 64-bit FNV-1a digest: the same on every machine and in every run, unlike `Hasher`.
///
/// Not cryptographic.
package struct StableDigest: Sendable {
    private var state: UInt64 = 0xcbf2_9ce4_8422_2325

    package init() {}

    /// Adds a text and an end mark, so that ("ab", "c") and ("a", "bc") differ.
    package mutating func combine(_ text: String) {
        for byte in text.utf8 { add(byte) }
        add(0)
    }

    private mutating func add(_ byte: UInt8) {
        state = (state ^ UInt64(byte)) &* 0x0000_0100_0000_01b3
    }

    /// The digest, whole.
    package var value: UInt64 { state }

    /// The digest as 16 hexadecimal digits.
    package var hexadecimal: String {
        let digits = String(state, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
