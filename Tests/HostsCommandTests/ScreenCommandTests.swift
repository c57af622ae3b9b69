import FoundationEssentials
import HostsAPI
import HostsCommand
import HostsTestSupport
import Testing

/// `hostsctl explain --screen`: the rules on a capture, without a daemon.
@Suite struct ScreenCommandTests {
    private static let rules = """
        schema = 1
        agent = "toy"
        [process]
        names = ["toy"]
        [composer]
        prompt = '^> '
        [[rules]]
        name = "ask"
        stage = "dialog"
        means = "needs-you"
        reason = "plan"
        strength = "strong"
        when = [{ region = "dialog", rows = 1, pattern = '^go on\\?$' }]
        [[rules]]
        name = "title"
        stage = "title"
        means = "busy"
        when = [{ region = "title", pattern = '^\\*' }]
        [[rules]]
        name = "composer"
        stage = "composer"
        means = "idle"
        flags = ["background"]
        when = [{ region = "composer", pattern = '^> ' }]
        [[rules]]
        name = "viewer"
        stage = "viewer"
        means = "previous"
        when = [{ region = "screen", rows = 1, pattern = '^-- more --$' }]
        """

    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        try folder.makeFolder("shipped")
        try folder.write("shipped/toy.toml", Self.rules)
    }

    private func stage(_ screen: String) -> Stage {
        var stage = Stage()
        // No daemon is asked.
        stage.existing = []
        stage.shippedRules = folder.path("shipped")
        stage.captures = ["s.txt": screen]
        return stage
    }

    @Test func `the document has the members that are promised`() throws {
        let result = stage("words\n> go\n").run(
            "explain", "--screen", "s.txt", "--agent", "toy", "--title", "* x", "--json")
        #expect(result.code == .success)
        let evidence =
            #"{"ageSeconds":0,"kind":"title","outcome":"applied","reason":null,"rule":"toy.title","#
            + #""says":"busy","strength":"weak"},"#
            + #"{"ageSeconds":0,"kind":"composer","outcome":"outranked","reason":null,"rule":"toy.composer","#
            + #""says":"idle","strength":"weak"}"#
        #expect(
            result.output
                == #"{"evidence":["# + evidence + #"],"flags":[],"reason":null,"schema":1,"state":"busy"}"#
                + "\n")
    }

    @Test(arguments: [
        ("what now\ngo on?", "needs you: plan"), ("a\n> go", "idle, background"),
        ("a\n-- more --", "as before"),
        ("a\nb", "unknown"), ("", "unknown"),
    ])
    func `the state comes first, and why`(screen: String, first: String) {
        let result = stage(screen).run("explain", "--screen", "s.txt", "--agent", "toy")
        #expect(result.code == .success)
        #expect(result.output.split(separator: "\n").first.map(String.init) == first)
    }

    @Test func `a screen, an agent or rules that are not there are named`() throws {
        let missing = stage("").run("explain", "--screen", "t.txt", "--agent", "toy")
        #expect(
            missing.error.hasPrefix("hostsctl: t.txt: No such file or directory\nhint: tmux capture-pane"))
        #expect(missing.code == .failure)
        let unknown = stage("").run("explain", "--screen", "s.txt", "--agent", "tyo")
        #expect(unknown.error == "hostsctl: there are no rules for \"tyo\"\nhint: did you mean toy?\n")
        #expect(unknown.code == .notFound)
        try folder.write("shipped/bad.toml", "schema = 1\nagent = ")
        let bad = stage("").run("explain", "--screen", "s.txt", "--agent", "bad")
        #expect(bad.error.hasPrefix("hostsctl: \(folder.path("shipped/bad.toml")):2:"))
        #expect(bad.code == .badConfiguration)
    }

    @Test func `the person's own rules take the place of the shipped ones`() throws {
        try folder.makeFolder("config/agents.d")
        try folder.write(
            "config/agents.d/toy.toml", Self.rules.replacing(#"reason = "plan""#, with: #"reason = "login""#))
        let result = stage("go on?").run(
            "explain", "--screen", "s.txt", "--agent", "toy", "--config-dir", folder.path("config"))
        #expect(result.output.hasPrefix("needs you: login\n"))
    }

    @Test func `an own file with a fault is told, and nothing else is used in its place`() throws {
        try folder.makeFolder("config/agents.d")
        try folder.write("config/agents.d/toy.toml", "agent = 1")
        let result = stage("go on?").run(
            "explain", "--screen", "s.txt", "--agent", "toy", "--config-dir", folder.path("config"))
        #expect(result.code == .badConfiguration)
        #expect(result.error.contains("config/agents.d/toy.toml"))
    }
}
