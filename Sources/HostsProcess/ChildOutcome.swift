import HostsModel
import HostsPOSIX

/// How a child process ended, and what it said.
package struct ChildOutcome: Hashable, Sendable {
    /// The way a child ends.
    package enum Ending: Hashable, Sendable {
        /// It exited by itself, with this status.
        case exited(Int32)
        /// A signal ended it that was not ours.
        case signalled(Int32)
        /// It still ran at its deadline and was stopped, with everything in its process group.
        case timedOut
    }

    package let ending: Ending
    /// What it wrote to its standard output, within the limit.
    package let output: [UInt8]
    /// What it wrote to its standard error, within the limit.
    package let errorOutput: [UInt8]
    /// Whether it wrote more than the limit; the rest was read and dropped.
    package let isOutputCut: Bool
    /// From its start to its end.
    package let duration: Duration

    package init(
        ending: Ending, output: [UInt8] = [], errorOutput: [UInt8] = [], isOutputCut: Bool = false,
        duration: Duration
    ) {
        self.ending = ending
        self.output = output
        self.errorOutput = errorOutput
        self.isOutputCut = isOutputCut
        self.duration = duration
    }

    /// Whether it exited by itself with status 0.
    package var isSuccess: Bool { ending == .exited(0) }
}

/// Why a child could not be run.
package enum ChildError: Error, Hashable, Sendable {
    /// The program, or the interpreter that its first line names, is not there.
    case notFound(program: String)
    /// The program may not be executed, or is of no format that the kernel knows. Carries the errno value.
    case notExecutable(program: String, code: Int32)
    /// A text with a NUL byte, or a relative path: it would mean another program than the caller thinks.
    case unusableText(String)
    /// No process, descriptor or memory was left, or the kernel refused. Carries the errno value.
    case spawnFailed(program: String, code: Int32)
    /// Its end could not be learned, such as because SIGCHLD is ignored. Carries the errno value.
    case lost(program: String, code: Int32)
    /// The task that waited was cancelled; the child is gone.
    case cancelled
}

extension ChildError {
    /// A stable word for the API, the log and tests.
    package var code: String {
        switch self {
        case .notFound: "child.not-found"
        case .notExecutable: "child.not-executable"
        case .unusableText: "child.unusable-text"
        case .spawnFailed: "child.spawn-failed"
        case .lost: "child.lost"
        case .cancelled: "child.cancelled"
        }
    }

    /// One line for people.
    package var message: String {
        switch self {
        case .notFound(let program): "\(visible(program)): no such program, or its interpreter is missing"
        case .notExecutable(let program, let code):
            "\(visible(program)) cannot be executed: \(SystemError.text(code))"
        case .unusableText(let text): "not usable for a program: \(visible(text))"
        case .spawnFailed(let program, let code):
            "\(visible(program)) could not be started: \(SystemError.text(code))"
        case .lost(let program, let code):
            "the end of \(visible(program)) was not seen: \(SystemError.text(code))"
        case .cancelled: "stopped before it ended"
        }
    }

    private func visible(_ text: String) -> String { SafeText.visible(text) }
}
