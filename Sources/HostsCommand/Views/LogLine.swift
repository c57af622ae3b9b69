import HostsAPI
import HostsModel

/// One line of the daemon's log.
struct LogLine {
    let log: LogView
    let appearance: Appearance

    /// Cells of the longest level, `critical`, and of the longest category, `background`.
    private static let levelWidth = 8
    private static let categoryWidth = 10

    var line: StyledText {
        let time =
            appearance.localTime.date(log.time.time) + " " + appearance.localTime.preciseClock(log.time.time)
        var line = StyledText(time, .faint) + "  " + Self.padded(log.level, ink, Self.levelWidth) + "  "
        line += Self.padded(log.category, .plain, Self.categoryWidth) + "  "
        line +=
            StyledText(foreign: log.message.isEmpty ? log.event : log.message)
            + (log.fields.isEmpty ? "" : " ")
        let fields = log.fields.sorted { $0.key < $1.key }
        let text = fields.map { " " + SafeText.visible($0.key) + "=" + Self.quoted($0.value) }.joined()
        return line + StyledText(text, .faint)
    }

    private var ink: Ink {
        switch log.level {
        case "trace", "debug": .faint
        case "warning": .caution
        case "error", "critical": .bad
        case "notice": .strong
        default: .plain
        }
    }

    private static func padded(_ word: String, _ ink: Ink, _ width: Int) -> StyledText {
        let text = StyledText(foreign: word, ink)
        return text + StyledText(String(repeating: " ", count: max(0, width - text.cells)))
    }

    private static func quoted(_ value: String) -> String {
        let text = SafeText.visible(value, limit: StyledText.foreignLimit)
        guard text.isEmpty || text.contains(where: { $0 == " " || $0 == "\"" || $0 == "=" }) else {
            return text
        }
        return "\"" + text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
    }
}
