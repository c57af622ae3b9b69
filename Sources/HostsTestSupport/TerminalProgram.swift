import Glibc
import HostsModel
import HostsPOSIX

/// A program on a terminal of its own, under a shell with job control, whose lines a test waits for.
package final class TerminalProgram: Sendable {
    /// What the terminal shows, line by line.
    package let log = LineLog()
    /// Types, resizes and signals.
    package let shell: TerminalShell

    /// Starts a shell that runs the program.
    ///
    /// - Parameters:
    ///   - script: For `bash -c`; the program is `"$0"`, its words `"$@"`.
    ///   - program: Its path.
    ///   - arguments: Its words.
    ///   - environment: Its whole environment.
    /// - Throws: When the system refuses; the test cannot go on.
    package init(
        script: String, _ program: String, _ arguments: [String], environment: [String: String]
    ) throws {
        shell = try TerminalShell(script: "set -m; " + script, program, arguments, environment: environment)
        let log = log
        // The thread has a descriptor of its own: that of the shell may be closed while it reads.
        let output = fcntl(shell.master, F_DUPFD_CLOEXEC, 0)
        do {
            try DedicatedThread.start {
                var buffer = [UInt8](repeating: 0, count: 4096)
                while true {
                    let count = read(output, &buffer, buffer.count)
                    guard count > 0 else { break }
                    log.append(buffer[..<count])
                }
                close(output)
                log.end()
            }
        } catch {
            close(output)
            throw error
        }
    }
}
