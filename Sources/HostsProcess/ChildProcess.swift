import Glibc
package import HostsModel
import HostsPOSIX

/// Runs other programs: hooks, and `ssh -G`.
package enum ChildProcess {
    /// Which part of too much output is kept.
    package enum OutputEnd: Hashable, Sendable {
        case first, last
    }

    /// Runs a program to its end.
    ///
    /// The child has a process group of its own, the folder `/`, default signals, and no descriptor but its three
    /// standard ones. At the deadline its group gets SIGTERM and 2 s later SIGKILL; cancelling the task does the same
    /// with 0.5 s. The end is the end of the *process*: grandchildren that hold its output open are not waited for.
    ///
    /// - Parameters:
    ///   - program: An absolute path, or a name that is searched in the daemon's PATH.
    ///   - arguments: What follows the program's name.
    ///   - environment: The whole environment of the child.
    ///   - input: Its standard input, then end of file. A child that does not read it is no error.
    ///   - deadline: When it is stopped.
    ///   - outputLimit: How much of each output is kept; the rest is read and dropped.
    ///   - keptEnd: Which part of too much output is kept.
    /// - Returns: How it ended; `.timedOut` is an outcome, not an error.
    /// - Throws: A `ChildError` when it could not be started, or when the task was cancelled.
    package static func run(
        program: String, arguments: [String] = [], environment: [String: String], input: [UInt8] = [],
        deadline: ContinuousClock.Instant, outputLimit: ByteCount, keeping keptEnd: OutputEnd = .first
    ) async throws(ChildError) -> ChildOutcome {
        let command = try ChildCommand(program: program, arguments: arguments, environment: environment)
        guard !Task.isCancelled else { throw .cancelled }
        let run = ChildRun(
            command: command, input: input, deadline: deadline, outputLimit: outputLimit.bytes,
            keptEnd: keptEnd)
        let cancellation: ChildCancellation
        do throws(SystemError) { cancellation = try ChildCancellation() } catch {
            throw .spawnFailed(program: program, code: error.code)
        }
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { (continuation: CheckedContinuation<ChildResult, Never>) in
                do throws(SystemError) {
                    try DedicatedThread.start {
                        run.perform(until: cancellation) { continuation.resume(returning: $0) }
                    }
                } catch {
                    let failure = ChildError.spawnFailed(program: program, code: error.code)
                    continuation.resume(returning: .failure(failure))
                }
            }
        } onCancel: {
            cancellation.cancel()
        }
        return try result.get()
    }
}

typealias ChildResult = Result<ChildOutcome, ChildError>

/// Wakes the thread that waits for a child when nobody wants its result any more.
final class ChildCancellation: Sendable {
    private let pipe: Descriptor.Pipe

    init() throws(SystemError) {
        pipe = try Descriptor.Pipe(keeping: .write)
    }

    /// Readable once `cancel` was called.
    var raw: Int32 { pipe.read.raw }

    func cancel() {
        var byte: UInt8 = 1
        // A full pipe (EAGAIN) would mean that it was cancelled 65,536 times: it is readable all the same.
        _ = write(pipe.write.raw, &byte, 1)
    }
}

/// A program with its arguments and environment, checked to mean what they say.
struct ChildCommand: Sendable {
    let program: String
    let arguments: [String]
    let environment: [String]

    init(program: String, arguments: [String], environment: [String: String]) throws(ChildError) {
        // The child starts in `/`, so that a relative path would mean another file.
        let isRelative = program.contains("/") && !program.hasPrefix("/")
        guard !program.isEmpty, !isRelative else { throw .unusableText(program) }
        self.program = program
        self.arguments = [program] + arguments
        self.environment = environment.map { "\($0.key)=\($0.value)" }.sorted()
        for text in self.arguments + self.environment where text.utf8.contains(0) {
            throw .unusableText(text)
        }
        for name in environment.keys where name.isEmpty || name.contains("=") { throw .unusableText(name) }
    }
}
