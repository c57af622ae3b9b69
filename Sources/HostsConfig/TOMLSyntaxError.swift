import HostsModel

/// Puts a syntax error of toml++ into the words of a person who edits a configuration file.
enum TOMLSyntaxError {
    // toml++ 3.3.0 begins every message of its parser with this (impl/parser.inl).
    private static let prefix = "Error while parsing "
    /// What toml++ calls the places where a word without quotes is found.
    private static let valueParts = ["value", "boolean", "floating-point", "decimal integer", "date", "time"]

    /// Rewords `message`; `bytes`, the whole file, is for a look at the word that stands at `location`.
    static func diagnostic(message: String, at location: SourceLocation, bytes: [UInt8]) -> Diagnostic {
        if message.contains("invalid utf-8") { return .error(at: location, "the file is not valid UTF-8") }
        guard message.hasPrefix(prefix) else { return .error(at: location, SafeText.visible(message)) }
        let rest = message.dropFirst(prefix.count)
        if rest.contains("string:"), isUnclosed(rest, at: location, in: bytes) {
            return .error(at: location, "the text is not closed: the quote at its end is missing")
        }
        if valueParts.contains(where: { rest.hasPrefix($0 + ":") }),
            let word = Word(at: location, in: bytes), let reason = reason(for: word.text)
        {
            let start = SourceLocation(file: location.file, line: location.line, column: word.column)
            return .error(at: start, reason)
        }
        return .error(at: location, "syntax error in " + SafeText.visible(String(rest)))
    }

    /// Whether a text ends with its line or with the file instead of with its quote.
    ///
    /// toml++ calls the first a control character that is not allowed.
    private static func isUnclosed(
        _ rest: Substring, at location: SourceLocation, in bytes: [UInt8]
    ) -> Bool {
        if rest.hasSuffix("encountered end-of-file") { return true }
        guard rest.contains("control characters other than TAB") else { return false }
        let lines = bytes.split(
            separator: 0x0a, maxSplits: location.line, omittingEmptySubsequences: false)
        guard location.line >= 1, location.line <= lines.count else { return false }
        let line = lines[location.line - 1]
        let text = String(decoding: line.last == 0x0d ? line.dropLast() : line, as: UTF8.self)
        return location.column > text.unicodeScalars.count
    }

    private static func reason(for word: String) -> String? {
        let shown = SafeText.visible(word, limit: 40)
        switch word.lowercased() {
        case "": return nil
        case "true", "false", "yes", "no", "on", "off":
            return "\(shown) is not a value here: write true or false"
        default:
            return "\(shown) is not a value: text stands in quotes, \"\(shown)\""
        }
    }

    /// The word without white space that holds a place of the text.
    private struct Word {
        let text: String
        /// 1-based, in code points.
        let column: Int

        init?(at location: SourceLocation, in bytes: [UInt8]) {
            let lines = bytes.split(
                separator: 0x0a, maxSplits: location.line, omittingEmptySubsequences: false)
            guard location.line >= 1, location.line <= lines.count else { return nil }
            let scalars = Array(String(decoding: lines[location.line - 1], as: UTF8.self).unicodeScalars)
            guard location.column >= 1, location.column <= scalars.count else { return nil }
            var start = location.column - 1
            while start > 0, Self.isPart(scalars[start - 1]) { start -= 1 }
            var end = start
            while end < scalars.count, Self.isPart(scalars[end]) { end += 1 }
            column = start + 1
            text = scalars[start..<end].reduce(into: "") { $0.unicodeScalars.append($1) }
        }

        private static func isPart(_ scalar: Unicode.Scalar) -> Bool {
            !scalar.properties.isWhitespace && !"=\"'#,[]{}".unicodeScalars.contains(scalar)
        }
    }
}
