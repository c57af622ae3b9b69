import CLinux
import Glibc
import HostsModel
import HostsPOSIX

/// A program that runs until the test ends it; killed at the latest when nobody holds it any more.
package final class BackgroundProcess: Sendable {
    /// What it prints, both outputs together.
    package let log = LineLog()
    /// Its process id; meaningless after `stop`.
    package let pid: Int32
    private let isReaped = Locked(false)

    /// Starts a program in a process group of its own, in the folder `/`, with its input closed.
    ///
    /// - Parameters:
    ///   - program: Absolute, or a name in PATH.
    ///   - arguments: What follows its name.
    ///   - environment: Its whole environment.
    /// - Throws: When the system refuses; the test cannot go on.
    package init(_ program: String, _ arguments: [String], environment: [String: String]) throws {
        var ends: [Int32] = [-1, -1]
        // Close-on-exec from the beginning: children of other tests must not hold it open.
        let pipeCode = hosts_spawn_pipe(&ends, 0)
        guard pipeCode == 0 else { throw FixtureError("no pipe: \(SystemError.text(pipeCode))") }
        let input = open("/dev/null", O_RDONLY | O_CLOEXEC)
        defer {
            close(ends[1])
            close(input)
        }
        var words = ([program] + arguments).map { strdup($0) } + [nil]
        var variables = environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { for string in words + variables { free(string) } }
        var child: pid_t = -1
        let code = hosts_spawn_child(program, &words, &variables, input, ends[1], ends[1], &child)
        guard code == 0 else {
            close(ends[0])
            throw FixtureError("\(program): \(SystemError.text(code))")
        }
        pid = child
        let (log, output, end) = (log, ends[0], hosts_spawn_watch(child))
        do {
            try DedicatedThread.start { Self.read(output, until: end, into: log) }
        } catch {
            close(output)
            close(end)
            throw error
        }
    }

    deinit { stop() }

    /// Sends a signal; after the end it has no effect.
    package func signal(_ number: Int32) {
        isReaped.withLock { isReaped in
            if !isReaped { kill(pid, number) }
        }
    }

    /// Kills it with its process group and waits until it is gone.
    package func stop() {
        isReaped.withLock { isReaped in
            guard !isReaped else { return }
            kill(-pid, SIGKILL)
            var status: Int32 = 0
            var signal: Int32 = 0
            _ = hosts_spawn_reap(pid, 1, &status, &signal)
            isReaped = true
        }
    }

    /// How long a program may take to obey SIGTERM.
    private static let obedience = Duration.seconds(10)

    /// Asks it to end (SIGTERM), waits until it has, and kills it when it does not.
    package func terminate() async {
        signal(SIGTERM)
        let alarm = Task {
            try await ContinuousClock().sleep(for: Self.obedience)
            stop()
        }
        await log.untilEnded()
        alarm.cancel()
        stop()
    }

    /// The processes that it has started, and theirs.
    package var descendants: [Int32] { Self.children(of: pid).flatMap { [$0] + Self.descendants(of: $0) } }

    /// The processes that it has started itself.
    package var children: [Int32] { Self.children(of: pid) }

    /// The processes that those have started.
    package var grandchildren: [Int32] { children.flatMap { Self.children(of: $0) } }

    private static func descendants(of pid: pid_t) -> [pid_t] {
        children(of: pid).flatMap { [$0] + descendants(of: $0) }
    }

    private static func children(of pid: pid_t) -> [pid_t] {
        text(of: "/proc/\(pid)/task/\(pid)/children").split(separator: " ").compactMap { pid_t($0) }
    }

    /// The name of a process (`comm`); empty when it is gone.
    static func name(of pid: pid_t) -> String {
        String(text(of: "/proc/\(pid)/comm").prefix { $0 != "\n" })
    }

    private static func text(of file: String) -> String {
        let descriptor = open(file, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return "" }
        defer { close(descriptor) }
        var buffer = [UInt8](repeating: 0, count: 64 * 1024)
        let count = Glibc.read(descriptor, &buffer, buffer.count)
        return String(decoding: buffer.prefix(max(count, 0)), as: UTF8.self)
    }

    /// Reads until the process has ended and all that it printed is read; its own children may hold the output open
    /// for longer.
    private static func read(_ output: Int32, until end: Int32, into log: LineLog) {
        var entries = [
            pollfd(fd: output, events: Int16(POLLIN), revents: 0),
            pollfd(fd: end, events: Int16(POLLIN), revents: 0),
        ]
        while entries[1].revents == 0 {
            guard poll(&entries, nfds_t(entries.count), -1) > 0 else { continue }
            // At the end of the file there is nothing more to wait for but the end of the process.
            if !readAvailable(output, into: log) { entries[0].fd = -1 }
        }
        close(output)
        close(end)
        log.end()
    }

    /// Reads what is there; false at the end of the file.
    private static func readAvailable(_ output: Int32, into log: LineLog) -> Bool {
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = Glibc.read(output, &buffer, buffer.count)
            if count > 0 {
                log.append(buffer[..<count])
            } else if count == 0 || errno != EINTR {
                return count != 0
            }
        }
    }
}
