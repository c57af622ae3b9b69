import HostsModel

/// Reads the members of one table of a rule file, each at most once, and collects what is wrong with them.
struct RuleTable {
    private let content: TOMLTable
    let location: SourceLocation
    /// Keys that were asked for: everything else in the table is unknown.
    private var known: [String] = []
    private(set) var diagnostics: [Diagnostic] = []

    init(_ table: TOMLTable, at location: SourceLocation) {
        content = table
        self.location = location
    }

    mutating func report(_ diagnostics: [Diagnostic]) { self.diagnostics += diagnostics }

    mutating func report(_ diagnostic: Diagnostic) { diagnostics.append(diagnostic) }

    /// The value of a key, if it is written.
    mutating func value(_ key: String) -> TOMLValue? {
        known.append(key)
        return content[key]?.value
    }

    mutating func string(_ key: String) -> (text: String, location: SourceLocation)? {
        guard let value = value(key) else { return nil }
        return string(value)
    }

    mutating func requiredString(_ key: String) -> (text: String, location: SourceLocation)? {
        guard content[key] != nil else {
            known.append(key)
            report(.error(at: location, "\"\(key)\" is missing"))
            return nil
        }
        return string(key)
    }

    mutating func strings(_ key: String) -> [(text: String, location: SourceLocation)] {
        guard let value = value(key) else { return [] }
        guard case .array(let items) = value.content else {
            report(.wrongKind(value, wanted: "an array of strings"))
            return []
        }
        return items.compactMap { string($0) }
    }

    mutating func integer(_ key: String, in range: ClosedRange<Int>) -> Int? {
        guard let value = value(key) else { return nil }
        let wanted = "a whole number from \(range.lowerBound) to \(range.upperBound)"
        guard case .integer(let number) = value.content else {
            report(.wrongKind(value, wanted: wanted))
            return nil
        }
        guard let result = Int(exactly: number), range.contains(result) else {
            report(.error(at: value.location, "\(number) is out of range: \(key) takes \(wanted)"))
            return nil
        }
        return result
    }

    mutating func boolean(_ key: String) -> Bool {
        guard let value = value(key) else { return false }
        guard case .boolean(let flag) = value.content else {
            report(.wrongKind(value, wanted: "true or false"))
            return false
        }
        return flag
    }

    /// One word of a closed set.
    mutating func choice<Choice>(_ key: String, among choices: [(word: String, value: Choice)]) -> Choice? {
        guard let (text, location) = string(key) else { return nil }
        return choice(text, at: location, name: key, among: choices)
    }

    mutating func choice<Choice>(
        _ text: String, at location: SourceLocation, name: String,
        among choices: [(word: String, value: Choice)]
    ) -> Choice? {
        if let found = choices.first(where: { $0.word == text }) { return found.value }
        report(.unknownWord(text, at: location, name: name, words: choices.map(\.word)))
        return nil
    }

    /// Reads a table below this one, if it is written.
    mutating func child<Result>(_ key: String, _ read: (inout RuleTable) -> Result) -> Result? {
        guard let value = value(key) else { return nil }
        return child(of: value, read)
    }

    /// Reads an array of tables; what is no table in it is reported.
    mutating func tables<Result>(_ key: String, limit: Int, _ read: (inout RuleTable) -> Result?) -> [Result]
    {
        guard let value = value(key) else { return [] }
        guard case .array(let items) = value.content else {
            report(.wrongKind(value, wanted: "an array of tables"))
            return []
        }
        guard items.count <= limit else {
            report(.error(at: value.location, "\(items.count) items: \(key) takes at most \(limit)"))
            return []
        }
        return items.compactMap { child(of: $0, read) ?? nil }
    }

    /// Reads a table, or an array of tables of the same kind.
    mutating func oneOrMore<Result>(
        _ key: String, limit: Int, _ read: (inout RuleTable) -> Result?
    ) -> [Result] {
        guard case .array = content[key]?.value.content else {
            return (child(key, read) ?? nil).map { [$0] } ?? []
        }
        return tables(key, limit: limit, read)
    }

    /// Every member of this table, whatever its key.
    mutating func members<Result>(_ read: (String, inout RuleTable) -> Result?) -> [(
        key: String, value: Result
    )] {
        known += content.members.map(\.key)
        return content.members.compactMap { member in
            let result = child(of: member.value) { read(member.key, &$0) }
            return (result ?? nil).map { (key: member.key, value: $0) }
        }
    }

    /// Reports the keys that nobody asked for.
    mutating func finish() {
        for member in content.members where !known.contains(member.key) && !member.key.hasPrefix("x-") {
            report(
                .error(
                    at: member.keyLocation, "unknown key \"\(SafeText.visible(member.key, limit: 60))\"",
                    suggestion: NearestName.suggestion(for: member.key, among: known)))
        }
    }

    private mutating func child<Result>(of value: TOMLValue, _ read: (inout RuleTable) -> Result) -> Result? {
        guard case .table(let table) = value.content else {
            report(.wrongKind(value, wanted: "a table"))
            return nil
        }
        var below = RuleTable(table, at: value.location)
        let result = read(&below)
        below.finish()
        diagnostics += below.diagnostics
        return result
    }

    private mutating func string(_ value: TOMLValue) -> (text: String, location: SourceLocation)? {
        guard case .string(let text) = value.content else {
            report(.wrongKind(value, wanted: "a string"))
            return nil
        }
        return (text, value.location)
    }
}
