import BenchReport
import HostsDetection
import HostsModel

/// Reads screens of 50 rows, each another one, and the same again.
struct ScreenBenchmark {
    private static let count = 1_000
    private static let budget = Duration.milliseconds(250)

    let book: RuleBook

    func run() -> [Row] {
        let clock = ContinuousClock()
        var slowest = (name: "", time: Duration.zero)
        var sum = Duration.zero
        for rules in book.agents {
            let screens = (0..<Self.count).map { Self.screen($0) }
            let classifier = ScreenClassifier(rules)
            var unknown = 0
            let time = clock.measure {
                for screen in screens {
                    let reading = classifier.read(Screen(capture: screen, title: "✳ topic"))
                    if reading.meaning == nil { unknown += 1 }
                }
            }
            sum += time
            if time > slowest.time { slowest = ("\(rules.rules.name), \(Self.count - unknown) read", time) }
        }
        let screens = (0..<Self.count).map { Self.screen($0) }
        let known = Set(screens.map { Screen.digest(of: $0, title: "✳ topic") })
        var same = 0
        let unchanged = clock.measure {
            for screen in screens where known.contains(Screen.digest(of: screen, title: "✳ topic")) {
                same += 1
            }
        }
        let mean = sum / book.agents.count
        return [
            Row(
                "\(Self.count) changed screens, mean of \(book.agents.count) agents", mean.milliseconds,
                budget: Self.budget.milliseconds, isMet: mean <= Self.budget),
            Row(
                "\(Self.count) changed screens, slowest (\(slowest.name))", slowest.time.milliseconds,
                budget: Self.budget.milliseconds, isMet: slowest.time <= Self.budget),
            Row("\(same) unchanged screens", unchanged.milliseconds),
        ]
    }

    /// A screen of Claude Code at work with 50 rows of 100 cells, whose words depend on a number.
    private static func screen(_ number: Int) -> [UInt8] {
        var rows = (0..<43).map { row in
            row % 6 == 0
                ? "● Step \(number * 43 + row): I look at the parser, and then at what calls it."
                : "  ⎿  line \(row) of file \(number).swift: let value = try reader.next(\(row * number)) // … and so on"
        }
        let rule = String(repeating: "─", count: 100)
        rows += [
            "", "✻ Percolating… (\(number)s · ↓ 1.2k tokens)", "", rule, "❯\u{a0}", rule,
            "  ⏵⏵ accept edits on (shift+tab to cycle)",
        ]
        return Array(rows.joined(separator: "\n").utf8)
    }
}
