import HostsCommand
import Testing

/// What people and scripts see, whole.
@Suite struct OutputTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let arguments: [String]
        /// Cells of the terminal; nil for a pipe.
        let width: Int?
        let code: ExitCode

        init(_ command: String, width: Int? = nil, _ code: ExitCode = .success) {
            arguments = command.split(separator: " ").map(String.init)
            self.width = width
            self.code = code
        }

        var testDescription: String {
            arguments.joined(separator: " ") + (width.map { " on \($0) cells" } ?? " into a pipe")
        }

        var fileName: String {
            let words = arguments.map { $0.replacing("/", with: "_").replacing("--", with: "") }
            return words.joined(separator: "-") + (width.map { "@\($0)" } ?? "")
        }
    }

    private static let lists = [
        Case("list"), Case("list", width: 60), Case("list", width: 80), Case("list", width: 120),
        Case("list --color=never", width: 80), Case("list -q"), Case("list --json"),
        Case("list --color always"),
        Case("sessions"), Case("sessions", width: 60), Case("sessions --host devbox", width: 80),
        Case("sessions --json"), Case("sessions --unknown"), Case("sessions --unknown", width: 80),
    ]

    private static let pages = [
        Case("status"), Case("status", width: 80), Case("status --json"),
        Case("status devbox"), Case("status devbox", width: 60), Case("status -q devbox"),
        Case("status gpu1", .predicateFalse), Case("status gpu1 --json", .predicateFalse),
        Case("status -q gpu1", .predicateFalse), Case("status nobody", .notFound),
        Case("status nobody --json", .notFound),
        Case("show devbox"), Case("show devbox", width: 60), Case("show devbox", width: 120),
        Case("show devbox --json"),
        Case("show gpu1"), Case("show nobody", .notFound),
        Case("show devbox/4242-1f0c9a7be2d35c61"), Case("show devbox/4242-1f0c9a7be2d35c61", width: 80),
        Case("show devbox/4242-1f0c9a7be2d35c61 --json"),
        Case("explain devbox/4242-1f0c9a7be2d35c61"),
        Case("explain devbox/4242-1f0c9a7be2d35c61", width: 100),
        Case("explain devbox/4242-1f0c9a7be2d35c61 --json"), Case("explain devbox/1-0", .notFound),
        Case("explain", .usage), Case("explain --screen a.txt", .usage), Case("help explain"),
    ]

    private static let rest = [
        Case("events"), Case("events", width: 80), Case("events --json"),
        Case("logs"), Case("logs", width: 80), Case("logs --json"),
        Case("hooks"), Case("hooks", width: 60), Case("hooks --json"),
        Case("enable devbox"), Case("enable devbox --json"), Case("disable devbox"),
        Case("disable -q devbox"),
        Case("enable nobody devbox", .failure),
        Case("probe devbox"), Case("probe attic", .notPermitted),
        Case("probe attic", width: 80, .notPermitted),
        Case("probe attic --json", .notPermitted), Case("probe -q attic", .notPermitted),
        Case("resume devbox"), Case("cancel devbox"), Case("cancel attic devbox", .failure),
        Case("trust devbox"), Case("trust devbox --json"), Case("trust -q devbox"),
        Case("trust fresh", .usage), Case("trust fresh --json", .usage), Case("trust gpu1", .notPermitted),
        Case("trust gpu1 --json", .notPermitted), Case("trust lab", .notPermitted),
        Case("help trust"), Case("help unlock"), Case("help add"), Case("help remove"), Case("help set"),
        Case("check devbox"), Case("check devbox", width: 80), Case("check gpu1", .failure),
        Case("check gpu1 --json", .failure),
        Case("reload", .badConfiguration), Case("reload --json", .badConfiguration),
        Case("reload -q", .badConfiguration),
        Case("version"), Case("version --json"),
        Case("help"), Case("help", width: 80), Case("help exit-codes"), Case("help events"),
        Case("disable --help"),
        Case("completion bash"), Case("completion zsh"), Case("completion fish"),
    ]

    @Test(arguments: lists + pages + rest)
    func `the whole output is as recorded`(_ c: Case) throws {
        let result = Stage(daemon: try Documents.daemon(), width: c.width).run(c.arguments)
        #expect(result.code == c.code)
        try Golden.expect(result.transcript, c.fileName)
    }
}
