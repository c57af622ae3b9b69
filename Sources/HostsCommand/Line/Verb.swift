/// What `hostsctl` can do.
enum Verb: String, Hashable, Sendable, CaseIterable {
    case list, status, show, sessions
    case events, logs
    case attach
    case enable, disable, probe, resume, cancel, check, trust, unlock
    case hooks, reload
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
        case daemon = "Daemon"
        case more = "More"
        case hidden = ""
    }

    /// What an operand names, for completion.
    enum Operand: Hashable, Sendable {
        case nothing, host, hostOrSession, window, verb, shell, word
    }

    /// What comes after the verb, beside options.
    struct Operands: Hashable, Sendable {
        let kind: Operand
        let name: String
        let count: ClosedRange<Int>

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
    let summary: String
    /// What more there is to say; a line each.
    let details: [String]
    let examples: [String]

    init(
        _ verb: Verb, _ group: Group, _ operands: Operands, options: [OptionName] = [], _ summary: String,
        details: [String] = [], examples: [String] = []
    ) {
        self.verb = verb
        self.group = group
        self.operands = operands
        self.options = options
        self.summary = summary
        self.details = details
        self.examples = examples
    }

    /// The verb and its operands, as in `enable HOST...`.
    var synopsis: String {
        guard operands.count.upperBound > 0 else { return verb.rawValue }
        let name = operands.name + (operands.count.upperBound > 1 ? "..." : "")
        return verb.rawValue + " " + (operands.count.lowerBound == 0 ? "[\(name)]" : name)
    }
}
