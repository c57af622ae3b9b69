import HostsModel
import Testing

@testable import HostsCommand

/// The command line: what is understood, what is refused and with which words.
@Suite struct CommandLineTests {
    struct Good: Sendable, CustomTestStringConvertible {
        let arguments: [String]
        let expected: Invocation

        init(
            _ arguments: [String], _ verb: Verb, _ operands: [String] = [],
            values: [OptionName: String] = [:],
            flags: Set<OptionName> = []
        ) {
            self.arguments = arguments
            expected = Invocation(verb: verb, operands: operands, values: values, flags: flags)
        }

        var testDescription: String { "hostsctl " + arguments.joined(separator: " ") }
    }

    @Test(arguments: [
        Good([], .list),
        Good(["--json"], .list, flags: [.json]),
        Good(["list", "-q"], .list, flags: [.quiet]),
        Good(["status"], .status),
        Good(["status", "devbox"], .status, ["devbox"]),
        Good(["enable", "a", "b", "--json", "c"], .enable, ["a", "b", "c"], flags: [.json]),
        Good(["--socket", "/s", "show", "devbox"], .show, ["devbox"], values: [.socket: "/s"]),
        Good(["show", "devbox", "--socket=/s=t"], .show, ["devbox"], values: [.socket: "/s=t"]),
        Good(["show", "--", "--odd"], .show, ["--odd"]),
        Good(["--", "show", "-q"], .show, ["-q"]),
        Good(["show", "-"], .show, ["-"]),
        Good(["events", "-fq"], .events, flags: [.follow, .quiet]),
        Good(["events", "-fn5"], .events, values: [.limit: "5"], flags: [.follow]),
        Good(["events", "-n", "5", "-n", "6"], .events, values: [.limit: "6"]),
        Good(["-f", "events"], .events, flags: [.follow]),
        Good(
            ["logs", "--category", "hub,ssh", "--level=debug"], .logs,
            values: [.category: "hub,ssh", .level: "debug"]),
        Good(["--timeout=0.5"], .list, values: [.timeout: "0.5"]),
        Good(["--color", "never"], .list, values: [.color: "never"]),
        Good(["help"], .help),
        Good(["help", "exit-codes"], .help, ["exit-codes"]),
        Good(["--help"], .help),
        Good(["events", "-h"], .help, ["events"]),
        Good(["events", "--help", "--limit", "3"], .help, ["events"]),
        Good(["--version"], .version, flags: [.version]),
        Good(["completion", "fish"], .completion, ["fish"]),
        Good(["__complete", "logs", "--lev"], .complete, ["logs", "--lev"]),
        Good(
            ["list", "--state-dir", "/a", "--config-dir=/b"], .list,
            values: [.stateDirectory: "/a", .configDirectory: "/b"]),
    ])
    func `a good command line is understood`(_ c: Good) throws {
        #expect(try CommandLineParser(table: .standard).parse(c.arguments) == c.expected)
    }

    struct Bad: Sendable, CustomTestStringConvertible {
        let arguments: [String]
        let message: String
        let hint: String

        init(_ arguments: [String], _ message: String, hint: String) {
            self.arguments = arguments
            self.message = message
            self.hint = hint
        }

        var testDescription: String { "hostsctl " + arguments.joined(separator: " ") }
    }

    @Test(arguments: [
        Bad(["lst"], "there is no verb \"lst\"", hint: "did you mean list?"),
        Bad(["event"], "there is no verb \"event\"", hint: "did you mean events?"),
        Bad(["sess"], "there is no verb \"sess\"", hint: "did you mean sessions?"),
        Bad(["frobnicate"], "there is no verb \"frobnicate\"", hint: "hostsctl help"),
        Bad([""], "there is no verb \"\"", hint: "hostsctl help"),
        Bad(["\u{1b}[31m"], "there is no verb \"\\u{1b}[31m\"", hint: "hostsctl help"),
        Bad(["--jsn"], "there is no option --jsn", hint: "did you mean --json?"),
        Bad(["--nonsense=1"], "there is no option --nonsense", hint: "hostsctl help"),
        Bad(["-x"], "there is no option -x", hint: "hostsctl help"),
        Bad(["events", "-fx"], "there is no option -x", hint: "hostsctl help"),
        Bad(["list", "--follow"], "list does not take --follow", hint: "hostsctl help list"),
        Bad(["list", "-f"], "list does not take -f", hint: "hostsctl help list"),
        Bad(["-f"], "list does not take -f", hint: "hostsctl help list"),
        Bad(["list", "--socket"], "--socket needs a value: --socket PATH", hint: "hostsctl help"),
        Bad(["events", "-n"], "-n needs a value: -n N", hint: "hostsctl help"),
        Bad(["list", "--json=yes"], "--json takes no value", hint: "hostsctl help"),
        Bad(["list", "--socket="], "--socket must not be empty, not \"\"", hint: "hostsctl help"),
        Bad(["events", "-n0"], "-n must be a number from 1 to 10000, not \"0\"", hint: "hostsctl help"),
        Bad(
            ["events", "--limit", "ten"], "--limit must be a number from 1 to 10000, not \"ten\"",
            hint: "hostsctl help"),
        Bad(
            ["--timeout", "0"], "--timeout must be a number of seconds above 0 and up to 86400, not \"0\"",
            hint: "hostsctl help"),
        Bad(
            ["--timeout", "nan"],
            "--timeout must be a number of seconds above 0 and up to 86400, not \"nan\"",
            hint: "hostsctl help"),
        Bad(
            ["--timeout", "inf"],
            "--timeout must be a number of seconds above 0 and up to 86400, not \"inf\"",
            hint: "hostsctl help"),
        Bad(
            ["--color", "alway"], "--color must be one of auto, always, never, not \"alway\"",
            hint: "did you mean always?"),
        Bad(
            ["logs", "--level", "warn"],
            "--level must be one of trace, debug, info, notice, warning, error, critical, not \"warn\"",
            hint: "did you mean warning?"),
        Bad(
            ["logs", "--category", "hub,"],
            "--category must be some of \(CommandTable.categories.joined(separator: ", ")), not \"hub,\"",
            hint: "hostsctl help"),
        Bad(
            ["logs", "--category", "hub,atention"],
            "--category must be some of \(CommandTable.categories.joined(separator: ", ")), not \"hub,atention\"",
            hint: "did you mean attention?"),
        Bad(["show"], "show needs a HOST|SESSION", hint: "hostsctl help show"),
        Bad(["enable"], "enable needs a HOST", hint: "hostsctl help enable"),
        Bad(["probe", "a", "b"], "probe cannot do anything with \"b\"", hint: "hostsctl help probe"),
        Bad(["list", "a"], "list cannot do anything with \"a\"", hint: "hostsctl help list"),
        Bad(["help", "evnts"], "there is no help on \"evnts\"", hint: "did you mean events?"),
        Bad(["help", "__complete"], "there is no help on \"__complete\"", hint: "hostsctl help"),
        Bad(["bogus", "--help"], "there is no verb \"bogus\"", hint: "hostsctl help"),
        Bad(
            ["completion", "tcsh"], "there is no completion for \"tcsh\", only for bash, zsh, fish",
            hint: "hostsctl help completion"),
    ])
    func `a wrong command line is refused with what to do instead`(_ c: Bad) {
        let result = Stage().run(c.arguments)
        #expect(result.error == "hostsctl: \(c.message)\nhint: \(c.hint)\n")
        #expect(result.output == "")
        #expect(result.code == .usage)
    }

    @Test(arguments: Verb.allCases)
    func `every verb has a row, and every option of it is in the table`(_ verb: Verb) {
        let table = CommandTable.standard
        let row = table.specification(of: verb)
        #expect(row.summary.count <= 64)
        for option in row.options { #expect(table.specification(of: option).name == option) }
        #expect(Set(row.options).isDisjoint(with: table.common))
    }

    @Test func `the manual page is made from the table`() throws {
        try Golden.expect(Manual(table: .standard).page, file: "docs/hostsctl.1")
    }

    @Test func `no name is in the table twice`() {
        let table = CommandTable.standard
        #expect(Set(table.verbs.map(\.verb)).count == table.verbs.count)
        #expect(Set(table.options.map(\.name)) == Set(OptionName.allCases))
        #expect(table.options.count == OptionName.allCases.count)
        let letters = table.options.compactMap(\.short)
        #expect(Set(letters).count == letters.count)
    }

    @Test(arguments: Verb.allCases.filter { $0 != .complete })
    func `what a synopsis and the examples say is understood`(_ verb: Verb) throws {
        let row = CommandTable.standard.specification(of: verb)
        for example in row.examples {
            let command = (example.split(separator: "|").last ?? "").prefix { $0 != "&" && $0 != ">" }
            let words = command.split(separator: " ").map(String.init)
            #expect(words.first == "hostsctl")
            #expect(
                try CommandLineParser(table: .standard).parse(Array(words.dropFirst())).verb
                    == (words.count > 1 ? verb : .list))
        }
    }

    @Test(arguments: [0, 1, 2, 3, 4, 5, 6, 7, 8, 124, 130] as [Int32])
    func `the exit codes are those of the design`(number: Int32) throws {
        let code = try #require(ExitCode.allCases.first { $0.rawValue == number })
        #expect(!code.meaning.isEmpty)
        #expect(ExitCode.allCases.count == 11)
    }

    @Test(arguments: [
        ("list", "list", 0), ("lst", "list", 1), ("lits", "list", 1), ("", "abc", 3), ("abc", "", 3),
        ("ca", "abc", 3),
        ("kitten", "sitting", 3),
    ])
    func `the distance of two words`(left: String, right: String, distance: Int) {
        #expect(EditDistance.between(left, right) == distance)
        #expect(EditDistance.between(right, left) == distance)
    }
}
