import HostsDetection
import HostsModel

/// Makes the rules of an agent out of a parsed rule file.
struct AgentRulesDecoder {
    static let ruleLimit = 200
    static let conditionLimit = 16
    /// Composers of one agent.
    static let shapeLimit = 8

    private let document: TOMLDocument
    private(set) var diagnostics: [Diagnostic] = []

    init(_ document: TOMLDocument) {
        self.document = document
    }

    /// The rules, or nil when something is missing that they cannot do without.
    mutating func decode() -> AgentRules? {
        var root = RuleTable(document.root, at: .whole(document.file))
        let rules = readRules(&root)
        root.finish()
        diagnostics = root.diagnostics
        return rules
    }

    private func readRules(_ root: inout RuleTable) -> AgentRules? {
        if root.value("schema") == nil {
            root.report(
                .error(
                    at: .whole(document.file), "\"schema\" is missing: write schema = \(AgentRules.schema)"))
        } else {
            _ = root.integer("schema", in: AgentRules.schema...AgentRules.schema)
        }
        let name = root.requiredString("agent").flatMap { readName(of: $0.text, at: $0.location, &root) }
        let revision = root.string("revision")?.text ?? ""
        let versions = root.child("versions") { table in
            VersionRange(minimum: table.string("minimum")?.text, maximum: table.string("maximum")?.text)
        }
        let keepPrevious = root.integer("keep_previous", in: 0...86_400) ?? 600
        let idleTitleIsStrong = root.boolean("idle_title_is_strong")
        let movingIsBusy = root.boolean("moving_is_busy")
        let process = root.child("process") { readIdentity(&$0) }
        if process == nil { root.report(.error(at: .whole(document.file), "the table [process] is missing")) }
        let composers = root.oneOrMore("composer", limit: Self.shapeLimit) { readComposer(&$0) }
        let dialogStart = root.child("dialog") { pattern("start", &$0) }
        let stateFile = root.child("state_file") { StateFileDecoder.stateFile(&$0) }
        let turnLog = root.child("turn_log") { TurnLogDecoder.turnLog(&$0) }
        let rules = root.tables("rules", limit: Self.ruleLimit) { readRule(&$0) }
        reportTwins(rules, &root)
        guard let name, let process else { return nil }
        return AgentRules(
            name: name, revision: revision, versions: versions ?? VersionRange(), process: process,
            layout: ScreenLayoutRules(composers: composers, dialogStart: dialogStart ?? nil),
            stateFile: stateFile ?? nil, turnLog: turnLog ?? nil, keepPrevious: .seconds(keepPrevious),
            idleTitleIsStrong: idleTitleIsStrong, movingIsBusy: movingIsBusy,
            rules: rules.map(\.rule))
    }

    // The name stands in paths, in a word of the probe's request, and in session lists.
    private func readName(of text: String, at location: SourceLocation, _ root: inout RuleTable) -> AgentName?
    {
        guard HostID(rawValue: text) != nil else {
            root.report(
                .error(at: location, "a name has 1 to 63 of the characters a-z 0-9 . _ -, a letter first"))
            return nil
        }
        return AgentName(rawValue: text)
    }

    private func readIdentity(_ table: inout RuleTable) -> ProcessIdentity {
        let names = table.strings("names")
        for name in names where !Self.isProgramName(name.text) {
            table.report(
                .error(at: name.location, "the base name of a program: no slash, comma, colon or blank"))
        }
        let paths = table.strings("paths").map { RulePattern($0.text, at: $0.location) }
        return ProcessIdentity(
            names: names.map(\.text), paths: paths,
            excludedArguments: table.strings("excluded_arguments").map(\.text),
            excludedCommands: table.strings("excluded_commands").map(\.text))
    }

    private static func isProgramName(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.count <= 63
            && text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f && ![0x2f, 0x2c, 0x3a].contains($0) }
    }

    private func readComposer(_ table: inout RuleTable) -> ComposerShape? {
        let notPrompt = pattern("not_prompt", &table)
        let top = pattern("top", &table)
        let bottom = pattern("bottom", &table)
        let row = pattern("row", &table)
        let continuation = pattern("continuation", &table)
        let absentAbove = pattern("absent_above", &table)
        let footerRows = table.integer("footer_rows", in: 0...40) ?? 6
        guard let prompt = table.requiredString("prompt") else { return nil }
        if bottom == nil, top != nil || row != nil {
            table.report(.error(at: prompt.location, "\"top\" and \"row\" need a \"bottom\""))
        }
        return ComposerShape(
            prompt: RulePattern(prompt.text, at: prompt.location), notPrompt: notPrompt, top: top,
            bottom: bottom, row: row,
            continuation: continuation, absentAbove: absentAbove, footerRows: footerRows)
    }

    // MARK: Rules

    private func readRule(_ table: inout RuleTable) -> (rule: ScreenRule, location: SourceLocation)? {
        let name = table.requiredString("name")
        let stage = table.choice("stage", among: ScreenRule.Stage.allCases.map { ($0.rawValue, $0) })
        let means = table.choice("means", among: Self.meanings)
        let reason = table.choice("reason", among: NeedsYouReason.allCases.map { ($0.rawValue, $0) })
        let strength = table.choice(
            "strength", among: [("weak", Evidence.Strength.weak), ("strong", .strong)])
        let flags = StateFileDecoder.readFlags(&table)
        let isQuiet = table.boolean("quiet")
        let isDwelling = table.boolean("dwell")
        let when = conditions("when", &table)
        let unless = conditions("unless", &table)
        _ = table.value("note")
        guard let name else { return nil }
        guard let stage, let means else {
            table.report(.error(at: name.location, "the rule needs \"stage\" and \"means\""))
            return nil
        }
        let meaning = Self.meaning(means, reason: reason)
        guard let meaning else {
            table.report(
                .error(at: name.location, "\"needs-you\" needs a \"reason\", and nothing else takes one"))
            return nil
        }
        if isDwelling, reason == nil {
            table.report(.error(at: name.location, "only \"needs-you\" takes \"dwell\""))
        }
        if when.isEmpty { table.report(.error(at: name.location, "the rule needs a condition in \"when\"")) }
        let rule = ScreenRule(
            name: name.text, stage: stage, meaning: meaning, strength: strength ?? .weak, flags: flags,
            isQuiet: isQuiet, isDwelling: isDwelling, when: when, unless: unless)
        return (rule, name.location)
    }

    private enum Means {
        case busy, idle, needsYou, previous
    }

    private static let meanings: [(word: String, value: Means)] = [
        ("busy", .busy), ("idle", .idle), ("needs-you", .needsYou), ("previous", .previous),
    ]

    private static func meaning(_ means: Means, reason: NeedsYouReason?) -> ScreenRule.Meaning? {
        switch means {
        case .busy: reason == nil ? .busy : nil
        case .idle: reason == nil ? .idle : nil
        case .previous: reason == nil ? .previous : nil
        case .needsYou: reason.map { .needsYou($0) }
        }
    }

    private func conditions(_ key: String, _ table: inout RuleTable) -> [ScreenCondition] {
        table.tables(key, limit: Self.conditionLimit) { condition in
            let region = condition.choice(
                "region", among: ScreenCondition.Region.allCases.map { ($0.rawValue, $0) })
            let rows = condition.integer("rows", in: 1...200)
            let after = pattern("after", &condition)
            guard let text = condition.requiredString("pattern") else { return nil }
            guard let region else {
                condition.report(.error(at: text.location, "the condition needs a \"region\""))
                return nil
            }
            return ScreenCondition(
                region: region, rows: rows, after: after, pattern: RulePattern(text.text, at: text.location))
        }
    }

    private func reportTwins(_ rules: [(rule: ScreenRule, location: SourceLocation)], _ root: inout RuleTable)
    {
        var seen: Set<String> = []
        for (rule, location) in rules where !seen.insert(rule.name).inserted {
            let shown = SafeText.visible(rule.name, limit: 60)
            root.report(.error(at: location, "there is a rule \"\(shown)\" already"))
        }
    }

    private func pattern(_ key: String, _ table: inout RuleTable) -> RulePattern? {
        table.string(key).map { RulePattern($0.text, at: $0.location) }
    }
}
