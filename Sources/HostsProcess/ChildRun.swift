import CLinux
import Glibc
import HostsModel
import HostsPOSIX

/// One run of a child, from its start to its end, on a thread of its own.
struct ChildRun: Sendable {
    /// Longest single wait: `poll` does not count suspended time, deadlines do.
    private static let longestPoll = Duration.seconds(1)
    /// A program that is being written cannot be executed (ETXTBSY); its writer gets this many times 20 ms.
    private static let busyRetries = 10
    private static let busyPause: UInt32 = 20_000
    /// Reads after the end: what two full pipes hold, and no more, as a grandchild may go on writing.
    private static let drainReads = 4

    let command: ChildCommand
    let input: [UInt8]
    let deadline: ContinuousClock.Instant
    let outputLimit: Int
    let keptEnd: ChildProcess.OutputEnd

    /// Runs the child and hands over its result exactly once.
    func perform(until cancellation: ChildCancellation, finish: (ChildResult) -> Void) {
        let started = ContinuousClock.now
        var child: RunningChild
        do { child = try start() } catch { return finish(.failure(error)) }
        var teardown = ChildTeardown(deadline: deadline)
        let hasEnded = child.wait(until: cancellation, &teardown, longestPoll: Self.longestPoll)
        if teardown.cause != nil {
            // Not reaped yet, so the group's number still is its own: nobody in it outlives the stop.
            kill(-child.pid, SIGKILL)
        }
        var ending = Result<ChildOutcome.Ending, ChildError>.success(.timedOut)
        if hasEnded {
            ending = Self.reap(child.pid, command.program)
            for _ in 0..<Self.drainReads where !child.read() { break }
        }
        switch teardown.cause {
        case .cancellation: ending = .failure(.cancelled)
        case .deadline: ending = .success(.timedOut)
        case nil: break
        }
        let duration = ContinuousClock.now - started
        finish(ending.map { child.outcome($0, duration: duration) })
        // Killed but not gone, such as in uninterruptible sleep: this thread stays to reap it, nobody else waits.
        if !hasEnded { _ = Self.reap(child.pid, command.program) }
    }

    private func start() throws(ChildError) -> RunningChild {
        do throws(SystemError) {
            let stdin = try Descriptor.Pipe(keeping: .write)
            let stdout = try Descriptor.Pipe(keeping: .read)
            let stderr = try Descriptor.Pipe(keeping: .read)
            let pid = try spawn(stdin.read.raw, stdout.write.raw, stderr.write.raw)
            let watch = hosts_spawn_watch(pid)
            guard watch >= 0 else {
                let code = errno
                kill(-pid, SIGKILL)
                _ = Self.reap(pid, command.program)
                throw SystemError(code: code)
            }
            return RunningChild(
                pid: pid, watch: Descriptor(owning: watch), input: ChildInput(stdin.write, bytes: input),
                output: ChildOutput(stdout.read, limit: outputLimit, keeping: keptEnd),
                errorOutput: ChildOutput(stderr.read, limit: outputLimit, keeping: keptEnd))
        } catch {
            throw Self.childError(error.code, command.program)
        }
    }

    private func spawn(_ stdin: Int32, _ stdout: Int32, _ stderr: Int32) throws(SystemError) -> pid_t {
        var pid: pid_t = -1
        var code = CStrings.with(command.arguments, command.environment) {
            hosts_spawn_child(command.program, $0, $1, stdin, stdout, stderr, &pid)
        }
        for _ in 0..<Self.busyRetries where code == ETXTBSY {
            usleep(Self.busyPause)
            code = CStrings.with(command.arguments, command.environment) {
                hosts_spawn_child(command.program, $0, $1, stdin, stdout, stderr, &pid)
            }
        }
        guard code == 0 else { throw SystemError(code: code) }
        return pid
    }

    private static func reap(_ pid: pid_t, _ program: String) -> Result<ChildOutcome.Ending, ChildError> {
        var status: Int32 = 0
        var signal: Int32 = 0
        let code = hosts_spawn_reap(pid, 1, &status, &signal)
        guard code == 0 else { return .failure(.lost(program: program, code: code)) }
        return .success(signal == 0 ? .exited(status) : .signalled(signal))
    }

    private static func childError(_ code: Int32, _ program: String) -> ChildError {
        switch code {
        case ENOENT, ENOTDIR: .notFound(program: program)
        case EACCES, EPERM, ENOEXEC, ETXTBSY, EISDIR, ELOOP, ENAMETOOLONG, EINVAL, E2BIG:
            .notExecutable(program: program, code: code)
        default: .spawnFailed(program: program, code: code)
        }
    }
}

/// A child that has been started, with our ends of its pipes.
private struct RunningChild: ~Copyable {
    let pid: pid_t
    /// Readable when the process has ended (pidfd_open(2)).
    let watch: Descriptor
    var input: ChildInput
    var output: ChildOutput
    var errorOutput: ChildOutput

    /// Serves the pipes until the process has ended.
    ///
    /// - Returns: False when it was killed and is still there after its time to settle.
    mutating func wait(
        until cancellation: ChildCancellation, _ teardown: inout ChildTeardown, longestPoll: Duration
    ) -> Bool {
        var isCancelled = false
        while true {
            var timeout = longestPoll
            let now = ContinuousClock.now
            switch teardown.advance(now: now, isCancelled: isCancelled) {
            case .wait(let until): timeout = min(until - now, longestPoll)
            case .terminate:
                kill(-pid, SIGTERM)
                // A stopped group would never see the SIGTERM.
                kill(-pid, SIGCONT)
            case .kill: kill(-pid, SIGKILL)
            case .abandon: return false
            }
            var entries = [
                pollfd(fd: watch.raw, events: Int16(POLLIN), revents: 0),
                pollfd(fd: isCancelled ? -1 : cancellation.raw, events: Int16(POLLIN), revents: 0),
                pollfd(fd: input.raw, events: Int16(POLLOUT), revents: 0),
                pollfd(fd: output.raw, events: Int16(POLLIN), revents: 0),
                pollfd(fd: errorOutput.raw, events: Int16(POLLIN), revents: 0),
            ]
            // Rounded up, so that the deadline has passed when the wait is over.
            let milliseconds = Int32((max(timeout, .zero).seconds * 1000).rounded(.up))
            guard poll(&entries, nfds_t(entries.count), milliseconds) > 0 else { continue }
            if entries[2].revents != 0 { input.writeAvailable() }
            if entries[3].revents != 0 || entries[4].revents != 0 { _ = read() }
            if entries[1].revents != 0 { isCancelled = true }
            if entries[0].revents != 0 { return true }
        }
    }

    /// Reads once from both outputs, and says whether there may be more.
    mutating func read() -> Bool {
        let first = output.readAvailable()
        let second = errorOutput.readAvailable()
        return first || second
    }

    func outcome(_ ending: ChildOutcome.Ending, duration: Duration) -> ChildOutcome {
        ChildOutcome(
            ending: ending, output: output.kept, errorOutput: errorOutput.kept,
            isOutputCut: output.isCut || errorOutput.isCut, duration: duration)
    }
}

/// Arrays of C strings for the length of one call.
private enum CStrings {
    typealias Strings = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>

    static func with(_ first: [String], _ second: [String], _ body: (Strings, Strings) -> Int32) -> Int32 {
        var one = first.map { strdup($0) } + [nil]
        var two = second.map { strdup($0) } + [nil]
        defer { for string in one + two { free(string) } }
        return one.withUnsafeMutableBufferPointer { one in
            two.withUnsafeMutableBufferPointer { two in
                guard let one = one.baseAddress, let two = two.baseAddress else {
                    preconditionFailure("both arrays end in a null pointer, so neither is empty")
                }
                return body(one, two)
            }
        }
    }
}
