import HostsModel

/// One key that a file may hold: its name, what it takes, and how it is read into `Root`.
///
/// The keys of a file stand in one table (`Settings.keys`, `RecordDraft.keys`). The reader, the messages and
/// `docs/configuration.md` all come from it, so they cannot disagree.
package struct ConfigurationKey<Root: Sendable>: Sendable {
    /// The table it stands in, without brackets; empty for the top level.
    package let section: String
    package let name: String
    /// The values it takes, in words, with unit and range.
    package let takes: String
    /// The value when the key is not written, as it would be written in the file.
    package let defaultText: String
    /// What it means, in one sentence.
    package let meaning: String
    let read: @Sendable (TOMLValue, inout Root) throws(Diagnostic) -> Void

    /// `section.name`, or the name alone at the top level.
    package var path: String { section.isEmpty ? name : "\(section).\(name)" }

    /// The same key in a section.
    func placed(in section: String) -> ConfigurationKey {
        ConfigurationKey(
            section: section, name: name, takes: takes, defaultText: defaultText, meaning: meaning, read: read
        )
    }
}

/// A path to a member of `Root` that a table can hold.
typealias Member<Root, Value> = any WritableKeyPath<Root, Value> & Sendable

extension ConfigurationKey {
    static func boolean(
        _ name: String, _ member: Member<Root, Bool>, defaults: Root, _ meaning: String
    ) -> ConfigurationKey {
        ConfigurationKey(
            section: "", name: name, takes: "true or false", defaultText: String(defaults[keyPath: member]),
            meaning: meaning
        ) { value, root throws(Diagnostic) in
            guard case .boolean(let flag) = value.content else {
                throw .wrongKind(value, wanted: "true or false")
            }
            root[keyPath: member] = flag
        }
    }

    static func integer(
        _ name: String, _ member: Member<Root, Int>, in range: ClosedRange<Int>, defaults: Root,
        _ meaning: String
    ) -> ConfigurationKey {
        let takes = "a whole number from \(range.lowerBound) to \(range.upperBound)"
        return ConfigurationKey(
            section: "", name: name, takes: takes, defaultText: String(defaults[keyPath: member]),
            meaning: meaning
        ) { value, root throws(Diagnostic) in
            guard case .integer(let number) = value.content else { throw .wrongKind(value, wanted: takes) }
            guard let count = Int(exactly: number), range.contains(count) else {
                throw .error(at: value.location, "\(number) is out of range: \(name) takes \(takes)")
            }
            root[keyPath: member] = count
        }
    }

    static func seconds(
        _ name: String, _ member: Member<Root, Duration>, in range: ClosedRange<Double>, defaults: Root,
        _ meaning: String
    ) -> ConfigurationKey {
        let takes =
            "seconds from \(SettingText.number(range.lowerBound)) to \(SettingText.number(range.upperBound))"
        return ConfigurationKey(
            section: "", name: name, takes: takes,
            defaultText: SettingText.number(defaults[keyPath: member].seconds), meaning: meaning
        ) { value, root throws(Diagnostic) in
            root[keyPath: member] = try Self.duration(value, name: name, range: range, takes: takes)
        }
    }

    static func secondsList(
        _ name: String, _ member: Member<Root, [Duration]>, atMost count: Int, in range: ClosedRange<Double>,
        defaults: Root, _ meaning: String
    ) -> ConfigurationKey {
        let each =
            "seconds from \(SettingText.number(range.lowerBound)) to \(SettingText.number(range.upperBound))"
        let takes = "an array of 1 to \(count) numbers, each \(each)"
        let numbers = defaults[keyPath: member].map { SettingText.number($0.seconds) }
        return ConfigurationKey(
            section: "", name: name, takes: takes, defaultText: "[\(numbers.joined(separator: ", "))]",
            meaning: meaning
        ) { value, root throws(Diagnostic) in
            guard case .array(let items) = value.content else { throw .wrongKind(value, wanted: takes) }
            guard (1...count).contains(items.count) else {
                throw .error(at: value.location, "\(name) has \(items.count) items: it takes \(takes)")
            }
            var durations: [Duration] = []
            for item in items {
                durations.append(try Self.duration(item, name: name, range: range, takes: each))
            }
            root[keyPath: member] = durations
        }
    }

    /// A text; `problem` tells what is wrong with one, or nil.
    static func text(
        _ name: String, _ member: Member<Root, String?>, takes: String, defaultText: String,
        _ meaning: String,
        problem: @escaping @Sendable (String) -> String?
    ) -> ConfigurationKey {
        ConfigurationKey(section: "", name: name, takes: takes, defaultText: defaultText, meaning: meaning) {
            value, root throws(Diagnostic) in
            root[keyPath: member] = try Self.text(value, takes: takes, problem: problem)
        }
    }

    static func texts(
        _ name: String, _ member: Member<Root, [String]>, atMost count: Int, takes: String, _ meaning: String,
        problem: @escaping @Sendable (String) -> String?
    ) -> ConfigurationKey {
        ConfigurationKey(section: "", name: name, takes: takes, defaultText: "[]", meaning: meaning) {
            value, root throws(Diagnostic) in
            guard case .array(let items) = value.content else { throw .wrongKind(value, wanted: takes) }
            guard items.count <= count else {
                throw .error(at: value.location, "\(items.count) items: \(name) takes at most \(count)")
            }
            var texts: [String] = []
            for item in items {
                let text = try Self.text(item, takes: "a string in quotes", problem: problem)
                if !texts.contains(text) { texts.append(text) }
            }
            root[keyPath: member] = texts
        }
    }

    static func choice<Value: RawRepresentable<String> & CaseIterable & Sendable>(
        _ name: String, _ member: Member<Root, Value>, defaults: Root, _ meaning: String
    ) -> ConfigurationKey {
        let words = Value.allCases.map(\.rawValue)
        let takes = "one of " + words.map { "\"\($0)\"" }.joined(separator: ", ")
        return ConfigurationKey(
            section: "", name: name, takes: takes, defaultText: "\"\(defaults[keyPath: member].rawValue)\"",
            meaning: meaning
        ) { value, root throws(Diagnostic) in
            guard case .string(let word) = value.content else { throw .wrongKind(value, wanted: takes) }
            guard let choice = Value(rawValue: word) else {
                throw .unknownWord(word, at: value.location, name: name, words: words)
            }
            root[keyPath: member] = choice
        }
    }

    private static func duration(
        _ value: TOMLValue, name: String, range: ClosedRange<Double>, takes: String
    ) throws(Diagnostic) -> Duration {
        let seconds: Double
        switch value.content {
        case .integer(let number): seconds = Double(number)
        case .float(let number): seconds = number
        case .table, .array, .string, .boolean, .other: throw .wrongKind(value, wanted: takes)
        }
        // Not a number is in no range.
        guard range.contains(seconds) else {
            throw .error(
                at: value.location, "\(SettingText.number(seconds)) is out of range: \(name) takes \(takes)")
        }
        return .milliseconds(Int64((seconds * 1000).rounded()))
    }

    private static func text(
        _ value: TOMLValue, takes: String, problem: @Sendable (String) -> String?
    ) throws(Diagnostic) -> String {
        guard case .string(let text) = value.content else { throw .wrongKind(value, wanted: takes) }
        if let problem = problem(text) { throw .error(at: value.location, problem) }
        return text
    }
}

/// Values as people write them.
enum SettingText {
    /// A number without a needless fraction.
    static func number(_ value: Double) -> String {
        guard value.isFinite, value == value.rounded(), abs(value) < 1e15 else { return String(value) }
        return String(Int64(value))
    }
}

extension Diagnostic {
    static func wrongKind(_ value: TOMLValue, wanted: String) -> Diagnostic {
        var message = "this is \(value.kind); wanted is \(wanted)"
        if wanted == "true or false", case .string(let word) = value.content,
            word == "true" || word == "false"
        {
            message += ", without quotes"
        }
        return .error(at: value.location, message)
    }

    static func unknownWord(
        _ word: String, at location: SourceLocation, name: String, words: [String]
    ) -> Diagnostic {
        .error(
            at: location,
            "\"\(SafeText.visible(word, limit: 40))\" is no \(name) (\(words.joined(separator: ", ")))",
            suggestion: NearestName.suggestion(for: word, among: words))
    }
}
