import HostsAPI

/// `hostsctl status HOST`: one host in a line or two.
struct HostBrief {
    let document: HostDocument
    let appearance: Appearance

    /// Whether the host answers now; what `status HOST` is asked for.
    var isOnline: Bool { document.host.condition == "online" }

    var lines: [StyledText] {
        let words = HostWords(host: document.host, appearance: appearance)
        var line = StyledText(foreign: document.host.name, .strong) + "  " + words.state
        if !words.agents.isEmpty { line += StyledText("  agents: ") + words.agents }
        line += StyledText("  seen: ") + words.seen
        if !words.advice.isEmpty { return [line] + words.advice }
        return words.why.isEmpty ? [line] : [line, StyledText("  ") + words.why]
    }
}
