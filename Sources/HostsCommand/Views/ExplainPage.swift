import HostsAPI
import HostsModel

/// `hostsctl explain SESSION`: the last looks at an agent session, and what came of each sign.
///
/// Looks that say the same one after the other are told once, with their number.
struct ExplainPage {
    private static let indent = 4

    let document: ExplainDocument
    let appearance: Appearance

    var lines: [StyledText] {
        var table = Table("OUTCOME", "SAYS", "SIGN")
        for sign in runs.flatMap({ $0[$0.count - 1].evidence }) { table.add(SignWords(sign: sign).cells) }
        // One table, so that its columns stand below each other; taken apart again here.
        var signs = table.lines(width: appearance.width.map { $0 - Self.indent }, heading: false)[...]
        var lines = heading
        for run in runs {
            lines.append(title(of: run))
            let count = run[run.count - 1].evidence.count
            let indent = StyledText(String(repeating: " ", count: Self.indent))
            lines += signs.prefix(count).map { indent + $0 }
            signs = signs.dropFirst(count)
        }
        return lines
    }

    private func title(of run: [LookView]) -> StyledText {
        let first = run[0]
        let span = appearance.localTime.preciseClock(first.time.time)
        let looks = run.count == 1 ? "" : " in \(run.count) looks"
        return StyledText(span) + "  "
            + StateWords(state: first.state, reason: first.reason, flags: first.flags).line
            + StyledText(foreign: "  \(Self.words(of: first.effect))\(looks)", .faint)
    }

    private var heading: [StyledText] {
        guard let now = document.now else {
            return [StyledText(foreign: document.session, .strong) + StyledText("  is gone", .faint)]
        }
        let words = SessionWords(session: now, isHistory: false, appearance: appearance)
        let agent = now.agent + (now.version.map { " " + $0 } ?? "")
        return [
            StyledText(foreign: document.session, .strong) + "  " + words.state + "  "
                + StyledText(foreign: "\(agent) in \(now.place)", .faint)
        ]
    }

    /// Looks without a difference but their time and the age of what was read.
    private var runs: [[LookView]] {
        var runs: [[LookView]] = []
        for look in document.looks {
            if let last = runs.last?.last, Self.isSame(last, look) {
                runs[runs.count - 1].append(look)
            } else {
                runs.append([look])
            }
        }
        return runs
    }

    private static func isSame(_ left: LookView, _ right: LookView) -> Bool {
        var left = left
        left.time = right.time
        let signs = left.evidence
        guard signs.count == right.evidence.count else { return false }
        for index in signs.indices { left.evidence[index].ageSeconds = right.evidence[index].ageSeconds }
        return left == right
    }

    private static func words(of effect: String) -> String {
        switch effect {
        case "changed": "seen"
        case "confirmed": "seen again"
        case "awaits-confirmation": "idle was seen; the next look must say so, too"
        case "dwells": "a question was seen; the next look must still see it"
        case "unseen": "nothing could be seen"
        case "unrecognised": "one look without a sign changes nothing"
        case "kept-previous": "the screen says nothing about the turn"
        default: effect
        }
    }
}

/// `hostsctl explain --screen`: what the rules see on one capture.
struct ScreenPage {
    let document: ScreenDocument
    let appearance: Appearance

    var lines: [StyledText] {
        var table = Table("OUTCOME", "SAYS", "SIGN")
        for sign in document.evidence { table.add(SignWords(sign: sign).cells) }
        let state = StateWords(state: document.state, reason: document.reason, flags: document.flags)
        return [state.line] + appearance.lines(table)
    }
}

/// A state with its reason and flags, in words.
struct StateWords {
    let state: String
    let reason: String?
    let flags: [String]

    var line: StyledText {
        let flags = flags.map { ", " + $0 }.joined()
        let ink: Ink =
            switch state {
            case "needsYou": .attention
            case "busy": .active
            case "idle": .good
            case "unknown": .caution
            default: .plain
            }
        return StyledText(foreign: Self.words(state, reason), ink) + StyledText(foreign: flags)
    }

    static func words(_ state: String, _ reason: String?) -> String {
        switch state {
        case "needsYou": "needs you" + (reason.map { ": " + $0 } ?? "")
        case "previous": "as before"
        default: state
        }
    }
}

/// One sign, what it says and what became of it.
struct SignWords {
    let sign: SignView

    var cells: [StyledText] {
        let isApplied = sign.outcome == "applied"
        let name =
            StyledText(foreign: sign.rule, isApplied ? .plain : .faint)
            + StyledText(foreign: sign.kind == "none" ? "" : " (\(sign.kind), \(sign.strength))", .faint)
        return [
            StyledText(foreign: sign.outcome, isApplied ? .strong : .faint),
            StyledText(foreign: StateWords.words(sign.says, sign.reason), isApplied ? .plain : .faint), name,
        ]
    }
}
