package import HostsModel

/// One change of a host's override: a key with the value that it is to have.
package enum RecordChange: Hashable, Sendable {
    case destination(String)
    case enabled(Bool)
    case label(String)
    case backgroundKeepAlive(Bool)
    case sessionRestore(HostRecord.SessionRestore)
    case transport(HostRecord.Transport)
    case tags([String])

    /// The key in the file.
    package var key: String {
        switch self {
        case .destination: "ssh"
        case .enabled: "enabled"
        case .label: "label"
        case .backgroundKeepAlive: "background_keep_alive"
        case .sessionRestore: "session_restore"
        case .transport: "transport"
        case .tags: "tags"
        }
    }

    /// The line of the file that says so.
    package var line: String { "\(key) = \(text)" }

    /// The value as TOML writes it.
    var text: String {
        switch self {
        case .enabled(let value), .backgroundKeepAlive(let value): value ? "true" : "false"
        case .destination(let value), .label(let value): Self.quoted(value)
        case .sessionRestore(let value): Self.quoted(value.rawValue)
        case .transport(let value): Self.quoted(value.rawValue)
        case .tags(let values): "[" + values.map(Self.quoted).joined(separator: ", ") + "]"
        }
    }

    /// The value as a parsed file holds it.
    var content: TOMLValue.Content {
        let nowhere = SourceLocation.whole("")
        return switch self {
        case .enabled(let value), .backgroundKeepAlive(let value): .boolean(value)
        case .destination(let value), .label(let value): .string(value)
        case .sessionRestore(let value): .string(value.rawValue)
        case .transport(let value): .string(value.rawValue)
        case .tags(let values): .array(values.map { TOMLValue(.string($0), at: nowhere) })
        }
    }

    /// A basic string of TOML: quotes, backslashes and control characters are escaped.
    private static func quoted(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar.value {
            case 0x22: result += "\\\""
            case 0x5c: result += "\\\\"
            case 0..<0x20, 0x7f:
                let digits = String(scalar.value, radix: 16)
                result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }
}
