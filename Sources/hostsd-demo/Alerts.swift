import Glibc
import HostsModel
import HostsTestSupport

/// What the hook of the demo has written, and whether it is what must come.
final class Alerts: Sendable {
    /// The hook: one line for each alert, in a file that the demo follows.
    static let hook = """
        case $1 in
        needs.you | turn.ended) printf '%s\\t%s\\n' "$1" "$HOSTSD_SUMMARY" >> "$HOME/alerts" ;;
        esac

        """

    /// How often the file is looked at.
    private static let interval = Duration.milliseconds(100)

    private let file: String
    private let lines = Locked<[String]>([])

    init(file: String) {
        self.file = file
    }

    /// Shows every new line until the task is cancelled.
    func follow(on screen: Screen) async throws {
        while true {
            let known = lines.withLock { $0.count }
            for line in read().dropFirst(known) {
                lines.withLock { $0.append(line) }
                screen.alert(line.split(separator: "\t").last.map(String.init) ?? line)
            }
            do {
                try await SystemClock().sleep(for: Self.interval)
            } catch {
                return  // cancelled: the demo is over
            }
        }
    }

    /// Tells what came.
    ///
    /// - Returns: Whether each agent asked once and finished once, and nothing else came.
    func report(on screen: Screen) -> Bool {
        let seen = lines.withLock { $0 }
        let wanted = [
            ("needs.you", "alpha"), ("needs.you", "beta"), ("turn.ended", "alpha"), ("turn.ended", "beta"),
        ]
        let isComplete =
            seen.count == wanted.count
            && wanted.allSatisfy { kind, host in
                seen.count { $0.hasPrefix(kind + "\t") && $0.contains(" on \(host) ") } == 1
            }
        screen.say(
            isComplete
                ? "4 alerts: each agent asked once and finished once; nothing was told twice"
                : "NOT as it should be: \(seen.count) alerts instead of 4, each once")
        return isComplete
    }

    private func read() -> [String] {
        guard let stream = fopen(file, "re") else { return [] }
        defer { fclose(stream) }
        var bytes = [UInt8](repeating: 0, count: 64 * 1024)
        let count = fread(&bytes, 1, bytes.count, stream)
        let text = String(decoding: bytes.prefix(count), as: UTF8.self)
        return text.split(separator: "\n", omittingEmptySubsequences: false).dropLast().map(String.init)
    }
}
