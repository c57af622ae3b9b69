import HostsLog
import Testing

@testable import HostsDaemon

@Suite struct OptionsTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let arguments: [String]
        let request: Options.Request

        init(_ arguments: String, runs change: (inout Options) -> Void) {
            testDescription = "hostsd " + arguments
            self.arguments = arguments.split(separator: " ").map(String.init)
            var options = Options()
            change(&options)
            request = .run(options)
        }

        init(_ arguments: String, _ request: Options.Request) {
            testDescription = "hostsd " + arguments
            self.arguments = arguments.split(separator: " ").map(String.init)
            self.request = request
        }
    }

    @Test(arguments: [
        Case("") { _ in },
        Case("--config-dir /c") { $0.configDirectory = "/c" },
        Case("--config-dir=/c") { $0.configDirectory = "/c" },
        Case("--state-dir /s --socket /r/api.sock --rules-dir /u") {
            $0.stateDirectory = "/s"
            $0.socket = "/r/api.sock"
            $0.rulesDirectory = "/u"
        },
        Case("--socket=/a=b") { $0.socket = "/a=b" },
        Case("--log-format json --log-level trace") {
            $0.logFormat = .json
            $0.logLevel = .trace
        },
        Case("--log-level debug --log-level error") { $0.logLevel = .error },
        Case("--help", .help),
        Case("-h", .help),
        Case("--version", .version),
        Case("--config-dir /c --version", .version),
        Case("--help --nonsense", .help),
    ])
    func `a good command line is understood`(_ c: Case) throws {
        #expect(try Options.parse(c.arguments) == c.request)
    }

    struct WrongCase: Sendable, CustomTestStringConvertible {
        let arguments: [String]
        let message: String

        init(_ arguments: String..., says message: String) {
            self.arguments = arguments
            self.message = message
        }

        var testDescription: String { "hostsd " + arguments.joined(separator: " ") }
    }

    @Test(arguments: [
        WrongCase("--colour", says: "unknown option --colour; see hostsd --help"),
        WrongCase("--colour=red", says: "unknown option --colour=red; see hostsd --help"),
        WrongCase("-v", says: "unknown option -v; see hostsd --help"),
        WrongCase("run", says: "unknown option run; see hostsd --help"),
        WrongCase("", says: "unknown option ; see hostsd --help"),
        WrongCase("--config-dir", says: "--config-dir needs a value"),
        WrongCase("--config-dir=", says: "--config-dir needs a value"),
        WrongCase("--config-dir", "", says: "--config-dir needs a value"),
        WrongCase("--config-dir", "here", says: "here must be an absolute path"),
        WrongCase("--state-dir", "./s", says: "./s must be an absolute path"),
        WrongCase("--socket", "~/s", says: "~/s must be an absolute path"),
        WrongCase("--rules-dir=rules", says: "rules must be an absolute path"),
        WrongCase("--socket", "/s", "--socket", says: "--socket needs a value"),
        WrongCase("--config-dir", "--help", says: "--help must be an absolute path"),
        WrongCase("--log-format", "xml", says: "xml is none of: text, json"),
        WrongCase(
            "--log-level=loud",
            says: "loud is none of: trace, debug, info, notice, warning, error, critical"),
        WrongCase(
            "--log-level", "Debug",
            says: "Debug is none of: trace, debug, info, notice, warning, error, critical"),
        WrongCase("--help=me", says: "--help takes no value"),
        WrongCase("--version=1", says: "--version takes no value"),
    ])
    func `a wrong command line says what is wrong`(_ c: WrongCase) {
        #expect(throws: Options.UsageError(message: c.message)) { try Options.parse(c.arguments) }
    }

    @Test func `the help names every option`() {
        for option in [
            "--config-dir", "--state-dir", "--socket", "--rules-dir", "--log-format", "--log-level", "--help",
            "--version",
        ] {
            #expect(Options.help.contains(option))
        }
        for level in LogLevel.allCases { #expect(Options.help.contains(level.rawValue)) }
    }
}
