import HostsConfig
import HostsDetection
import HostsModel
import Testing

@Suite struct AgentRulesFileTests {
    private static let good = """
        schema = 1
        agent = "toy"
        [process]
        names = ["toy"]
        [[rules]]
        name = "busy"
        stage = "status-row"
        means = "busy"
        when = [{ region = "screen", pattern = '^working' }]
        """

    @Test func `a small file gives rules`() throws {
        let (rules, diagnostics) = AgentRulesFile.load(text: Self.good, file: "toy.toml")
        #expect(diagnostics == [])
        let toy = try #require(rules)
        #expect(toy.name.rawValue == "toy")
        #expect(toy.rules.map(\.name) == ["busy"])
        #expect(
            toy.rules[0].when[0].pattern.location == SourceLocation(file: "toy.toml", line: 9, column: 40))
    }

    @Test(arguments: [
        ("schema = 1", "schema = 2", "2 is out of range: schema takes a whole number from 1 to 1"),
        ("schema = 1", "", "\"schema\" is missing: write schema = 1"),
        (
            "agent = \"toy\"", "agent = \"../toy\"",
            "a name has 1 to 63 of the characters a-z 0-9 . _ -, a letter first"
        ),
        ("names =", "nmaes =", "unknown key \"nmaes\", did you mean \"names\"?"),
        ("\"status-row\"", "\"statusrow\"", "did you mean \"status-row\"?"),
        (
            "means = \"busy\"", "means = \"needs-you\"",
            "\"needs-you\" needs a \"reason\", and nothing else takes one"
        ),
        ("'^working'", "'^work(ing'", "this is no pattern: missing closing parenthesis (byte 9 of it)"),
        ("\"screen\"", "\"screan\"", "did you mean \"screen\"?"),
        (
            "when = [{ region = \"screen\", pattern = '^working' }]", "when = []",
            "the rule needs a condition in \"when\""
        ),
        ("[\"toy\"]", "[\"a/b\"]", "the base name of a program: no slash, comma, colon or blank"),
        ("[\"toy\"]", "\"toy\"", "this is a string; wanted is an array of strings"),
        ("means = \"busy\"", "means = \"busy\"\ndwell = true", "only \"needs-you\" takes \"dwell\""),
        (
            "[[rules]]", "[composer]\ntop = '^-'\nprompt = '^>'\n[[rules]]",
            "\"top\" and \"row\" need a \"bottom\""
        ),
        ("[[rules]]", "[[composer]]\nbottom = '^-'\n[[rules]]", "\"prompt\" is missing"),
        (
            "[[rules]]", "[composer]\nprompt = '^>'\nrwo = '^'\n[[rules]]",
            "unknown key \"rwo\", did you mean \"row\"?"
        ),
        ("schema = 1", "schema = 1\ncomposer = 3", "this is an integer; wanted is a table"),
    ])
    func `what is wrong is said, and the file is not used`(_ old: String, _ new: String, _ message: String) {
        let text = Self.good.replacing(old, with: new, maxReplacements: 1)
        let (rules, diagnostics) = AgentRulesFile.load(text: text, file: "toy.toml")
        #expect(rules == nil)
        #expect(diagnostics.contains { $0.text.hasSuffix(message) }, "\(diagnostics)")
    }

    @Test
    func `a bad file disables its own agent only, and one of the person's takes the place of a shipped one`()
    {
        func file(_ name: String, _ text: String) -> ConfigurationFile {
            ConfigurationFile(name: name, path: "/x/" + name, content: .bytes(Array(text.utf8)))
        }
        let loaded = AgentRulesFolder.load(
            shipped: [file("bad.toml", "schema = "), file("toy.toml", Self.good)],
            own: [file("toy.toml", Self.good.replacing("\"toy\"\n[", with: "\"toy\"\nrevision = \"own\"\n["))]
        )
        #expect(loaded.book.agents.map(\.rules.name.rawValue) == ["toy"])
        #expect(loaded.book.agents.map(\.rules.revision) == ["own"])
        #expect(loaded.diagnostics.map(\.location.file) == ["/x/bad.toml"])
    }

    @Test func `a pattern that meets its limit is an error of the rule, never a match`() throws {
        let text = Self.good.replacing("'^working'", with: "'^(?:a|aa|b?)+$'")
        let (compiled, _) = AgentRulesFile.compile(bytes: Array(text.utf8), file: "toy.toml")
        let rules = try #require(compiled)
        let screen = Screen(capture: Array((String(repeating: "a", count: 60) + "!").utf8), title: "")
        let reading = ScreenClassifier(rules).read(screen)
        #expect(reading.meaning == nil)
        #expect(reading.failedRules == ["toy.busy"])
    }

    @Test func `an agent may have several composers, needs that dwell, and work that only moves`() throws {
        let text =
            Self.good.replacing("schema = 1", with: "schema = 1\nmoving_is_busy = true") + """

                [[rules]]
                name = "need"
                stage = "blocked-title"
                means = "needs-you"
                reason = "permission"
                dwell = true
                when = [{ region = "border", pattern = '^=' }]
                [[composer]]
                prompt = '^> '
                bottom = '^=+$'
                row = '^[> ]'
                [[composer]]
                prompt = '^: '
                """

        let (rules, diagnostics) = AgentRulesFile.load(text: text, file: "toy.toml")
        #expect(diagnostics == [])
        let toy = try #require(rules)
        #expect(toy.movingIsBusy)
        #expect(toy.layout.composers.map(\.prompt.text) == ["^> ", "^: "])
        #expect(toy.layout.composers.map(\.row?.text) == ["^[> ]", nil])
        #expect(toy.rules.map(\.isDwelling) == [false, true])
        #expect(toy.rules[1].when.map(\.region) == [.border])
    }

    @Test func `versions have open and closed ends`() {
        let range = VersionRange(minimum: "1.2", maximum: "2.1")
        let inside = ["1.2", "1.2.0", "1.10", "2.0.99", "2.1", "2.1.284"]
        let outside = ["1.1.9", "0.9", "2.2", "3"]
        #expect(inside.filter { !range.contains($0) } == [])
        #expect(outside.filter { range.contains($0) } == [])
    }
}
