import Glibc
import HostsModel
import HostsPOSIX
import HostsProcess
import HostsTestSupport
import Testing

@Suite(.timeLimit(.minutes(5))) struct ChildProcessTests {
    /// Far enough away that only a hung child ever meets it.
    private static let generous = Duration.seconds(60)

    private func shell(
        _ script: String, input: [UInt8] = [], timeout: Duration = generous,
        limit: ByteCount = .kibibytes(64),
        keeping keptEnd: ChildProcess.OutputEnd = .first
    ) async throws -> ChildOutcome {
        try await ChildProcess.run(
            program: "/bin/sh", arguments: ["-c", script], environment: ["PATH": "/usr/bin:/bin"],
            input: input,
            deadline: .now + timeout, outputLimit: limit, keeping: keptEnd)
    }

    @Test func `output, errors and the exit status come back`() async throws {
        let outcome = try await shell("printf out; printf err >&2; exit 7")
        #expect(outcome.ending == .exited(7))
        #expect(text(outcome.output) == "out")
        #expect(text(outcome.errorOutput) == "err")
        #expect(!outcome.isOutputCut)
    }

    @Test func `the child reads its input and then the end of it`() async throws {
        // More than a pipe holds, and the child echoes while it reads: neither side may wait for the other.
        let input = [UInt8](repeating: 0x61, count: 1_000_000)
        let outcome = try await shell("cat", input: input, limit: .mebibytes(2))
        #expect(outcome.ending == .exited(0))
        #expect(outcome.output == input)
    }

    @Test func `a child without input reads the end of file at once`() async throws {
        #expect(try await shell("cat; echo done").output == Array("done\n".utf8))
    }

    @Test func `a child that ends without reading a large input has simply ended`() async throws {
        let outcome = try await shell("exit 3", input: [UInt8](repeating: 0, count: 1_000_000))
        #expect(outcome.ending == .exited(3))
    }

    @Test func `a child that closes its input and goes on is waited for`() async throws {
        let outcome = try await shell(
            "exec 0<&-; printf ok; exit 4", input: [UInt8](repeating: 0, count: 1_000_000))
        #expect(outcome.ending == .exited(4))
        #expect(text(outcome.output) == "ok")
    }

    @Test func `a child that hangs is stopped at its deadline`() async throws {
        let outcome = try await Patience.attempt {
            try await shell("printf begun; sleep 600", timeout: $0)
        } until: {
            text($0.output) == "begun"
        }
        #expect(outcome.ending == .timedOut)
        #expect(text(outcome.output) == "begun")
    }

    @Test func `a child that ignores SIGTERM is killed, and so is all of its group`() async throws {
        let outcome = try await Patience.attempt {
            try await shell("trap '' TERM; sleep 600 & echo $! $$; wait; wait; sleep 600", timeout: $0)
        } until: {
            text($0.output).hasSuffix("\n")
        }
        #expect(outcome.ending == .timedOut)
        let pids = text(outcome.output).split(whereSeparator: \.isWhitespace).compactMap { pid_t($0) }
        #expect(pids.count == 2)
        // Killed is not gone yet: wait for it, with a limit that only a survivor meets.
        let limit = ContinuousClock.now + Self.generous
        for pid in pids {
            while !isGone(pid), .now < limit { await Task.yield() }
            #expect(isGone(pid), "process \(pid) outlived the stop")
        }
    }

    @Test func `a child that has stopped itself is stopped at its deadline too`() async throws {
        #expect(try await shell("kill -STOP $$", timeout: .milliseconds(300)).ending == .timedOut)
    }

    @Test func `a grandchild that holds the output open is not waited for, and lives on`() async throws {
        let outcome = try await shell("sleep 600 & echo $!; exit 0")
        #expect(outcome.ending == .exited(0))
        let grandchild = try #require(pid_t(text(outcome.output).prefix { $0.isNumber }))
        #expect(kill(grandchild, 0) == 0)
        kill(grandchild, SIGKILL)
    }

    @Test func `a grandchild that floods the output does not keep the result back`() async throws {
        let outcome = try await shell("yes & echo $! >&2; exit 0", limit: .kibibytes(1))
        #expect(outcome.ending == .exited(0))
        let grandchild = try #require(pid_t(text(outcome.errorOutput).prefix { $0.isNumber }))
        kill(grandchild, SIGKILL)
    }

    @Test func `a flood of output is read to the end and the first part kept`() async throws {
        let outcome = try await shell("head -c 5000000 /dev/zero | tr '\\0' a; printf z", limit: .bytes(1000))
        #expect(outcome.ending == .exited(0))
        #expect(outcome.output == [UInt8](repeating: 0x61, count: 1000))
        #expect(outcome.isOutputCut)
    }

    @Test func `of a flood the last part can be kept instead`() async throws {
        let outcome = try await shell(
            "head -c 5000000 /dev/zero | tr '\\0' a; printf last", limit: .bytes(4), keeping: .last)
        #expect(text(outcome.output) == "last")
        #expect(outcome.isOutputCut)
    }

    @Test func `output of exactly the limit is not cut`() async throws {
        for end in [ChildProcess.OutputEnd.first, .last] {
            let outcome = try await shell("printf 1234", limit: .bytes(4), keeping: end)
            #expect(text(outcome.output) == "1234")
            #expect(!outcome.isOutputCut)
        }
    }

    @Test func `a signal that is not ours is told as such`() async throws {
        #expect(try await shell("kill -KILL $$").ending == .signalled(SIGKILL))
    }

    @Test
    func `the child has the root folder, its own group, the given environment and no foreign descriptor`()
        async throws
    {
        let foreign = open("/dev/null", O_RDONLY)  // on purpose without O_CLOEXEC
        defer { close(foreign) }
        let outcome = try await ChildProcess.run(
            program: "/bin/sh",
            arguments: ["-c", "pwd; echo $B; ps -o pgid= -p $$; echo $$; ls /proc/$$/fd; env"],
            environment: ["PATH": "/usr/bin:/bin", "B": "two words"], deadline: .now + Self.generous,
            outputLimit: .kibibytes(64))
        let lines = text(outcome.output).split(separator: "\n").map { $0.filter { $0 != " " } }
        #expect(lines.prefix(2) == ["/", "twowords"])
        #expect(lines[2] == lines[3])
        #expect(lines[4...6] == ["0", "1", "2"])
        #expect(lines.dropFirst(7).allSatisfy { $0.contains("=") })
        #expect(!lines.contains { $0.hasPrefix("HOME=") })
    }

    /// In a process of its own, whose signals may be tampered with.
    @Test func `signals are unblocked and at their defaults in the child`() async {
        await #expect(processExitsWith: .success) {
            signal(SIGPIPE, SIG_IGN)
            signal(SIGHUP, SIG_IGN)
            let outcome = try await ChildProcess.run(
                program: "/bin/sh", arguments: ["-c", "grep -E 'Sig(Blk|Ign)' /proc/self/status"],
                environment: ["PATH": "/usr/bin:/bin"], deadline: .now + .seconds(60),
                outputLimit: .kibibytes(1))
            let lines = String(decoding: outcome.output, as: UTF8.self).split(separator: "\n")
            let masks = lines.compactMap { $0.split(separator: "\t").last }.compactMap {
                UInt64($0, radix: 16)
            }
            // Signals 32 and 33 belong to glibc, whose posix_spawn leaves them ignored.
            #expect(masks.map { $0 & 0x7fff_ffff } == [0, 0])
        }
    }

    @Test func `cancelling the task stops the child`() async throws {
        let (started, continuation) = AsyncStream<Void>.makeStream()
        let folder = try TemporaryFolder()
        let fifo = folder.path + "/started"
        #expect(mkfifo(fifo, 0o600) == 0)
        // On a thread of its own, as it waits for the child.
        try DedicatedThread.start {
            let file = open(fifo, O_RDONLY)
            close(file)
            continuation.finish()
        }
        let run = Task { try await shell("exec 3>\(fifo); exec sleep 600") }
        for await _ in started {}
        run.cancel()
        await #expect(throws: ChildError.cancelled) { try await run.value }
    }

    @Test func `a task that is cancelled already starts nothing`() async throws {
        let folder = try TemporaryFolder()
        let run = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await shell("touch \(folder.path)/made")
        }
        await #expect(throws: ChildError.cancelled) { try await run.value }
        #expect(access(folder.path + "/made", F_OK) != 0)
    }

    private func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

    /// A zombie whose new parent has not reaped it yet is gone, too.
    private func isGone(_ pid: pid_t) -> Bool {
        guard kill(pid, 0) == 0, let file = fopen("/proc/\(pid)/stat", "r") else { return true }
        defer { fclose(file) }
        var buffer = [CChar](repeating: 0, count: 512)
        guard fgets(&buffer, Int32(buffer.count), file) != nil else { return true }
        let line = String(decoding: buffer.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
        return line.split(separator: ") ").last?.first == "Z"
    }
}
