import HostsAPI
import HostsModel

/// An agent session in the words of people.
struct SessionWords {
    let session: SessionView
    /// Whether its host is disabled: then it is history, and calls nobody.
    let isHistory: Bool
    let appearance: Appearance

    /// Where a session stands in the list, by what the person would want to see first.
    private var rank: Int {
        if isHistory { return 7 }
        switch session.state {
        case "needsYou": return 0
        case "busy": return 1
        case "unknown": return 2
        case "stopped": return 3
        case "idle": return 4
        case "exited": return 6
        default: return 5
        }
    }

    /// The order of the list; among those that need the person, who waits longest is first.
    static func isBefore(_ left: SessionWords, _ right: SessionWords) -> Bool {
        if left.rank != right.rank { return left.rank < right.rank }
        if left.session.stale != right.session.stale { return right.session.stale }
        if left.rank == 0, left.session.since != right.session.since {
            return left.session.since < right.session.since
        }
        return (left.session.host, left.session.place, left.session.id)
            < (right.session.host, right.session.place, right.session.id)
    }

    /// Symbol and words of the state.
    var state: StyledText {
        guard !isHistory else { return StyledText("○ " + words, .faint) }
        guard session.state != "needsYou" else {
            let reason = session.reason.map { StyledText(foreign: " " + $0, .strong) } ?? StyledText()
            return StyledText("! NEEDS YOU", .attention) + reason
        }
        guard !session.stale else { return StyledText("◌ " + words, .faint) }
        switch session.state {
        case "busy": return StyledText("●", .active) + StyledText(" " + words)
        case "idle": return StyledText("●", .good) + StyledText(" " + words)
        case "stopped": return StyledText("■", .caution) + StyledText(" " + words)
        case "exited": return StyledText("× " + words, .faint)
        default: return StyledText("?", .caution) + StyledText(" " + words)
        }
    }

    private var words: String {
        var words: String
        switch session.state {
        case "needsYou": words = "needs you" + (session.reason.map { ": " + $0 } ?? "")
        default: words = session.state
        }
        for flag in session.flags {
            switch flag {
            case "background": words += ", background work"
            case "rules-stale": words += ", rules do not fit"
            default: words += ", " + flag
            }
        }
        return SafeText.visible(words)
    }

    var agent: StyledText { StyledText(foreign: session.agent, isDimmed ? .faint : .plain) }
    var host: StyledText { StyledText(foreign: session.host, isDimmed ? .faint : .plain) }
    var place: StyledText { StyledText(foreign: session.place, isDimmed ? .faint : .plain) }

    var since: StyledText {
        StyledText(Age.ago(appearance.age(of: session.since.time)), isDimmed ? .faint : .plain)
    }

    /// For how long it has been so.
    var duration: StyledText {
        StyledText(Age.length(appearance.age(of: session.since.time)), isDimmed ? .faint : .plain)
    }

    /// When it was last seen; empty for what is in sight.
    var seen: StyledText {
        guard isDimmed else { return StyledText() }
        return StyledText(Age.ago(appearance.age(of: session.lastSeen.time)), .faint)
    }

    private var isDimmed: Bool { isHistory || session.stale }

    /// The table of those that are not understood: why, and the id by which they are explained.
    static func unknownTable(_ sessions: [SessionWords]) -> Table {
        var table = Table("STATE", "AGENT", "PLACE", "WHY", "SESSION")
        for words in sessions.sorted(by: isBefore) {
            let session = words.session
            let version = session.version.map { " " + $0 } ?? ""
            table.add([
                words.state, StyledText(foreign: session.agent + version), words.place,
                StyledText(foreign: session.evidence.map(\.rule).joined(separator: ", ")),
                StyledText(foreign: session.id),
            ])
        }
        return table
    }

    /// The table of many, in their order.
    static func table(_ sessions: [SessionWords]) -> Table {
        var table = Table("STATE", "AGENT", "HOST", "PLACE", "SINCE", "LAST SEEN")
        for words in sessions.sorted(by: isBefore) {
            table.add([words.state, words.agent, words.host, words.place, words.since, words.seen])
        }
        return table
    }
}
