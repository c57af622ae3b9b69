import HostsAPI

/// `hostsctl show HOST`: everything known of a host.
struct HostPage {
    let document: HostDocument
    let appearance: Appearance

    var lines: [StyledText] {
        let host = document.host
        let words = HostWords(host: host, appearance: appearance)
        var lines = [StyledText(foreign: host.name, .strong) + "  " + words.state]
        lines += facts(of: words).lines
        if !document.sessions.isEmpty { lines += ["", StyledText("Agents", .strong)] }
        for session in document.sessions.map({ self.words(of: $0) }).sorted(by: SessionWords.isBefore) {
            lines += agent(session)
        }
        if !document.record.isEmpty {
            lines += ["", StyledText("Record", .strong)] + record.map { "  " + $0 }
        }
        if !document.diagnostics.isEmpty {
            lines += ["", StyledText("Diagnostics", .strong)]
            lines += document.diagnostics.map { "  " + DiagnosticWords(diagnostic: $0).line }
        }
        return lines
    }

    private func words(of session: SessionView) -> SessionWords {
        SessionWords(session: session, isHistory: !document.host.enabled, appearance: appearance)
    }

    private func facts(of words: HostWords) -> FactList {
        let host = words.host
        var facts = FactList()
        if host.label != host.name { facts.add("label", foreign: host.label) }
        if host.condition != "online" { facts.add("reason", foreign: host.reason) }
        facts.add("code", foreign: host.code)
        if host.condition != "online" { facts.add("hint", foreign: host.help) }
        var seen = words.seen
        if let time = host.lastObserved?.time {
            seen += StyledText(" (\(appearance.localTime.dateAndTime(time)))", .faint)
        }
        facts.add("seen", seen)
        facts.add("agents", words.agents)
        let link = [host.link, host.linkDetail].compactMap { $0 }
        facts.add("link", foreign: link.isEmpty ? nil : link.joined(separator: ": "))
        facts.add("why", foreign: host.linkReason)
        facts.add("generation", StyledText(String(host.generation)))
        facts.add("boot", foreign: host.bootID)
        if !host.tags.isEmpty { facts.add("tags", foreign: host.tags.joined(separator: ", ")) }
        facts.add("warnings", host.warnings.map { StyledText(foreign: $0, .caution) })
        return facts
    }

    /// Two lines for one agent: what it does, and why we think so.
    private func agent(_ words: SessionWords) -> [StyledText] {
        var first = StyledText("  ") + words.state + "  " + words.agent
        if let version = words.session.version { first += StyledText(foreign: " " + version, .faint) }
        first += StyledText(" in ") + words.place + StyledText(", for ") + words.duration
        if !words.seen.isEmpty { first += StyledText(", last seen ", .faint) + words.seen }
        let evidence = words.session.evidence.map { EvidenceWords(evidence: $0).line }.joined(
            StyledText(", ", .faint))
        let id = StyledText(foreign: words.session.id, .faint)
        return evidence.isEmpty
            ? [first, "    " + id] : [first, "    " + id + StyledText("  because of ", .faint) + evidence]
    }

    private var record: [StyledText] {
        var table = Table("KEY", "VALUE", "FROM")
        for value in document.record {
            let origin = value.origin.map { StyledText(foreign: $0) } ?? StyledText("default", .faint)
            let text = value.value.isEmpty ? StyledText("none", .faint) : StyledText(foreign: value.value)
            table.add([StyledText(foreign: value.key), text, origin])
        }
        return table.lines(width: appearance.width.map { $0 - 2 }, heading: false)
    }
}

/// One reason to believe a state, in words.
struct EvidenceWords {
    let evidence: EvidenceView

    var line: StyledText {
        StyledText(foreign: evidence.rule)
            + StyledText(foreign: " (\(evidence.kind), \(evidence.strength))", .faint)
    }
}

/// Something wrong in a file, in the form that editors jump to.
struct DiagnosticWords {
    let diagnostic: DiagnosticView

    var line: StyledText {
        var place = diagnostic.file
        if diagnostic.line > 0 { place += ":\(diagnostic.line):\(diagnostic.column)" }
        let ink: Ink
        switch diagnostic.severity {
        case "error": ink = .bad
        case "warning": ink = .caution
        default: ink = .faint
        }
        return StyledText(foreign: place) + ": " + StyledText(foreign: diagnostic.severity, ink)
            + StyledText(foreign: ": " + diagnostic.message)
    }
}
