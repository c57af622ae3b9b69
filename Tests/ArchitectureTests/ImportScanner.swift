/// One `import` line of a Swift file.
struct ImportLine: Hashable, Sendable {
    let module: String
    /// 1-based.
    let line: Int
    /// The conditions of the `#if`s around it, outermost first; `!X` in the other branch.
    let conditions: [String]
}

/// Finds the imports in the text of a Swift file, without a compiler: declarations of one line, outside of comments
/// and of texts of several lines.
enum ImportScanner {
    private static let accessLevels: Set<String> = [
        "public", "package", "internal", "fileprivate", "private",
    ]
    private static let kinds: Set<String> = [
        "struct", "class", "enum", "protocol", "typealias", "func", "var", "let",
    ]

    static func imports(in text: String) -> [ImportLine] {
        var found: [ImportLine] = []
        var conditions: [String] = []
        var isInText = false
        var isInComment = false
        for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            let words = line.split { $0 == " " || $0 == "\t" || $0 == "\r" }.map(String.init)
            if !isInText, !isInComment {
                if let module = module(of: words) {
                    found.append(ImportLine(module: module, line: index + 1, conditions: conditions))
                }
                follow(words, conditions: &conditions)
            }
            if !isInText { isInComment = endsInComment(line, startingIn: isInComment) }
            if !isInComment, line.count(of: "\"\"\"") % 2 == 1 { isInText.toggle() }
        }
        return found
    }

    private static func module(of words: [String]) -> String? {
        var rest = words[...]
        while let first = rest.first, first.hasPrefix("@") || accessLevels.contains(first) {
            rest.removeFirst()
        }
        guard rest.popFirst() == "import" else { return nil }
        if let first = rest.first, kinds.contains(first) { rest.removeFirst() }
        guard let path = rest.first else { return nil }
        return path.split(whereSeparator: { $0 == "." || $0 == ";" }).first.map(String.init)
    }

    private static func follow(_ words: [String], conditions: inout [String]) {
        guard let first = words.first else { return }
        let condition = words.dropFirst().joined(separator: " ")
        switch first {
        case "#if": conditions.append(condition)
        case "#elseif": if conditions.popLast() != nil { conditions.append(condition) }
        case "#else": if let last = conditions.popLast() { conditions.append("!" + last) }
        case "#endif": _ = conditions.popLast()
        default: break
        }
    }

    private static func endsInComment(_ line: Substring, startingIn isInComment: Bool) -> Bool {
        let trimmed = line.drop { $0 == " " || $0 == "\t" }
        guard isInComment || trimmed.hasPrefix("/*") else { return false }
        return line.count(of: "*/") == 0
    }
}

extension StringProtocol {
    fileprivate func count(of text: String) -> Int {
        var count = 0
        var rest = self[...]
        while !rest.isEmpty {
            if rest.hasPrefix(text) {
                count += 1
                rest = rest.dropFirst(text.count)
            } else {
                rest = rest.dropFirst()
            }
        }
        return count
    }
}
