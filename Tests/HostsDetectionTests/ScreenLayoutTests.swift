import HostsConfig
import HostsDetection
import HostsModel
import Testing

/// Where composers are found, told by what a rule sees in each region.
@Suite struct ScreenLayoutTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let composer: String
        let rows: [String]
        /// For each region the rows that it has.
        let seen: [String: [String]]

        init(_ description: String, _ composer: String, _ rows: [String], _ seen: [String: [String]]) {
            testDescription = description
            self.composer = composer
            self.rows = rows
            self.seen = seen
        }
    }

    private static let framed = "top = '^-+$'\nprompt = '^> '\nbottom = '^-+$'\nfooter_rows = 2"
    private static let barred = "row = '^[|]'\nprompt = '^[|]'\nbottom = '^=+$'\nfooter_rows = 1"
    private static let boxed = "top = '^[.]-+[.]$'\nprompt = '^[|] > '\nrow = '^[|]'\nbottom = \"^'-.*'$\""

    @Test(arguments: [
        Case(
            "between two rows", framed, ["a", "---", "> b", "  c", "---", "d"],
            ["body": ["a"], "composer": ["> b", "  c"], "border": ["---"], "footer": ["d"], "dialog": []]),
        Case(
            "an edge that is wrapped", framed, ["a", "---", "-", "> b", "---", "-", "d"],
            ["body": ["a"], "composer": ["> b"], "border": ["---", "-"], "footer": ["d"]]),
        Case(
            "too much below", framed, ["a", "---", "> b", "---", "d", "e", "f"],
            ["body": [], "composer": [], "border": [], "dialog": ["a", "---", "> b", "---", "d", "e", "f"]]),
        Case(
            "no prompt in it", framed, ["---", "b", "---"],
            ["composer": [], "dialog": ["---", "b", "---"]]),
        Case(
            "up a bar", barred, ["a", "|m", "", "|b", "|c", "====", "d"],
            ["body": ["a", "|m"], "composer": ["|b", "|c"], "border": ["===="], "footer": ["d"]]),
        Case(
            "a box whose edge says something", boxed, ["a", ".---.", "| > b", "| c", "'- busy -'"],
            ["body": ["a"], "composer": ["| > b", "| c"], "border": ["'- busy -'"], "footer": []]),
        Case(
            "a row that does not belong in the box", boxed, [".---.", "| > b", "c", "'---'"],
            ["composer": [], "border": []]),
    ])
    func `a composer is found`(_ c: Case) throws {
        for (region, rows) in c.seen {
            for row in Set(c.rows) {
                let text = """
                    schema = 1
                    agent = "toy"
                    [process]
                    names = ["toy"]
                    [composer]
                    \(c.composer)
                    [[rules]]
                    name = "seen"
                    stage = "composer"
                    means = "idle"
                    when = [{ region = "\(region)", pattern = '^\\Q\(row)\\E$' }]
                    """
                // A literal string of TOML has no apostrophe.
                let file = row.contains("'") ? text.replacing("'^\\Q\(row)\\E$'", with: "\"^\(row)$\"") : text
                let (compiled, diagnostics) = AgentRulesFile.compile(
                    bytes: Array(file.utf8), file: "toy.toml")
                #expect(diagnostics == [])
                let rules = try #require(compiled)
                let screen = Screen(capture: Array(c.rows.joined(separator: "\n").utf8), title: "")
                let isSeen = ScreenClassifier(rules).read(screen).meaning == .idle
                #expect(isSeen == (rows.contains(row) && !row.isEmpty), "\(region): \(row)")
            }
        }
    }

    @Test func `a need that dwells does so only as long as nothing else shows it`() throws {
        let text = """
            schema = 1
            agent = "toy"
            [process]
            names = ["toy"]
            [[rules]]
            name = "dialog"
            stage = "dialog"
            means = "needs-you"
            reason = "permission"
            when = [{ region = "screen", pattern = '^allow' }]
            [[rules]]
            name = "title"
            stage = "blocked-title"
            means = "needs-you"
            reason = "other"
            dwell = true
            when = [{ region = "title", pattern = '^!' }]
            """
        let (compiled, _) = AgentRulesFile.compile(bytes: Array(text.utf8), file: "toy.toml")
        let classifier = ScreenClassifier(try #require(compiled))
        func read(_ rows: String, _ title: String) -> ScreenReading {
            classifier.read(Screen(capture: Array(rows.utf8), title: title))
        }
        #expect(read("so", "!").isDwelling)
        #expect(read("allow", "!").isDwelling == false)
        #expect(read("allow", "").isDwelling == false)
        #expect(read("so", "").isDwelling == false)
    }
}
