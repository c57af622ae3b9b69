/// Completion: the scripts of the shells, and the words that they ask for.
///
/// Words come from the command table and from the file names in `hosts.d`, never from the daemon: Tab must not hang.
struct Completion {
    let table: CommandTable
    /// The names of the configured hosts; asked only where a host is wanted.
    let hosts: () -> [String]

    /// The words that can stand at the end of a command line.
    ///
    /// - Parameter words: The words after `hostsctl`, the last one being typed and perhaps empty.
    /// - Returns: Whole words, in the order of the table.
    func candidates(for words: [String]) -> [String] {
        let typed = words.last ?? ""
        let before = Array(words.dropLast())
        if let equals = typed.firstIndex(of: "="), typed.hasPrefix("--") {
            let name = String(typed[..<equals].dropFirst(2))
            let begun = String(typed[typed.index(after: equals)...])
            return values(of: option(named: name), begun: begun).map { "--\(name)=\($0)" }
        }
        let isLiteral = before.contains("--")
        let word = verb(in: before)
        let verb = word.flatMap(Verb.init)
        if !isLiteral, let last = before.last, let option = option(spelled: last),
            option.value.placeholder != nil, !isPlain(option, with: verb)
        {
            return values(of: option, begun: typed)
        }
        if !isLiteral, typed.hasPrefix("-") {
            let names = table.common + (verb.map { table.specification(of: $0).options } ?? [])
            return names.map { "--" + $0.rawValue }.filter { $0.hasPrefix(typed) }
        }
        guard let verb else {
            guard word == nil else { return [] }
            return table.verbs.filter { $0.group != .hidden }.map(\.verb.rawValue).filter {
                $0.hasPrefix(typed)
            }
        }
        return operands(of: verb, after: before).filter { $0.hasPrefix(typed) }
    }

    /// Whether an option has no value with a verb.
    private func isPlain(_ option: OptionSpecification, with verb: Verb?) -> Bool {
        verb.map { table.specification(of: $0).plain.contains(option.name) } ?? false
    }

    private func operands(of verb: Verb, after words: [String]) -> [String] {
        switch table.specification(of: verb).operands.kind {
        case .hostAndSettings:
            words.last == verb.rawValue ? hosts() : CommandTable.recordKeys.map { $0 + "=" }
        case .host, .hostOrSession, .session, .window: hosts()
        case .verb: Help.topics(of: table)
        case .shell: CommandTable.shells
        case .debug: CommandTable.debugActions
        case .word, .nothing: []
        }
    }

    private func values(of option: OptionSpecification?, begun: String) -> [String] {
        switch option?.value {
        case .host: return hosts().filter { $0.hasPrefix(begun) }
        case .choice(let words): return words.filter { $0.hasPrefix(begun) }
        case .choices(let words):
            let parts = begun.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
            let done = parts.dropLast()
            let head = done.map { $0 + "," }.joined()
            return words.filter { $0.hasPrefix(parts.last ?? "") && !done.contains($0) }.map { head + $0 }
        case .words:
            guard option?.name == .unset else { return [] }
            return CommandTable.recordKeys.filter { $0.hasPrefix(begun) }
        case .none?, .text, .path, .fingerprint, .count, .seconds, nil: return []
        }
    }

    /// The first word that is no option and no value of one.
    private func verb(in words: [String]) -> String? {
        var takesNext = false
        for word in words {
            if takesNext {
                takesNext = false
            } else if word.hasPrefix("-") {
                takesNext = !word.contains("=") && option(spelled: word)?.value.placeholder != nil
            } else {
                return word
            }
        }
        return nil
    }

    private func option(named name: String) -> OptionSpecification? {
        table.options.first { $0.name.rawValue == name }
    }

    private func option(spelled word: String) -> OptionSpecification? {
        if word.hasPrefix("--") { return option(named: String(word.dropFirst(2))) }
        guard word.hasPrefix("-"), word.count == 2, let letter = word.last else { return nil }
        return table.options.first { $0.short == letter }
    }

    /// The script for one shell; nil for a shell that is not known.
    static func script(for shell: String) -> String? {
        switch shell {
        case "bash": bash
        case "zsh": zsh
        case "fish": fish
        default: nil
        }
    }

    private static let bash = #"""
        # bash completion for hostsctl
        _hostsctl() {
            local line="${COMP_LINE:0:COMP_POINT}" cur="${COMP_WORDS[COMP_CWORD]}"
            local -a words
            read -ra words <<<"$line"
            [[ $line == *[[:space:]] ]] && words+=("")
            local IFS=$'\n'
            COMPREPLY=($(hostsctl __complete "${words[@]:1}" 2>/dev/null))
            # Readline splits words at "=": what stands before it is typed already.
            if [[ ${words[-1]} == --*=* ]]; then
                COMPREPLY=("${COMPREPLY[@]#*=}")
            fi
        }
        complete -o default -F _hostsctl hostsctl

        """#

    private static let zsh = #"""
        #compdef hostsctl
        # zsh completion for hostsctl
        _hostsctl() {
            local -a found
            found=("${(@f)$(hostsctl __complete "${(@)words[2,CURRENT]}" 2>/dev/null)}")
            if [[ -n "${found[1]}" ]]; then
                compadd -Q -- "${found[@]}"
            else
                _files
            fi
        }
        if [[ "${funcstack[1]}" == _hostsctl ]]; then
            _hostsctl "$@"
        else
            compdef _hostsctl hostsctl
        fi

        """#

    private static let fish = #"""
        # fish completion for hostsctl
        function __hostsctl_complete
            set -l words (commandline -opc) (commandline -ct)
            hostsctl __complete $words[2..-1] 2>/dev/null
        end
        complete -c hostsctl -f -a '(__hostsctl_complete)'

        """#
}
