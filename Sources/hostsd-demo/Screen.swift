import Glibc
import HostsModel

/// Lines with the time since the start, on standard output.
struct Screen: Sendable {
    private static let start = SystemClock().now
    private let isColored = isatty(STDOUT_FILENO) == 1

    func say(_ text: String) { line(text, style: "") }

    func alert(_ text: String) { line("ALERT  " + text, style: "1;33") }

    /// Shows the output of a command, set in.
    func show(_ command: String, _ output: String) {
        write("\n          $ \(command)\n")
        for line in output.split(separator: "\n", omittingEmptySubsequences: false) {
            write(line.isEmpty ? "\n" : "          \(line)\n")
        }
    }

    private func line(_ text: String, style: String) {
        let tenths = Int(((SystemClock().now - Self.start).seconds * 10).rounded())
        let seconds = "\(tenths / 10).\(tenths % 10)"
        let time = String(repeating: " ", count: max(0, 5 - seconds.count)) + seconds + " s  "
        write(time + (isColored && !style.isEmpty ? "\u{1b}[\(style)m\(text)\u{1b}[0m" : text) + "\n")
    }

    private func write(_ text: String) {
        print(text, terminator: "")
        fflush(nil)
    }
}
