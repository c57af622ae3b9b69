import Glibc
import HostsModel

/// Log lines for people: `21:04:05.123 notice   hub        devbox: online again  token=3`.
package struct TerminalSink: LogSink {
    /// Longest message, in characters.
    static let messageLimit = 1000

    private let writer: LineWriter
    private let isColored: Bool

    /// Makes a sink.
    ///
    /// - Parameters:
    ///   - descriptor: Where the lines go; stays open for as long as the sink lives.
    ///   - isColored: Whether levels are told by colour as well.
    package init(descriptor: Int32, isColored: Bool) {
        writer = LineWriter(descriptor: descriptor) {
            "... \($0) log lines are lost: the reader was too slow"
        }
        self.isColored = isColored
    }

    /// The sink of standard error, in colour where a person reads it who did not ask for none (`NO_COLOR`).
    ///
    /// - Parameter environment: Of the process.
    /// - Returns: The sink.
    package static func standardError(environment: [String: String]) -> TerminalSink {
        let wantsNone = !(environment["NO_COLOR"] ?? "").isEmpty || environment["TERM"] == "dumb"
        return TerminalSink(descriptor: STDERR_FILENO, isColored: isatty(STDERR_FILENO) == 1 && !wantsNone)
    }

    package func write(_ record: LogRecord) {
        writer.write(Self.line(record, time: Self.localTime(record.time), isColored: isColored))
    }

    /// The line of a record, without its newline.
    static func line(_ record: LogRecord, time: String, isColored: Bool) -> String {
        let level = padded(record.level.rawValue, 8)
        var line = "\(time) \(isColored ? colored(level, record.level) : level) "
        line += padded(record.category.rawValue, 10) + " "
        if let host = record.host { line += SafeText.visible(host, limit: 80) + ": " }
        line += SafeText.visible(record.message, limit: messageLimit)
        let facts = record.fields.filter { $0.name != "host" }.map { field in
            SafeText.visible(field.name, limit: 80) + "=" + quoted(field.value.description)
        }
        if !facts.isEmpty { line += "  " + facts.joined(separator: " ") }
        return line
    }

    /// The time of day where the daemon runs, with milliseconds.
    private static func localTime(_ time: WallTime) -> String {
        let milliseconds = ((time.milliseconds % 1000) + 1000) % 1000
        var seconds = time_t((time.milliseconds - milliseconds) / 1000)
        var parts = tm()
        localtime_r(&seconds, &parts)
        let clock = [parts.tm_hour, parts.tm_min, parts.tm_sec].map { twoDigits(Int($0)) }.joined(
            separator: ":")
        return "\(clock).\(milliseconds < 100 ? "0" : "")\(twoDigits(Int(milliseconds)))"
    }

    private static func twoDigits(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }

    private static func padded(_ word: String, _ width: Int) -> String {
        word + String(repeating: " ", count: max(0, width - word.count))
    }

    private static func quoted(_ value: String) -> String {
        let text = SafeText.visible(value, limit: 500)
        let isPlain = !text.isEmpty && text.allSatisfy { $0 != " " && $0 != "\"" && $0 != "=" }
        return isPlain ? text : "\"" + text.replacing("\"", with: "\\\"") + "\""
    }

    /// Colours of the terminal's own palette (ECMA-48, SGR).
    private static func colored(_ text: String, _ level: LogLevel) -> String {
        let code =
            switch level {
            case .trace, .debug: "2"
            case .info: "0"
            case .notice: "36"
            case .warning: "33"
            case .error: "31"
            case .critical: "1;31"
            }
        return "\u{1b}[\(code)m\(text)\u{1b}[0m"
    }
}
