/// What `hostsctl` can do.
enum Verb: String, Hashable, Sendable, CaseIterable {
    case list, status, show, sessions, explain
    case events, logs
    case attach
    case enable, disable, probe, resume, cancel, check, trust, unlock
    case add, remove, set
    case hooks, reload, refresh, debug
    case help, version, completion
    /// Asked by the completion scripts; not for people.
    case complete = "__complete"
}

/// One row of the command table.
struct VerbSpecification: Hashable, Sendable {
    enum Group: String, Hashable, Sendable, CaseIterable {
        case look = "Look"
        case follow = "Follow"
        case act = "Act"
        case records = "Records"
        case daemon = "Daemon"
        case more = "More"
        case hidden = ""
    }

    /// What an operand names, for completion.
    enum Operand: Hashable, Sendable {
        case nothing, host, hostOrSession, session, window, verb, shell, debug, word
        /// A host, and then what its record shall have.
        case hostAndSettings
    }

    /// What comes after the verb, beside options.
    struct Operands: Hashable, Sendable {
        let kind: Operand
        let name: String
        let count: ClosedRange<Int>
        /// How help writes them, where it is not by `name` and `count`.
        var text: String?

        static let none = Operands(kind: .nothing, name: "", count: 0...0)

        static func one(_ kind: Operand, _ name: String) -> Operands {
            Operands(kind: kind, name: name, count: 1...1)
        }

        static func optional(_ kind: Operand, _ name: String) -> Operands {
            Operands(kind: kind, name: name, count: 0...1)
        }

        static func some(_ kind: Operand, _ name: String) -> Operands {
            Operands(kind: kind, name: name, count: 1...CommandTable.operandLimit)
        }

        static func any(_ kind: Operand, _ name: String) -> Operands {
            Operands(kind: kind, name: name, count: 0...CommandTable.operandLimit)
        }
    }

    let verb: Verb
    let group: Group
    let operands: Operands
    /// Options of its own, beside the common ones.
    let options: [OptionName]
    /// Options that this verb takes without the value that they have elsewhere.
    let plain: Set<OptionName>
    let summary: String
    /// What more there is to say; a line each.
    let details: [String]
    let examples: [String]

    init(
        _ verb: Verb, _ group: Group, _ operands: Operands, options: [OptionName] = [],
        plain: Set<OptionName> = [], _ summary: String,
        details: [String] = [], examples: [String] = []
    ) {
        self.verb = verb
        self.group = group
        self.operands = operands
        self.options = options
        self.plain = plain
        self.summary = summary
        self.details = details
        self.examples = examples
    }

    /// The verb and its operands, as in `enable HOST...`.
    var synopsis: String {
        guard operands.count.upperBound > 0 else { return verb.rawValue }
        if let text = operands.text { return verb.rawValue + " " + text }
        let name = operands.name + (operands.count.upperBound > 1 ? "..." : "")
        return verb.rawValue + " " + (operands.count.lowerBound == 0 ? "[\(name)]" : name)
    }
}
