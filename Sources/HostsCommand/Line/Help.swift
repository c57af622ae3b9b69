/// Help, made from the command table.
struct Help {
    let table: CommandTable

    private static let exitCodesTopic = "exit-codes"

    /// What there is help on.
    static func topics(of table: CommandTable) -> [String] {
        table.verbs.filter { $0.group != .hidden }.map(\.verb.rawValue) + [exitCodesTopic]
    }

    /// The page on a topic, or the overview.
    func page(on topic: String?) -> [StyledText] {
        guard let topic else { return overview }
        guard topic != Self.exitCodesTopic else { return exitCodes }
        guard let verb = Verb(rawValue: topic) else { return overview }
        return page(on: table.specification(of: verb))
    }

    private var overview: [StyledText] {
        var lines: [StyledText] = [
            "hostsctl: what your coding agents do, on every host you use", "",
            Self.usage("hostsctl [VERB] [OPTION]..."),
        ]
        let width = table.verbs.reduce(0) { max($0, $1.synopsis.count) }
        for group in VerbSpecification.Group.allCases where group != .hidden {
            let rows = table.verbs.filter { $0.group == group }
            lines += ["", StyledText(group.rawValue, .strong)]
            lines += Self.twoColumns(rows.map { ($0.synopsis, $0.summary) }, leftWidth: width)
        }
        lines += ["", StyledText("Options", .strong)] + options(table.common)
        lines += ["", "Exit codes: hostsctl help exit-codes"]
        return lines
    }

    private func page(on row: VerbSpecification) -> [StyledText] {
        var lines: [StyledText] = [
            StyledText("hostsctl \(row.verb.rawValue): \(row.summary)"), "",
            Self.usage("hostsctl \(row.synopsis) [OPTION]..."),
        ]
        if !row.details.isEmpty { lines += [""] + row.details.map { StyledText($0) } }
        if !row.options.isEmpty {
            lines += ["", StyledText("Options", .strong)] + options(row.options, of: row)
        }
        lines += ["", StyledText("Common options", .strong)] + options(table.common)
        if !row.examples.isEmpty {
            lines += ["", StyledText("Examples", .strong)] + row.examples.map { StyledText("  " + $0) }
        }
        return lines
    }

    private var exitCodes: [StyledText] {
        ["Exit codes of hostsctl", ""]
            + Self.twoColumns(ExitCode.allCases.map { (String($0.rawValue), $0.meaning) })
            + ["", "A reader that goes away ends hostsctl quietly by SIGPIPE, which shells show as 141."]
    }

    private func options(_ names: [OptionName], of verb: VerbSpecification? = nil) -> [StyledText] {
        Self.twoColumns(
            names.map { name in
                let option =
                    verb.map { table.specification(of: name, with: $0) } ?? table.specification(of: name)
                let short = option.short.map { "-\($0), " } ?? "    "
                let value = option.value.placeholder.map { " " + $0 } ?? ""
                return (short + "--" + name.rawValue + value, option.summary)
            })
    }

    private static func usage(_ text: String) -> StyledText {
        StyledText("usage: ", .faint) + StyledText(text)
    }

    private static func twoColumns(_ rows: [(String, String)], leftWidth: Int = 0) -> [StyledText] {
        let width = rows.reduce(leftWidth) { max($0, $1.0.count) }
        return rows.map { left, right in
            StyledText("  " + left + String(repeating: " ", count: width - left.count + 2) + right)
        }
    }
}
