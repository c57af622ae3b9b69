package import HostsAPI
package import HostsModel

/// The parameters of a query, read with an error for whatever is unknown or ill-formed.
package struct QueryParameters: Hashable, Sendable {
    private let values: [String: String]

    /// Takes the parameters of a target.
    ///
    /// - Parameters:
    ///   - values: As they were decoded.
    ///   - known: The names that the route takes.
    /// - Throws: `.badRequest` that names the unknown parameter and the known ones.
    package init(_ values: [String: String], known: [String]) throws(APIError) {
        if let unknown = values.keys.sorted().first(where: { !known.contains($0) }) {
            let name = SafeText.visible(unknown, limit: 40)
            throw .badRequest(
                known.isEmpty
                    ? "there is no parameter \(name) here"
                    : "there is no parameter \(name) here, only "
                        + known.joined(separator: ", "))
        }
        self.values = values
    }

    /// A text as it came; nil if it was not given.
    package func text(_ name: String, limit: Int = 200) throws(APIError) -> String? {
        guard let value = values[name] else { return nil }
        guard !value.isEmpty, value.utf8.count <= limit else {
            throw .badRequest("\(name) must have 1 to \(limit) bytes")
        }
        return value
    }

    /// A whole number within a range.
    package func integer(_ name: String, in range: ClosedRange<Int>) throws(APIError) -> Int? {
        guard let text = values[name] else { return nil }
        guard let value = Int(text), range.contains(value) else {
            throw .badRequest(
                "\(name) must be a whole number from \(range.lowerBound) to \(range.upperBound)")
        }
        return value
    }

    /// A switch: `1`, `true` or nothing after the name, and `0` or `false`.
    package func flag(_ name: String) throws(APIError) -> Bool {
        switch values[name] {
        case nil, "0", "false": false
        case "", "1", "true": true
        default: throw .badRequest("\(name) must be 1 or 0")
        }
    }

    /// The name of a host.
    package func host(_ name: String) throws(APIError) -> HostID? {
        guard let text = try text(name) else { return nil }
        guard let host = HostID(rawValue: text) else {
            throw .badRequest("\(name) must be the name of a host: a-z, 0-9, dot, dash and underscore")
        }
        return host
    }

    /// One word of a closed set.
    package func word<Word>(_ name: String, of type: Word.Type) throws(APIError) -> Word?
    where Word: RawRepresentable<String> & CaseIterable {
        guard let text = values[name] else { return nil }
        return try Self.word(text, name, type)
    }

    /// Words of a closed set with commas between them; empty if the parameter was not given.
    package func words<Word>(_ name: String, of type: Word.Type) throws(APIError) -> Set<Word>
    where Word: RawRepresentable<String> & CaseIterable & Hashable {
        var words: Set<Word> = []
        for text in values[name]?.split(separator: ",", omittingEmptySubsequences: false) ?? [] {
            words.insert(try Self.word(String(text), name, type))
        }
        return words
    }

    /// Names of an open set with commas between them, each of lower-case letters, digits, dots and dashes.
    package func names(_ name: String) throws(APIError) -> Set<String> {
        var names: Set<String> = []
        for text in values[name]?.split(separator: ",", omittingEmptySubsequences: false) ?? [] {
            let isName = text.utf8.allSatisfy { byte in
                (0x61...0x7a).contains(byte) || (0x30...0x39).contains(byte) || byte == 0x2e || byte == 0x2d
            }
            guard isName, (1...64).contains(text.utf8.count) else {
                throw .badRequest("\(name) must be names such as needs.you, with commas between them")
            }
            names.insert(String(text))
        }
        return names
    }

    private static func word<Word>(_ text: String, _ name: String, _ type: Word.Type) throws(APIError) -> Word
    where Word: RawRepresentable<String> & CaseIterable {
        guard let word = Word(rawValue: text) else {
            let known = Word.allCases.map(\.rawValue).joined(separator: ", ")
            throw .badRequest("\(name) has no \(SafeText.visible(text, limit: 40)), only \(known)")
        }
        return word
    }
}
