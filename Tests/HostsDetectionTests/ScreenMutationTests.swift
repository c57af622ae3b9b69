import HostsDetection
import HostsModel
import Testing

/// Screens as they meet an eye that must not be fooled: with old rows above, quoted, typed, and without
/// title.
///
/// A reading is right or unknown; it never invents a need or the end of a turn.
@Suite struct ScreenMutationTests {
    static let screens = CapturedScreen.all.filter { $0.state != "exited" }
    static let pairs: [Pair] = screens.flatMap { below in
        screens.filter { $0.agent == below.agent }.map { Pair(above: $0, below: below) }
    }

    struct Pair: Sendable, CustomTestStringConvertible {
        let above: CapturedScreen
        let below: CapturedScreen

        var testDescription: String { "\(above.file) above \(below.file)" }
    }

    @Test(arguments: pairs)
    func `what was on the screen before does not count`(_ pair: Pair) throws {
        let rows = try rows(pair.above) + [""] + rows(pair.below)
        let reading = try read(rows, pair.below, title: pair.below.title)
        #expect(word(reading) == pair.below.state, "\(reading.evidence)")
    }

    @Test(arguments: pairs)
    func `a screen that is quoted in a tool's output does not count`(_ pair: Pair) throws {
        guard pair.below.state == "idle" else { return }
        let quoted = try rows(pair.above).suffix(14).enumerated().map { ($0 == 0 ? "  ⎿  " : "     ") + $1 }
        let all = try rows(pair.below)
        let composer = try #require(all.lastIndex { $0.hasPrefix("───") || $0.hasPrefix("› ") })
        // Above the composer, and above the upper rule of one that has two.
        let start = pair.below.agent == "claude" ? composer - 2 : composer
        let mutated = all[..<start] + ["● Bash(cat screen)"] + quoted + [""] + all[start...]
        let reading = try read(Array(mutated), pair.below, title: pair.below.title)
        #expect(["idle", "unknown"].contains(word(reading)), "\(reading.evidence)")
    }

    @Test(arguments: pairs)
    func `a screen that the person types does not count`(_ pair: Pair) throws {
        guard pair.below.state == "idle" else { return }
        let typed = try rows(pair.above).suffix(14).map { "  " + $0 }
        let all = try rows(pair.below)
        let prompt = try #require(all.lastIndex { $0.hasPrefix("❯") || $0.hasPrefix("› ") })
        let mutated = all[...prompt] + typed + all[(prompt + 1)...]
        let reading = try read(Array(mutated), pair.below, title: pair.below.title)
        #expect(["idle", "unknown"].contains(word(reading)), "\(reading.evidence)")
    }

    @Test(arguments: screens)
    func `a screen without its title is read right`(_ captured: CapturedScreen) throws {
        let reading = try read(try rows(captured), captured, title: "")
        #expect(word(reading) == captured.state, "\(reading.evidence)")
    }

    @Test(arguments: screens)
    func `a screen that is drawn in part is never a need, nor a turn end with proof`(
        _ captured: CapturedScreen
    ) throws {
        let all = try rows(captured)
        for count in 0..<all.count {
            let reading = try read(Array(all.prefix(count)), captured, title: "")
            guard captured.state == "busy" else { continue }
            #expect(word(reading) != "waiting", "\(count) rows: \(reading.evidence)")
            #expect(
                !(reading.meaning == .idle && reading.strength == .strong), "\(count): \(reading.evidence)")
        }
    }

    @Test(arguments: screens)
    func `the screen of another agent is read as unknown or as what it is`(_ captured: CapturedScreen) throws
    {
        let other = captured.agent == "claude" ? "codex" : "claude"
        let screen = Screen(capture: try captured.capture(), title: "")
        let reading = ScreenClassifier(try RuleFixtures.rules(other)).read(screen)
        #expect(["unknown", captured.state].contains(word(reading)), "\(reading.evidence)")
    }

    // MARK: Readings

    private func rows(_ captured: CapturedScreen) throws -> [String] {
        var rows = String(decoding: try captured.capture(), as: UTF8.self)
            .split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        while rows.last?.allSatisfy({ $0 == " " }) == true { rows.removeLast() }
        return rows
    }

    private func read(_ rows: [String], _ captured: CapturedScreen, title: String) throws -> ScreenReading {
        let screen = Screen(capture: Array(rows.joined(separator: "\n").utf8), title: title)
        return ScreenClassifier(try RuleFixtures.rules(captured.agent)).read(screen)
    }

    private func word(_ reading: ScreenReading) -> String {
        switch reading.meaning {
        case .busy: "busy"
        case .idle: "idle"
        case .needsYou: "waiting"
        case .previous: "previous"
        case nil: "unknown"
        }
    }
}
