/// One host of a ProxyJump list: `[user@]host[:port]` or `ssh://[user@]host[:port]` (ssh_config(5)).
struct JumpHop: Hashable, Sendable {
    let user: String?
    /// A name or an address, without brackets.
    let host: String
    let port: UInt16?

    /// Reads a hop; nil when it is none.
    ///
    /// - Parameter text: Its tokens are filled in. An IPv6 address with a port stands in brackets; without a port
    ///   it may. A user in a URI may be percent-encoded (RFC 3986, section 3.2.1).
    init?(_ text: String) {
        let scheme = "ssh://"
        let isURI = text.lowercased().hasPrefix(scheme)
        var rest = isURI ? text.dropFirst(scheme.count) : text[...]
        if isURI, rest.last == "/" { rest = rest.dropLast() }
        if let at = rest.lastIndex(of: "@") {
            let name = String(rest[..<at])
            guard !name.isEmpty, let user = isURI ? Self.decoded(name) : name else { return nil }
            self.user = user
            rest = rest[rest.index(after: at)...]
        } else {
            user = nil
        }
        guard let place = Self.place(rest) else { return nil }
        host = String(place.host)
        guard !host.isEmpty, !host.hasPrefix("-"), !host.contains("/") else { return nil }
        guard let digits = place.port, !digits.isEmpty else {
            port = nil
            return
        }
        guard let number = UInt16(digits), number > 0 else { return nil }
        port = number
    }

    private static func place(_ text: Substring) -> (host: Substring, port: Substring?)? {
        if text.first == "[" {
            guard let end = text.firstIndex(of: "]") else { return nil }
            let host = text[text.index(after: text.startIndex)..<end]
            let rest = text[text.index(after: end)...]
            if rest.isEmpty { return (host, nil) }
            guard rest.first == ":" else { return nil }
            return (host, rest.dropFirst())
        }
        guard let colon = text.firstIndex(of: ":") else { return (text, nil) }
        // Two colons: an address, as a name has none.
        guard text.lastIndex(of: ":") == colon else { return (text, nil) }
        return (text[..<colon], text[text.index(after: colon)...])
    }

    /// Undoes the percent-encoding; nil where that is wrong.
    private static func decoded(_ text: String) -> String? {
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            let digits = rest.prefix(2)
            guard digits.count == 2, digits.allSatisfy({ Character(UnicodeScalar($0)).isHexDigit }),
                let value = UInt8(String(decoding: digits, as: UTF8.self), radix: 16), value != 0
            else { return nil }
            rest = rest.dropFirst(2)
            bytes.append(value)
        }
        return String(validating: bytes, as: UTF8.self)
    }
}
