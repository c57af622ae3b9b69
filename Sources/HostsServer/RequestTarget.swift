package import HostsAPI

/// The path and the query of a request target (RFC 9112, section 3.2), decoded and within limits.
package struct RequestTarget: Hashable, Sendable {
    /// Longest target, in bytes.
    package static let lengthLimit = 4096

    /// Most parameters in a query.
    package static let parameterLimit = 16

    /// The authority of the absolute form `http://authority/path`; nil in the usual form.
    package let authority: String?
    /// The decoded parts between the slashes; empty for `/`.
    package let segments: [String]
    /// Each parameter has one value.
    package let parameters: [String: String]

    /// Reads a target.
    ///
    /// - Throws: `.badRequest` with what is wrong.
    package init(_ text: String) throws(APIError) {
        guard text.utf8.count <= Self.lengthLimit else {
            throw .badRequest("the request target is longer than \(Self.lengthLimit) bytes")
        }
        let (authority, rest) = Self.splitAuthority(text)
        guard rest.hasPrefix("/") else { throw .badRequest("the request target must begin with a slash") }
        self.authority = authority
        let parts = rest.dropFirst().split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        var segments: [String] = []
        if let path = parts.first, !path.isEmpty {
            for segment in path.split(separator: "/", omittingEmptySubsequences: false) {
                segments.append(try Self.decoded(segment, "the path"))
            }
        }
        self.segments = segments
        parameters = parts.count == 2 ? try Self.parameters(parts[1]) : [:]
    }

    private static func splitAuthority(_ text: String) -> (authority: String?, rest: Substring) {
        let scheme = "http://"
        guard text.lowercased().hasPrefix(scheme) else { return (nil, text[...]) }
        let rest = text.dropFirst(scheme.count)
        guard let slash = rest.firstIndex(of: "/") else { return (String(rest), "/") }
        return (String(rest[..<slash]), rest[slash...])
    }

    private static func parameters(_ query: Substring) throws(APIError) -> [String: String] {
        var result: [String: String] = [:]
        for pair in query.split(separator: "&") {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let name = try decoded(parts[0], "the query")
            guard result[name] == nil else { throw .badRequest("the parameter \(name) is given twice") }
            guard result.count < parameterLimit else {
                throw .badRequest("a query has at most \(parameterLimit) parameters")
            }
            result[name] = parts.count == 2 ? try decoded(parts[1], "the query") : ""
        }
        return result
    }

    /// Undoes percent-encoding (RFC 3986, section 2.1).
    ///
    /// A plus sign stays one: times and versions have it.
    private static func decoded(_ text: Substring, _ place: String) throws(APIError) -> String {
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let high = rest.popFirst().flatMap(hexadecimal),
                let low = rest.popFirst().flatMap(hexadecimal)
            else { throw .badRequest("\(place) has a percent sign without two hexadecimal digits") }
            bytes.append(high << 4 | low)
        }
        guard let result = String(validating: bytes, as: UTF8.self) else {
            throw .badRequest("\(place) is not UTF-8")
        }
        guard result.unicodeScalars.allSatisfy({ $0.value >= 0x20 && $0.value != 0x7f }) else {
            throw .badRequest("\(place) has a control character")
        }
        return result
    }

    private static func hexadecimal(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
