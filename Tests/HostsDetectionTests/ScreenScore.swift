import HostsDetection
import HostsModel
import Testing

/// How the screens of one mutation were read.
struct ScreenScore {
    private(set) var right = 0
    private(set) var unknown = 0
    /// Of `right`: screens that no rule knows, of an agent whose moving screen is work.
    private(set) var moving = 0
    /// A sentence for each screen that was read as something else than it shows.
    private(set) var wrong: [String] = []
    /// Per agent and state: right, unknown, wrong.
    private(set) var cells: [Cell: (right: Int, unknown: Int, wrong: Int)] = [:]

    struct Cell: Hashable {
        let agent: String
        let state: String
    }

    var total: Int { right + unknown + wrong.count }

    /// Reads every screen under a mutation.
    init(_ mutation: ScreenMutation) throws {
        var classifiers: [String: ScreenClassifier] = [:]
        for captured in ScreenMutation.screens {
            for item in try mutation.cases(of: captured) {
                let rules = try RuleFixtures.rules(item.rules)
                let classifier = classifiers[item.rules] ?? ScreenClassifier(rules)
                classifiers[item.rules] = classifier
                let screen = Screen(
                    capture: Array(item.rows.joined(separator: "\n").utf8), title: item.title)
                let reading = classifier.read(screen)
                var word = reading.word
                if Self.isHarmless(word, reading, mutation, item) { word = "unknown" }
                // Streams without a sign: whoever sees two looks sees that the screen moves.
                if word == "unknown", mutation == .none, rules.rules.movingIsBusy {
                    word = "busy"
                    moving += 1
                }
                count(word, reading, item)
            }
        }
    }

    /// Readings that tell no one anything: the next look is of the whole screen.
    private static func isHarmless(
        _ word: String, _ reading: ScreenReading, _ mutation: ScreenMutation, _ item: ScreenMutation.Case
    ) -> Bool {
        switch mutation {
        case .partial:
            // What looks like rest without proof needs a second look.
            word == "idle" && reading.strength == .weak
        case .heights:
            // A pane of a few rows may cut a dialog off: the work beside it is all there is to see.
            word == "busy" && item.rows.count < 8
        case .torn:
            // The seam may cut off what decides; but it must not make up a need.
            word != "waiting" && word != item.captured.state && word != item.other
        case .none, .truncated, .wrapped, .widths, .short, .scrollback, .quoted, .typed, .unknownGlyph,
            .unknownGlyphUntitled, .untitled, .foreign:
            false
        }
    }

    private mutating func count(_ word: String, _ reading: ScreenReading, _ item: ScreenMutation.Case) {
        let cell = Cell(agent: item.captured.agent, state: item.captured.state)
        if word == item.captured.state || word == item.other {
            right += 1
            cells[cell, default: (0, 0, 0)].right += 1
        } else if word == "unknown" || word == "previous" {
            unknown += 1
            cells[cell, default: (0, 0, 0)].unknown += 1
        } else {
            cells[cell, default: (0, 0, 0)].wrong += 1
            wrong.append(
                "\(item.captured.file) (\(item.detail)) is read as \(word) by "
                    + reading.evidence.map(\.rule).joined(separator: ", "))
        }
        for rule in reading.failedRules {
            wrong.append("\(item.captured.file) (\(item.detail)): \(rule) failed")
        }
    }
}
