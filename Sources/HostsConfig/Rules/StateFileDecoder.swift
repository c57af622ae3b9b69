import HostsDetection
import HostsModel

/// Makes the rules for an agent's own state file out of `[state_file]`.
enum StateFileDecoder {
    static let reasonLimit = 32
    static let states: [(word: String, value: StateFileRules.Status.State)] = [
        ("busy", .busy), ("idle", .idle), ("needs-you", .needsYou),
    ]

    static func stateFile(_ table: inout RuleTable) -> StateFileRules? {
        let variable = readVariable(&table)
        let home = table.requiredString("home")
        let folder = table.requiredString("folder")
        for path in [home, folder] { checkFolder(path, &table) }
        let keys = table.child("keys") { readKeys(&$0) }
        let statuses = table.child("states") { readStatuses(&$0) }
        let reasons = table.tables("reasons", limit: reasonLimit) { readReason(&$0) }
        guard let home, let folder else { return nil }
        return StateFileRules(
            variable: variable, home: home.text, folder: folder.text,
            keys: keys ?? StateFileRules.Keys(), statuses: statuses ?? [:], reasons: reasons)
    }

    /// The environment variable that names the agent's own folder; empty: there is none.
    static func readVariable(_ table: inout RuleTable) -> String {
        let variable = table.string("variable")
        if let variable, !StateFileRules.isVariable(variable.text) {
            table.report(.error(at: variable.location, "the name of an environment variable is wanted"))
        }
        return variable?.text ?? ""
    }

    static func checkFolder(_ path: (text: String, location: SourceLocation)?, _ table: inout RuleTable) {
        guard let path, !StateFileRules.isFolder(path.text) else { return }
        table.report(
            .error(at: path.location, "a relative folder of letters, digits and . _ - / is wanted"))
    }

    /// The flags that a rule or a status proves.
    static func readFlags(_ table: inout RuleTable) -> Set<SessionFlag> {
        let known: [(word: String, value: SessionFlag)] = SessionFlag.ofRules.map { ($0.rawValue, $0) }
        return Set(
            table.strings("flags").compactMap {
                table.choice($0.text, at: $0.location, name: "flag", among: known)
            })
    }

    private static func readKeys(_ table: inout RuleTable) -> StateFileRules.Keys {
        var keys = StateFileRules.Keys()
        if let text = table.string("start")?.text { keys.start = text }
        if let text = table.string("status")?.text { keys.status = text }
        if let text = table.string("detail")?.text { keys.detail = text }
        if let text = table.string("version")?.text { keys.version = text }
        return keys
    }

    private static func readStatuses(_ table: inout RuleTable) -> [String: StateFileRules.Status] {
        let members = table.members { _, status -> StateFileRules.Status? in
            let flags = readFlags(&status)
            return status.choice("state", among: states).map {
                StateFileRules.Status(state: $0, flags: flags)
            }
        }
        return Dictionary(members.map { ($0.key, $0.value) }, uniquingKeysWith: { first, _ in first })
    }

    private static func readReason(_ table: inout RuleTable) -> StateFileRules.Reason? {
        let reason = table.choice("reason", among: NeedsYouReason.allCases.map { ($0.rawValue, $0) })
        guard let pattern = table.requiredString("pattern"), let reason else { return nil }
        return StateFileRules.Reason(pattern: RulePattern(pattern.text, at: pattern.location), reason: reason)
    }
}
