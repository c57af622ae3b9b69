import HostsAPI

/// `hostsctl status`: the daemon, and what is wrong with anything.
struct StatusPage {
    let document: StatusDocument
    let appearance: Appearance

    var lines: [StyledText] {
        let age = Age.length(appearance.age(of: document.started.time))
        let title = StyledText(foreign: "hostsd \(document.version)", .strong)
        var facts = FactList()
        facts.add("hosts", SummaryWords(summary: document.summary).line)
        facts.add(
            "phase",
            foreign: document.phase + (document.holdsSleepDelay ? ", holds a delay before sleep" : ""))
        facts.add("config", foreign: document.configurationDirectory)
        facts.add("socket", foreign: document.socket)
        facts.add("hooks", hooks)
        facts.add("problems", document.problems.map { StyledText(foreign: $0, .bad) })
        facts.add("files", document.diagnostics.map { DiagnosticWords(diagnostic: $0).line })
        return [title + StyledText(", running for \(age), pid \(document.pid)")] + facts.lines
    }

    private var hooks: [StyledText] {
        guard !document.hooks.isEmpty else { return [StyledText("none: alerts reach nobody", .caution)] }
        return document.hooks.map { StyledText(foreign: $0.name) + ": " + HookWords(hook: $0).state }
    }
}
