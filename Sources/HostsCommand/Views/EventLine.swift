import HostsAPI
import HostsModel

/// One event as a line.
struct EventLine {
    let event: EventView
    let appearance: Appearance

    /// Cells of the longest kind, `host.out-of-sync`.
    private static let kindWidth = 16

    var line: StyledText {
        let kind = StyledText(foreign: event.kind, ink)
        let space = String(repeating: " ", count: max(0, Self.kindWidth - kind.cells) + 2)
        var line = StyledText(appearance.localTime.dateAndTime(event.time.time), .faint) + "  " + kind
        line += StyledText(space) + StyledText(foreign: event.summary)
        return line + StyledText(foreign: remarks.map { " (\($0))" } ?? "", .faint)
    }

    private var ink: Ink {
        switch event.kind {
        case "needs.you", "host.needs-you": .attention
        case "turn.ended", "host.recovered": .good
        case "host.lost", "host.out-of-sync", "rules.stale": .caution
        case "config.error": .bad
        default: .plain
        }
    }

    /// What the summary does not say: that it was found late, and what became of it.
    private var remarks: String? {
        var remarks: [String] = []
        if event.late, event.gapSeconds.isFinite, (0..<1e12).contains(event.gapSeconds) {
            remarks.append("found after a gap of " + Age.length(.seconds(event.gapSeconds)))
        }
        switch event.delivery {
        case "delivered": break
        case "dropped": remarks.append("dropped: " + (event.dropReason ?? "?"))
        default: remarks.append(event.delivery)
        }
        return remarks.isEmpty ? nil : remarks.joined(separator: "; ")
    }
}
