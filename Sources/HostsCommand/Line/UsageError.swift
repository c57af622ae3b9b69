/// What is wrong with a command line.
enum UsageError: Error, Hashable, Sendable {
    case unknownVerb(String, suggestion: String?)
    case unknownOption(String, suggestion: String?)
    case optionNotTaken(String, by: Verb)
    case valueMissing(option: String, placeholder: String)
    case valueNotTaken(option: String)
    case valueWrong(option: String, value: String, objection: String, suggestion: String?)
    case operandMissing(Verb, name: String)
    case operandTooMany(Verb, first: String)
    case unknownTopic(String, suggestion: String?)
    case unknownShell(String)
    case unknownAction(String, suggestion: String?)
    /// A word after `set HOST` without a key or without a `=`.
    case settingWrong(String)
    case settingTwice(String)
    /// `explain` takes a session, or a screen and an agent.
    case explainWhat

    var message: String {
        switch self {
        case .unknownVerb(let word, _): "there is no verb \"\(word)\""
        case .unknownOption(let option, _): "there is no option \(option)"
        case .optionNotTaken(let option, let verb): "\(verb.rawValue) does not take \(option)"
        case .valueMissing(let option, let placeholder): "\(option) needs a value: \(option) \(placeholder)"
        case .valueNotTaken(let option): "\(option) takes no value"
        case .valueWrong(let option, let value, let objection, _): "\(option) \(objection), not \"\(value)\""
        case .operandMissing(let verb, let name): "\(verb.rawValue) needs a \(name)"
        case .operandTooMany(let verb, let first): "\(verb.rawValue) cannot do anything with \"\(first)\""
        case .unknownTopic(let word, _): "there is no help on \"\(word)\""
        case .unknownAction(let word, _):
            "debug cannot play \"\(word)\", only \(CommandTable.debugActions.joined(separator: ", "))"
        case .settingWrong(let word): "set takes KEY=VALUE, not \"\(word)\""
        case .settingTwice(let key): "the key \(key) is there twice"
        case .explainWhat: "explain needs a SESSION, or --screen FILE with --agent NAME"
        case .unknownShell(let word):
            "there is no completion for \"\(word)\", only for \(CommandTable.shells.joined(separator: ", "))"
        }
    }

    /// What to do instead.
    var hint: String {
        switch self {
        case .unknownVerb(_, let suggestion?), .unknownOption(_, let suggestion?),
            .valueWrong(_, _, _, let suggestion?), .unknownTopic(_, let suggestion?),
            .unknownAction(_, let suggestion?):
            "did you mean \(suggestion)?"
        case .optionNotTaken(_, let verb), .operandMissing(let verb, _), .operandTooMany(let verb, _):
            "hostsctl help \(verb.rawValue)"
        case .unknownVerb, .unknownOption, .unknownTopic, .valueMissing, .valueNotTaken, .valueWrong:
            "hostsctl help"
        case .unknownShell: "hostsctl help completion"
        case .unknownAction: "hostsctl help debug"
        case .settingWrong, .settingTwice: "hostsctl help set"
        case .explainWhat: "hostsctl help explain"
        }
    }
}
