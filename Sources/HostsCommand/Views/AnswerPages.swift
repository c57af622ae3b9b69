import HostsAPI

/// The answer to an action on a host.
struct ActionPage {
    let document: ActionDocument
    let appearance: Appearance

    var lines: [StyledText] { appearance.isQuiet ? [] : [StyledText(foreign: document.message)] }
}

/// `hostsctl check HOST`.
struct CheckPage {
    let document: CheckDocument
    let appearance: Appearance

    var lines: [StyledText] {
        guard !appearance.isQuiet else { return [] }
        let name = StyledText(foreign: document.host, .strong)
        var facts = FactList()
        facts.add("link", foreign: document.linkDetail)
        facts.add("connected", StyledText("in " + Age.precise(seconds: document.connectSeconds)))
        if let seconds = document.probeSeconds {
            facts.add("looked", StyledText("in " + Age.precise(seconds: seconds)))
        }
        if let sessions = document.sessions {
            facts.add("agents", StyledText(sessions == 0 ? "none" : String(sessions)))
        }
        guard document.passed else {
            var lines = [name + "  " + StyledText("×", .bad) + " not reached"]
            var facts = FactList()
            facts.add("reason", foreign: document.reason)
            facts.add("code", foreign: document.code)
            facts.add("hint", foreign: document.help)
            facts.add("gave up", StyledText("after " + Age.precise(seconds: document.connectSeconds)))
            lines += facts.lines
            return lines
        }
        return [name + "  " + StyledText("●", .good) + " reached"] + facts.lines
    }
}

/// `hostsctl reload`.
struct ReloadPage {
    let document: ReloadDocument
    let appearance: Appearance

    var hasErrors: Bool { document.diagnostics.contains { $0.severity == "error" } }

    var lines: [StyledText] {
        let diagnostics = document.diagnostics.map { DiagnosticWords(diagnostic: $0).line }
        guard !appearance.isQuiet else { return diagnostics }
        var changes: [String] = []
        for (word, names) in [
            ("added", document.added), ("changed", document.changed), ("removed", document.removed),
        ] where !names.isEmpty {
            changes.append(word + " " + names.joined(separator: ", "))
        }
        let count = document.hosts == 1 ? "1 host" : "\(document.hosts) hosts"
        let summary = changes.isEmpty ? "nothing changed" : changes.joined(separator: "; ")
        return [StyledText(foreign: "reloaded \(count): \(summary)")] + diagnostics
    }
}
