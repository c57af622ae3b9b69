import HostsAPI
import HostsModel

/// A host in the words of people.
struct HostWords {
    let host: HostView
    let appearance: Appearance

    /// Where a host stands in the list: those that need the person first, disabled ones last.
    var rank: Int {
        switch host.condition {
        case "needsYou": 0
        case "disabled": 2
        default: 1
        }
    }

    /// Symbol and words of the condition.
    ///
    /// The symbols are one cell wide everywhere.
    var state: StyledText {
        switch host.condition {
        case "online": Self.mark("●", .good) + "online"
        case "checking": Self.mark("●", .caution) + "checking"
        case "connecting": Self.mark("◌", .caution) + "connecting"
        case "reconnecting": Self.mark("◌", .caution) + StyledText("reconnecting" + schedule)
        case "asleep": StyledText("○ asleep", .faint)
        case "disabled": StyledText("○ disabled", .faint)
        case "needsYou": StyledText("! NEEDS YOU", .attention)
        case "dormant": Self.mark("○", .caution) + "dormant"
        case "limited": Self.mark("◌", .caution) + StyledText("limited" + schedule)
        case "unsupported": Self.mark("×", .bad) + "unsupported"
        case "badRecord": Self.mark("×", .bad) + "bad record"
        default: StyledText("? ", .caution) + StyledText(foreign: host.condition)
        }
    }

    /// `1 needs you, 2 busy`; empty if nothing was ever observed.
    var agents: StyledText {
        guard host.lastObserved != nil else { return StyledText() }
        let counts = host.sessions
        let needsYou = counts.needsYou == 1 ? "1 needs you" : "\(counts.needsYou) need you"
        var parts: [StyledText] = []
        if counts.needsYou > 0 { parts.append(StyledText(needsYou, .strong)) }
        for (count, word) in [
            (counts.busy, "busy"), (counts.idle, "idle"), (counts.stopped, "stopped"),
            (counts.unknown, "unknown"),
        ] where count > 0 {
            parts.append(StyledText("\(count) \(word)"))
        }
        let all = parts.isEmpty ? StyledText("none", .faint) : parts.joined(", ")
        return host.enabled && !host.stale ? all : all.inked(.faint)
    }

    /// The age of the last observation.
    var seen: StyledText {
        let ink = host.stale || !host.enabled ? Ink.faint : .plain
        guard let age else { return StyledText("never", .faint) }
        return StyledText(Age.ago(age), ink)
    }

    /// Why the host is not online, or what the last look found odd.
    var why: StyledText {
        if let reason = host.reason, host.condition != "online" { return StyledText(foreign: reason) }
        return host.warnings.map { StyledText(foreign: $0, .faint) }.joined("; ")
    }

    /// Why a host is not well and what the person can do about it, whole; empty where waiting is the answer.
    var advice: [StyledText] {
        guard host.enabled, host.condition != "online", let help = host.help else { return [] }
        let hint = StyledText("hint: ", .faint) + StyledText(foreign: help)
        guard let reason = host.reason else { return [StyledText(foreign: host.name, .strong), hint] }
        return [StyledText(foreign: host.name, .strong) + ": " + StyledText(foreign: reason), hint]
    }

    /// The daemon's own figure where it gives one: it does not follow a clock that was set.
    private var age: Duration? {
        if let seconds = host.ageSeconds, seconds.isFinite, seconds >= 0, seconds < 1e12 {
            return .seconds(seconds)
        }
        return host.lastObserved.map { appearance.age(of: $0.time) }
    }

    /// `, attempt 2 in 4 s`.
    private var schedule: String {
        let attempt = host.attempt.map { ", attempt \($0)" } ?? ""
        guard let next = host.nextAttempt else { return attempt }
        let left = next.time.duration(since: appearance.now)
        let time = left < .seconds(1) ? "now" : "in " + Age.length(left)
        return attempt.isEmpty ? ", next " + time : attempt + " " + time
    }

    private static func mark(_ symbol: String, _ ink: Ink) -> StyledText { StyledText(symbol, ink) + " " }
}
