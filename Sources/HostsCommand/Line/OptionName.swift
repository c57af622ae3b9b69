import HostsAPI

/// Every option there is; one name means the same with each verb that takes it.
enum OptionName: String, Hashable, Sendable, CaseIterable {
    case json, socket, timeout, color, quiet, help, version
    case configDirectory = "config-dir"
    case stateDirectory = "state-dir"
    case follow, watch, after, limit, host, kind, category, level, yes
    case screen, agent, title, unknown
    case label, transport, tag, disabled, unset
    case backgroundKeepAlive = "background-keep-alive"
    case sessionRestore = "session-restore"
}

/// One option: how it is written, what it takes, what it does.
struct OptionSpecification: Hashable, Sendable {
    /// What a value must be.
    enum Value: Hashable, Sendable {
        case none
        case text(String)
        case path(String)
        case host
        /// Of a key, as ssh-keygen -l shows it.
        case fingerprint
        /// A whole number in a range.
        case count(ClosedRange<Int>)
        /// Seconds, with a fraction, above 0.
        case seconds(upTo: Double)
        case choice([String])
        /// Some of these, with commas between.
        case choices([String])
        /// Words with commas between; given again, the option adds to them.
        case words(String)
    }

    let name: OptionName
    let short: Character?
    let value: Value
    let summary: String

    init(_ name: OptionName, short: Character? = nil, value: Value = .none, _ summary: String) {
        self.name = name
        self.short = short
        self.value = value
        self.summary = summary
    }
}

extension OptionSpecification.Value {
    /// What stands for the value in help; nil when there is none.
    var placeholder: String? {
        switch self {
        case .none: nil
        case .text(let name), .path(let name): name
        case .host: "HOST"
        case .fingerprint: "FINGERPRINT"
        case .count: "N"
        case .seconds: "SECONDS"
        case .choice(let words): words.count <= 3 ? words.joined(separator: "|") : "WORD"
        case .choices: "WORD,..."
        case .words(let name): name + ",..."
        }
    }

    /// What is wrong with a text, as "must be ..."; nil if it is good.
    func objection(to text: String) -> String? {
        switch self {
        case .none: return nil
        case .text, .path, .host, .words: return text.isEmpty ? "must not be empty" : nil
        case .fingerprint:
            return TrustBody.isFingerprint(text)
                ? nil : "must be a fingerprint as ssh-keygen -l shows it, SHA256:..."
        case .count(let range):
            guard let number = Int(text), range.contains(number) else {
                return "must be a number from \(range.lowerBound) to \(range.upperBound)"
            }
            return nil
        case .seconds(let limit):
            guard let number = Double(text), number > 0, number <= limit else {
                return "must be a number of seconds above 0 and up to \(Int(limit))"
            }
            return nil
        case .choice(let words):
            return words.contains(text) ? nil : "must be one of \(words.joined(separator: ", "))"
        case .choices(let words):
            let parts = text.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
            return parts.allSatisfy(words.contains) ? nil : "must be some of \(words.joined(separator: ", "))"
        }
    }
}
