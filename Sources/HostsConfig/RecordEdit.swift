import HostsModel

/// One edit of a host's override.
package enum RecordEdit: Hashable, Sendable {
    case put(RecordChange)
    /// Takes the key out of the override, so that the record counts again.
    case takeAway(key: String)

    /// The key that it is about.
    package var key: String {
        switch self {
        case .put(let change): change.key
        case .takeAway(let key): key
        }
    }
}

/// A value for a key of a record, before anybody has looked whether it is one.
package enum RecordValueText: Hashable, Sendable {
    /// As typed on a command line: `true`, `Dev box`, `ml,office`.
    case typed(String)
    case flag(Bool)
    case words([String])
}

/// What is wrong with a key or a value that a person has given.
package struct RecordValueError: Error, Hashable, Sendable {
    /// One line: the key, the value, and what is allowed.
    package let message: String
}

extension RecordChange {
    /// Every key of a record, in the order of the documentation.
    package static let keys = RecordDraft.keys.map(\.name)

    /// Looks for a key by the name that a person has given.
    ///
    /// - Throws: That there is none, with the nearest one and all of them.
    package static func checkKey(_ name: String) throws(RecordValueError) {
        guard !keys.contains(name) else { return }
        let hint = NearestName.suggestion(for: name, among: keys).map { ", did you mean \"\($0)\"?" } ?? ""
        throw RecordValueError(
            message: "there is no key \"\(SafeText.visible(name, limit: 40))\"\(hint)"
                + " (keys: \(keys.joined(separator: ", ")))")
    }

    /// Reads a value by the same rules as the loader reads a file.
    ///
    /// - Parameters:
    ///   - name: The key.
    ///   - value: The value; a typed list has commas between its words.
    /// - Throws: What is wrong with the key or the value, and what is allowed.
    package init(_ name: String, _ value: RecordValueText) throws(RecordValueError) {
        try Self.checkKey(name)
        guard let key = RecordDraft.keys.first(where: { $0.name == name }) else {
            preconditionFailure("checkKey has found it")
        }
        let change: RecordChange?
        do throws(Diagnostic) {
            var draft = RecordDraft()
            let nowhere = SourceLocation.whole("")
            try key.read(TOMLValue(Self.content(of: value, for: name), at: nowhere), &draft)
            change = Self.change(name, of: draft)
        } catch {
            let takes = "\(name) takes \(Self.takes(key))"
            // A typed text has no kind that a person would know of.
            let problem = Self.isOfWrongKind(value, for: name) ? takes : "\(error.text); \(takes)"
            throw RecordValueError(message: "\(name)=\(SafeText.visible(value.text, limit: 80)): \(problem)")
        }
        guard let change else { preconditionFailure("every key has a change: a test goes through all") }
        self = change
    }

    private static func isOfWrongKind(_ value: RecordValueText, for key: String) -> Bool {
        switch value {
        case .typed: isFlag(key)
        case .flag: !isFlag(key)
        case .words: key != "tags"
        }
    }

    private static func isFlag(_ key: String) -> Bool { key == "enabled" || key == "background_keep_alive" }

    /// What a command line can give: no quotes, and commas for an array.
    private static func takes(_ key: ConfigurationKey<RecordDraft>) -> String {
        switch key.name {
        case "tags": "at most \(RecordDraft.tagLimit) words with commas between them"
        case "ssh", "label": "a text"
        default: key.takes.replacing("\"", with: "")
        }
    }

    private static func content(of value: RecordValueText, for key: String) -> TOMLValue.Content {
        switch value {
        case .flag(let flag): return .boolean(flag)
        case .words(let words): return array(words)
        case .typed(let text):
            if isFlag(key), text == "true" || text == "false" { return .boolean(text == "true") }
            guard key == "tags", !text.isEmpty else { return key == "tags" ? .array([]) : .string(text) }
            return array(text.split(separator: ",", omittingEmptySubsequences: false).map(String.init))
        }
    }

    private static func array(_ words: [String]) -> TOMLValue.Content {
        .array(words.map { TOMLValue(.string($0), at: .whole("")) })
    }

    private static func change(_ key: String, of draft: RecordDraft) -> RecordChange? {
        switch key {
        case "ssh": draft.destination.map { .destination($0) }
        case "label": draft.label.map { .label($0) }
        case "enabled": .enabled(draft.isEnabled)
        case "background_keep_alive": .backgroundKeepAlive(draft.backgroundKeepAlive)
        case "session_restore": .sessionRestore(draft.sessionRestore)
        case "transport": .transport(draft.transport)
        case "tags": .tags(draft.tags)
        default: nil
        }
    }
}

extension RecordValueText {
    fileprivate var text: String {
        switch self {
        case .typed(let text): text
        case .flag(let flag): String(flag)
        case .words(let words): words.joined(separator: ",")
        }
    }
}
