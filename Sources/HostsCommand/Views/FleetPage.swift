import HostsAPI

/// `hostsctl list`: every host, then every agent, and what the person can do.
struct FleetPage {
    let hosts: HostList
    let sessions: SessionList
    let appearance: Appearance

    var lines: [StyledText] {
        let words = hosts.hosts.map { HostWords(host: $0, appearance: appearance) }
            .sorted { ($0.rank, $0.host.name) < ($1.rank, $1.host.name) }
        var table = Table("HOST", "STATE", "AGENTS", "SEEN", "WHY")
        for host in words {
            let ink: Ink = host.host.enabled ? .strong : .faint
            // What needs advice is told below, where it is not cut.
            let why = host.advice.isEmpty || appearance.isQuiet ? host.why : StyledText()
            table.add([StyledText(foreign: host.host.name, ink), host.state, host.agents, host.seen, why])
        }
        var lines = appearance.lines(table)
        let agents = appearance.lines(SessionWords.table(sessionWords))
        if !agents.isEmpty { lines += [""] + agents }
        guard !appearance.isQuiet else { return lines }
        for advice in words.map(\.advice) where !advice.isEmpty { lines += [""] + advice }
        if !lines.isEmpty { lines.append("") }
        return lines + [SummaryWords(summary: hosts.summary).line]
    }

    private var sessionWords: [SessionWords] {
        let disabled = Set(hosts.hosts.filter { !$0.enabled }.map(\.name))
        return sessions.sessions.map {
            SessionWords(session: $0, isHistory: disabled.contains($0.host), appearance: appearance)
        }
    }
}

/// The fleet in one line.
struct SummaryWords {
    let summary: FleetSummary

    var line: StyledText {
        guard summary.hosts > 0 || summary.disabled > 0 else { return "no hosts are configured" }
        var line = StyledText(
            summary.hosts == 0
                ? "no host is enabled"
                : "\(summary.online) of \(summary.hosts) host\(summary.hosts == 1 ? "" : "s") online")
        switch summary.needsYou {
        case ..<1: line += StyledText(", nobody needs you")
        case 1: line += StyledText(", ") + StyledText("1 needs you", .attention)
        default: line += StyledText(", ") + StyledText("\(summary.needsYou) need you", .attention)
        }
        if summary.disabled > 0 { line += StyledText(", \(summary.disabled) disabled", .faint) }
        return line
    }
}
