/// The body of `POST /v1/hosts/NAME/unlock`: `{"passphrase":"…"}` (RFC 8259).
///
/// Written and read here and not by a general coder, which would leave the passphrase in strings that nobody
/// can overwrite.
package enum PassphraseBody {
    private static let member = "passphrase"

    /// What every escape letter stands for (RFC 8259, section 7), apart from `u`.
    private static let escapes: [UInt8: UInt8] = [
        UInt8(ascii: "\""): UInt8(ascii: "\""), UInt8(ascii: "\\"): UInt8(ascii: "\\"),
        UInt8(ascii: "/"): UInt8(ascii: "/"), UInt8(ascii: "b"): 0x08, UInt8(ascii: "f"): 0x0c,
        UInt8(ascii: "n"): 0x0a, UInt8(ascii: "r"): 0x0d, UInt8(ascii: "t"): 0x09,
    ]

    /// Writes the body.
    ///
    /// - Parameter passphrase: As it was typed.
    /// - Returns: The body; nil where the passphrase is no UTF-8, which JSON must be.
    package static func encoded(_ passphrase: SecretBytes) -> SecretBytes? {
        let begin = "{\"\(member)\":\""
        let end = "\"}"
        // No byte takes more than the six of \u00XX.
        let capacity = begin.utf8.count + passphrase.count * 6 + end.utf8.count
        let builder = SecretBytes.Builder(capacity: capacity)
        var isWhole = builder.append(begin.utf8)
        passphrase.withBytes { bytes in
            isWhole = isWhole && isUTF8(bytes)
            for byte in bytes {
                switch byte {
                case UInt8(ascii: "\""), UInt8(ascii: "\\"):
                    isWhole = builder.append(CollectionOfOne(UInt8(ascii: "\\"))) && isWhole
                    isWhole = builder.append(CollectionOfOne(byte)) && isWhole
                case 0..<0x20:
                    isWhole = builder.append("\\u00".utf8) && isWhole
                    isWhole = builder.append(CollectionOfOne(digit(byte >> 4))) && isWhole
                    isWhole = builder.append(CollectionOfOne(digit(byte & 0x0f))) && isWhole
                default: isWhole = builder.append(CollectionOfOne(byte)) && isWhole
                }
            }
        }
        isWhole = builder.append(end.utf8) && isWhole
        let body = builder.finish()
        return isWhole ? body : nil
    }

    /// Reads the body.
    ///
    /// - Parameter body: As it came; nil if the request had none.
    /// - Returns: The passphrase, never empty, UTF-8 without NUL.
    /// - Throws: `.badRequest`, which repeats nothing of the body.
    package static func decoded(_ body: SecretBytes?) throws(APIError) -> SecretBytes {
        let passphrase = body?.withBytes { bytes in
            var reader = Reader(bytes: bytes)
            return reader.document()
        }
        guard let passphrase else {
            throw .badRequest("the body must be {\"\(member)\":\"…\"} and nothing else")
        }
        guard !passphrase.isEmpty else { throw .badRequest("the passphrase is empty") }
        let isUsable = passphrase.withBytes { isUTF8($0) && !$0.contains(0) }
        guard isUsable else { throw .badRequest("the passphrase must be UTF-8 without NUL") }
        return passphrase
    }

    private static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
    }

    private static func isUTF8(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var codec = UTF8()
        var iterator = bytes.makeIterator()
        while true {
            switch codec.decode(&iterator) {
            case .scalarValue: continue
            case .emptyInput: return true
            case .error: return false
            }
        }
    }

    /// Reads one object with one member, a string; every answer is nil where the text is something else.
    private struct Reader {
        let bytes: UnsafeRawBufferPointer
        private var position = 0

        init(bytes: UnsafeRawBufferPointer) {
            self.bytes = bytes
        }

        mutating func document() -> SecretBytes? {
            guard takeMark("{"), let name = string(),
                name.withBytes({ $0.elementsEqual(member.utf8) }),
                takeMark(":"), let value = string(), takeMark("}")
            else { return nil }
            skipSpace()
            return position == bytes.count ? value : nil
        }

        private mutating func skipSpace() {
            while position < bytes.count, [0x20, 0x09, 0x0a, 0x0d].contains(bytes[position]) { position += 1 }
        }

        private mutating func next() -> UInt8? {
            guard position < bytes.count else { return nil }
            defer { position += 1 }
            return bytes[position]
        }

        private mutating func takeMark(_ mark: Unicode.Scalar) -> Bool {
            skipSpace()
            return next() == UInt8(ascii: mark)
        }

        private mutating func string() -> SecretBytes? {
            guard takeMark("\"") else { return nil }
            // An escape is never shorter than what it stands for.
            let builder = SecretBytes.Builder(capacity: bytes.count - position)
            while let byte = next() {
                switch byte {
                case UInt8(ascii: "\""): return builder.finish()
                case UInt8(ascii: "\\"):
                    guard takeEscape(into: builder) else { return nil }
                case 0..<0x20: return nil
                default:
                    guard builder.append(CollectionOfOne(byte)) else { return nil }
                }
            }
            return nil
        }

        private mutating func takeEscape(into builder: SecretBytes.Builder) -> Bool {
            guard let letter = next() else { return false }
            if let byte = escapes[letter] { return builder.append(CollectionOfOne(byte)) }
            guard letter == UInt8(ascii: "u"), let first = unit() else { return false }
            var value = UInt32(first)
            if UTF16.isLeadSurrogate(first) {
                guard next() == UInt8(ascii: "\\"), next() == UInt8(ascii: "u"), let second = unit(),
                    UTF16.isTrailSurrogate(second)
                else { return false }
                value = 0x10000 + ((UInt32(first) & 0x3ff) << 10) + (UInt32(second) & 0x3ff)
            }
            guard let scalar = Unicode.Scalar(value), let encoded = UTF8.encode(scalar) else { return false }
            return builder.append(encoded)
        }

        /// Four hexadecimal digits.
        private mutating func unit() -> UInt16? {
            var value: UInt16 = 0
            for _ in 0..<4 {
                guard let byte = next(), let digit = Character(Unicode.Scalar(byte)).hexDigitValue,
                    byte < 0x80
                else { return nil }
                value = value << 4 | UInt16(digit)
            }
            return value
        }
    }
}
