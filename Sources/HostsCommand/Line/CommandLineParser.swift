import HostsAPI

/// Turns the words of a command line into an invocation, by the command table.
///
/// Options may stand anywhere, `--` ends them; `--name value`, `--name=value`, `-n value`, `-nvalue` and bundled
/// flags (`-fq`) are understood. Of an option that is given twice the last value counts.
struct CommandLineParser {
    let table: CommandTable

    /// One option as it was written.
    private struct Given {
        let specification: OptionSpecification
        let spelling: String
        let value: String?
    }

    func parse(_ arguments: [String]) throws(UsageError) -> Invocation {
        // The words of `__complete` are another command line: nothing in them is an option of this one.
        if arguments.first == Verb.complete.rawValue {
            return Invocation(verb: .complete, operands: Array(arguments.dropFirst()))
        }
        var words: [String] = []
        var given: [Given] = []
        var rest = arguments[...]
        while let word = rest.popFirst() {
            if word == "--" {
                words += rest
                break
            } else if word.hasPrefix("--") {
                given.append(try long(word, after: words.first, &rest))
            } else if word.hasPrefix("-"), word != "-" {
                given += try short(word, &rest)
            } else {
                words.append(word)
            }
        }
        return try invocation(words, given)
    }

    /// Reads a long option; some have no value with the verb that stands before them.
    private func long(
        _ word: String, after verb: String?, _ rest: inout ArraySlice<String>
    ) throws(UsageError) -> Given {
        let parts = word.dropFirst(2).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        let name = parts.first.map(String.init) ?? ""
        let spelling = "--" + name
        guard let row = table.options.first(where: { $0.name.rawValue == name }) else {
            let nearest = Suggestion.nearest(to: name, among: table.options.map(\.name.rawValue))
            throw .unknownOption(spelling, suggestion: nearest.map { "--" + $0 })
        }
        let known = verb.flatMap(Verb.init)
        let specification =
            known.map { table.specification(of: row.name, with: table.specification(of: $0)) } ?? row
        let attached = parts.count == 2 ? String(parts[1]) : nil
        guard let placeholder = specification.value.placeholder else {
            guard attached == nil else { throw .valueNotTaken(option: spelling) }
            return Given(specification: specification, spelling: spelling, value: nil)
        }
        guard let value = attached ?? rest.popFirst() else {
            throw .valueMissing(option: spelling, placeholder: placeholder)
        }
        return Given(specification: specification, spelling: spelling, value: value)
    }

    private func short(_ word: String, _ rest: inout ArraySlice<String>) throws(UsageError) -> [Given] {
        var given: [Given] = []
        var letters = word.dropFirst()
        while let letter = letters.popFirst() {
            let spelling = "-\(letter)"
            guard let specification = table.options.first(where: { $0.short == letter }) else {
                throw .unknownOption(spelling, suggestion: nil)
            }
            guard let placeholder = specification.value.placeholder else {
                given.append(Given(specification: specification, spelling: spelling, value: nil))
                continue
            }
            let attached = letters.isEmpty ? nil : String(letters)
            guard let value = attached ?? rest.popFirst() else {
                throw .valueMissing(option: spelling, placeholder: placeholder)
            }
            given.append(Given(specification: specification, spelling: spelling, value: value))
            break
        }
        return given
    }

    private func invocation(_ words: [String], _ given: [Given]) throws(UsageError) -> Invocation {
        var invocation = Invocation(verb: .list, operands: Array(words.dropFirst()))
        if let word = words.first {
            guard let verb = Verb(rawValue: word) else {
                let known = table.verbs.filter { $0.group != .hidden }.map(\.verb.rawValue)
                throw .unknownVerb(word, suggestion: Suggestion.nearest(to: word, among: known))
            }
            invocation.verb = verb
        }
        if given.contains(where: { $0.specification.name == .help }), invocation.verb != .help {
            let topic = words.first.map { [$0] } ?? []
            return Invocation(verb: .help, operands: topic)
        }
        if given.contains(where: { $0.specification.name == .version }) {
            invocation = Invocation(verb: .version)
        }
        for option in given { try take(option, into: &invocation) }
        try checkOperands(of: invocation)
        return invocation
    }

    private func take(_ option: Given, into invocation: inout Invocation) throws(UsageError) {
        let specification = option.specification
        guard table.takes(invocation.verb, specification.name) else {
            throw .optionNotTaken(option.spelling, by: invocation.verb)
        }
        guard let value = option.value else {
            invocation.flags.insert(specification.name)
            return
        }
        if let objection = specification.value.objection(to: value) {
            throw .valueWrong(
                option: option.spelling, value: value, objection: objection,
                suggestion: suggestion(for: value, specification.value))
        }
        if case .words = specification.value, let before = invocation.values[specification.name] {
            invocation.values[specification.name] = before + "," + value
        } else {
            invocation.values[specification.name] = value
        }
    }

    private func suggestion(for value: String, _ kind: OptionSpecification.Value) -> String? {
        switch kind {
        case .choice(let words): return Suggestion.nearest(to: value, among: words)
        case .choices(let words):
            let wrong = value.split(separator: ",").map(String.init).first { !words.contains($0) }
            return wrong.flatMap { Suggestion.nearest(to: $0, among: words) }
        case .none, .text, .path, .host, .fingerprint, .count, .seconds, .words: return nil
        }
    }

    private func checkOperands(of invocation: Invocation) throws(UsageError) {
        let verb = invocation.verb
        let operands = table.specification(of: verb).operands
        let count = operands.count
        if invocation.operands.count < count.lowerBound {
            throw .operandMissing(verb, name: operands.name)
        }
        if invocation.operands.count > count.upperBound {
            throw .operandTooMany(verb, first: invocation.operands[count.upperBound])
        }
        switch verb {
        case .help:
            guard let topic = invocation.operands.first, !Help.topics(of: table).contains(topic) else {
                return
            }
            throw .unknownTopic(
                topic, suggestion: Suggestion.nearest(to: topic, among: Help.topics(of: table)))
        case .completion:
            guard let shell = invocation.operands.first, !CommandTable.shells.contains(shell) else { return }
            throw .unknownShell(shell)
        case .set: try checkSettings(of: invocation)
        case .explain:
            let isScreen = invocation.values[.screen] != nil
            let isComplete =
                isScreen
                ? invocation.operands.isEmpty && invocation.values[.agent] != nil
                : !invocation.operands.isEmpty && invocation.values[.agent] == nil
                    && invocation.values[.title] == nil
            guard isComplete else { throw .explainWhat }
        case .debug:
            let word = invocation.operands.first ?? ""
            guard let action = DebugAction(rawValue: word) else {
                throw .unknownAction(
                    word, suggestion: Suggestion.nearest(to: word, among: CommandTable.debugActions))
            }
            guard action != .keepalive, let stranger = invocation.operands.dropFirst().first else { return }
            throw .operandTooMany(verb, first: stranger)
        case .list, .status, .show, .sessions, .events, .logs, .attach, .enable, .disable, .probe, .resume,
            .cancel,
            .check, .trust, .unlock, .add, .remove, .hooks, .reload, .refresh, .version, .complete:
            return
        }
    }

    /// Which values a key takes is the daemon's to say; here each key stands once and has a `=`.
    private func checkSettings(of invocation: Invocation) throws(UsageError) {
        let settings = invocation.operands.dropFirst()
        if let word = settings.first(where: { !$0.contains("=") || $0.hasPrefix("=") }) {
            throw .settingWrong(word)
        }
        guard !settings.isEmpty || invocation.values[.unset] != nil else {
            throw .operandMissing(.set, name: "KEY=VALUE")
        }
        var seen: Set<String> = []
        for key in settings.map({ String($0.prefix { $0 != "=" }) }) + invocation.words(.unset)
        where !seen.insert(key).inserted {
            throw .settingTwice(key)
        }
    }
}
