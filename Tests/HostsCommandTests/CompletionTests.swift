import HostsLog
import Testing

@testable import HostsCommand

@Suite struct CompletionTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let words: [String]
        let expected: [String]

        init(_ words: [String], _ expected: [String]) {
            self.words = words
            self.expected = expected
        }

        var testDescription: String { words.joined(separator: " ") + "<Tab>" }
    }

    @Test(arguments: [
        Case(["sta"], ["status"]),
        Case(["status", ""], ["build", "devbox"]),
        Case(["status", "d"], ["devbox"]),
        Case(["enable", "build", "d"], ["devbox"]),
        Case(["help", "ex"], ["explain", "exit-codes"]),
        Case(["completion", "z"], ["zsh"]),
        Case(["list", ""], []),
        Case(["events", "--fo"], ["--follow"]),
        Case(["list", "--fo"], []),
        Case(["--color", "a"], ["auto", "always"]),
        Case(["--color=n"], ["--color=never"]),
        Case(["logs", "--category", "hub,at"], ["hub,attention"]),
        Case(["logs", "--category=h"], ["--category=hub", "--category=hook", "--category=history"]),
        Case(["logs", "--host", "b"], ["build"]),
        Case(["--socket", "/s", "sho"], ["show"]),
        Case(["--socket=/s", "show", "de"], ["devbox"]),
        Case(["nonsense", "d"], []),
        Case(["show", "--", "de"], ["devbox"]),
        Case(["--config-dir", "/other", "show", ""], ["lab"]),
    ])
    func `Tab offers what fits`(_ c: Case) throws {
        var stage = Stage()
        stage.existing = ["/home/dev/.config/hostsd"]
        stage.files = [
            "/home/dev/.config/hostsd/hosts.d": [
                ".", "devbox.toml", "devbox.override.toml", "build.toml", "notes.txt", "build.toml~",
                "Bad Name.toml",
            ],
            "/other/hosts.d": ["lab.toml"],
        ]
        let result = stage.run(["__complete"] + c.words)
        #expect(result.output.split(separator: "\n").map(String.init) == c.expected)
        #expect(result.code == .success)
        // Tab must work, and fast, while the daemon hangs.
        #expect(stage.daemon.requests.isEmpty)
    }

    @Test func `the words of the log are those of the daemon`() {
        #expect(CommandTable.categories == LogCategory.allCases.map(\.rawValue))
        #expect(CommandTable.levels == LogLevel.allCases.map(\.rawValue))
    }
}
