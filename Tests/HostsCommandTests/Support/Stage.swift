import HostsAPI
import HostsCommand
import HostsModel

/// Collects what a program writes; can refuse, like a full disk.
final class RecordingConsole: Console {
    var output = ""
    var error = ""
    var isFull = false
    /// Whether somebody sits there.
    var canAsk = false
    /// What they type, or what standard input gives.
    var answers: [ConsoleAnswer] = []
    /// What they were asked; a hidden question ends with `(hidden)`.
    var questions: [String] = []

    func ask(_ question: String, isHidden: Bool) -> ConsoleAnswer {
        questions.append(question + (isHidden ? "(hidden)" : ""))
        return nextAnswer()
    }

    func readLine() -> ConsoleAnswer { nextAnswer() }

    private func nextAnswer() -> ConsoleAnswer { answers.isEmpty ? .none : answers.removeFirst() }

    func write(_ bytes: [UInt8], to stream: ConsoleStream) -> Bool {
        let text = String(decoding: bytes, as: UTF8.self)
        switch stream {
        case .output:
            guard !isFull else { return false }
            output += text
        case .error: error += text
        }
        return true
    }
}

/// Surroundings for one run of the program.
struct Stage {
    /// 2026-11-30 20:00:00 UTC: when every test happens.
    static let now = WallTime(milliseconds: 1_796_068_800_000)

    var daemon = FakeDaemon()
    var environment = ["XDG_RUNTIME_DIR": "/run/user/1000", "HOME": "/home/dev"]
    /// Cells of the terminal; nil for a pipe.
    var width: Int?
    var existing: Set<String> = ["/run/user/1000/hostsd/api.sock"]
    var files: [String: [String]] = [:]
    /// Captured screens.
    var captures: [String: String] = [:]
    var shippedRules = "/nowhere"
    var isFull = false
    /// Whether somebody sits at a terminal.
    var canAsk = false
    /// What they type, or what standard input gives.
    var answers: [ConsoleAnswer] = []
    var terminal = ScriptedTerminal()
    var window = ScriptedWindow()
    /// What happens in each pause between two attempts.
    var onPause: () -> Void = {}

    struct Result {
        let output: String
        let error: String
        let code: ExitCode
        var questions: [String] = []

        /// Both streams and the code, for a golden file.
        var transcript: String {
            output + (error.isEmpty ? "" : "--- stderr\n" + error) + "--- exit \(code.rawValue)\n"
        }
    }

    func run(_ arguments: String...) -> Result { run(arguments) }

    func run(_ arguments: [String]) -> Result {
        let console = RecordingConsole()
        console.isFull = isFull
        console.canAsk = canAsk
        console.answers = answers
        let world = World(
            environment: environment, outputIsTerminal: width != nil, errorIsTerminal: width != nil,
            terminalColumns: width ?? 0, localTime: .utc, now: { Self.now },
            exists: { existing.contains($0) },
            fileNames: { files[$0] ?? [] }, shippedRules: shippedRules,
            readCapture: { path throws(CaptureFailure) in
                guard let text = captures[path] else { throw CaptureFailure("No such file or directory") }
                return Array(text.utf8)
            },
            makeTransport: { _ throws(ClientError) in daemon },
            pause: { _ in onPause() },
            console: console,
            attach: AttachParts(terminal: terminal, makeWindow: { _ in window }))
        let code = Program(version: "0.1.0", world: world).run(arguments)
        terminal.forgetScript()
        return Result(output: console.output, error: console.error, code: code, questions: console.questions)
    }
}
