import HostsAPI
import HostsModel

/// `hostsctl show SESSION`: everything known of an agent session.
struct SessionPage {
    let session: SessionView
    let appearance: Appearance

    var lines: [StyledText] {
        let words = SessionWords(session: session, isHistory: false, appearance: appearance)
        var facts = FactList()
        facts.add("agent", foreign: session.agent + (session.version.map { " " + $0 } ?? ""))
        facts.add("host", words.host)
        facts.add("place", words.place)
        facts.add("tmux", foreign: session.socket)
        facts.add("pid", StyledText(String(session.pid)))
        facts.add("since", moment(session.since.time))
        facts.add("seen", moment(session.lastSeen.time))
        facts.add("evidence", session.evidence.map { EvidenceWords(evidence: $0).line })
        if let clock = session.clock { facts.add("clock", Self.lines(of: clock)) }
        return [StyledText(foreign: session.id, .strong) + "  " + words.state] + facts.lines
    }

    private func moment(_ time: WallTime) -> StyledText {
        StyledText(Age.ago(appearance.age(of: time)))
            + StyledText(" (\(appearance.localTime.dateAndTime(time)))", .faint)
    }

    /// The turn clock: white is the agent's side, black the person's.
    private static func lines(of clock: TurnClockView) -> [StyledText] {
        let side = clock.side == "white" ? "the agent's" : "yours"
        return [
            StyledText("the move is \(side)" + (clock.running ? "" : "; the clock stands still")),
            StyledText("agent worked \(length(clock.agentSeconds))"),
            StyledText("waited for you \(length(clock.personSeconds))"),
            StyledText("out of sight \(length(clock.outOfSyncSeconds))"),
        ]
    }

    private static func length(_ seconds: Double) -> String {
        guard seconds.isFinite, seconds >= 0, seconds < 1e12 else { return "?" }
        return Age.length(.seconds(seconds))
    }
}
