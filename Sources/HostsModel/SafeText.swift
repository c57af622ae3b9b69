/// Text from elsewhere (a remote host, a server's banner, a file) made fit for a log line or a terminal.
package enum SafeText {
    /// Longest text kept, in characters, where nothing else is asked.
    package static let defaultLimit = 200

    /// Makes control characters visible, folds white space and bounds the length.
    ///
    /// C0, C1 and DEL, the bidirectional controls and the line separators (U+2028, U+2029) become
    /// `\u{..}`; nothing that can move a cursor or reorder a line is left.
    package static func visible(_ text: String, limit: Int = defaultLimit) -> String {
        var result = ""
        var count = 0
        for scalar in text.unicodeScalars {
            if count >= limit { return result + "…" }
            count += 1
            if scalar == "\n" || scalar == "\t" || scalar == "\r" {
                if result.last != " " { result.append(" ") }
            } else if isHarmful(scalar) {
                result += "\\u{" + String(scalar.value, radix: 16) + "}"
            } else {
                result.unicodeScalars.append(scalar)
            }
        }
        while result.last == " " { result.removeLast() }
        return result
    }

    /// The same for bytes that ought to be UTF-8; what is not becomes U+FFFD.
    package static func visible(bytes: some Sequence<UInt8>, limit: Int = defaultLimit) -> String {
        visible(String(decoding: Array(bytes), as: UTF8.self), limit: limit)
    }

    private static func isHarmful(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0..<0x20, 0x7f...0x9f: true
        case 0x200e, 0x200f, 0x202a...0x202e, 0x2066...0x2069: true
        case 0x2028, 0x2029, 0xfeff: true
        default: false
        }
    }
}
