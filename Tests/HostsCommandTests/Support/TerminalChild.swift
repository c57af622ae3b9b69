import Glibc
import HostsTestSupport
import Testing

/// A program on a terminal of its own, which a test reads and types at in turn; it blocks.
final class TerminalChild {
    private let shell: TerminalShell
    private var text: [UInt8] = []

    /// Starts a shell that runs the program in the foreground.
    ///
    /// - Parameters:
    ///   - script: For `bash -c`; the program is `"$0"`, its words `"$@"`.
    ///   - program: Its path.
    ///   - arguments: Its words.
    /// - Throws: When the system refuses.
    init(_ script: String, _ program: String, _ arguments: [String]) throws {
        shell = try TerminalShell(
            script: script, program, arguments,
            environment: ["PATH": "/usr/bin:/bin", "LC_ALL": "C", "HOME": "/nonexistent"])
    }

    /// Whether the terminal shows what is typed.
    var isEchoing: Bool { shell.isEchoing }

    /// Sends a signal to what runs in the foreground.
    func signalForeground(_ signal: Int32) { shell.signalForeground(signal) }

    func type(_ text: String) {
        #expect(throws: Never.self) { try shell.type(text) }
    }

    /// Reads until a text has come; gives everything up to its end.
    func read(until mark: String) throws -> String {
        while true {
            let all = String(decoding: text, as: UTF8.self)
            if let range = all.firstRange(of: mark) {
                text = Array(all[range.upperBound...].utf8)
                return String(all[..<range.upperBound])
            }
            try #require(receive(), "the terminal was closed before \(mark): \(all)")
        }
    }

    /// Reads to the end; gives the rest, and the exit status of the shell.
    func finish() -> (output: String, status: Int32) {
        while receive() {}
        let status = shell.reap()
        return (String(decoding: text, as: UTF8.self), status & 0x7f == 0 ? (status >> 8) & 0xff : -1)
    }

    private func receive() -> Bool {
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = Glibc.read(shell.master, &buffer, buffer.count)
        if count > 0 { text += buffer[..<count] }
        return count > 0
    }
}
