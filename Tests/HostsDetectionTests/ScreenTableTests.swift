import Glibc
import HostsConfig
import HostsDetection
import HostsModel
import Testing

/// Writes what `make screens` prints: how the screens are read, as captured and under every mutation.
///
/// Judged by `table.awk`, not here: the table is wanted most when something is wrong in it.
@Suite struct ScreenTableTests {
    private static let path = getenv("HOSTS_SCREENS_TABLE").map { String(cString: $0) }

    @Test(.enabled(if: path != nil, "only `make screens` wants the table"))
    func `the table of screens`() throws {
        var lines: [[String]] = []
        let captured = try ScreenScore(.none)
        for (cell, count) in captured.cells {
            lines.append(
                [
                    "screen", cell.agent, cell.state, "\(count.right)",
                    "\(count.right + count.unknown + count.wrong)",
                ])
        }
        for (agent, count) in Self.exited() {
            lines.append(["screen", agent, "exited", "\(count.right)", "\(count.total)"])
        }
        for rules in RuleFixtures.shipped.book.agents.map(\.rules.name.rawValue) {
            lines.append(["rules", rules])
        }
        lines.append(["moving", "\(captured.moving)"])
        for mutation in ScreenMutation.allCases {
            let score = mutation == .none ? captured : try ScreenScore(mutation)
            lines.append(
                [
                    "mutation", mutation.rawValue, "\(score.right)", "\(score.unknown)",
                    "\(score.wrong.count)",
                ])
            lines += score.wrong.map { ["wrong", mutation.rawValue, SafeText.visible($0, limit: 300)] }
        }
        let text = lines.map { $0.joined(separator: "\t") + "\n" }.joined()
        let path = try #require(Self.path)
        let file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        try #require(file >= 0, "\(path) cannot be written: errno \(errno)")
        defer { close(file) }
        let bytes = Array(text.utf8)
        #expect(write(file, bytes, bytes.count) == bytes.count)
    }

    /// Screens whose agent is gone: the program in the foreground says so.
    private static func exited() -> [String: (right: Int, total: Int)] {
        var result: [String: (right: Int, total: Int)] = [:]
        for captured in CapturedScreen.all where captured.state == "exited" {
            var host = FakeHost()
            host.addPane(
                1, title: captured.title, screen: [], command: captured.arguments, name: captured.command)
            let body = host.body(ProbeRequest(function: "hostsd_probe"))
            let report = try? ReplyParser.parse(body, nonce: host.nonce)
            let agents = report.map { AgentFinder(book: RuleFixtures.book, report: $0).agents() }
            result[captured.agent, default: (0, 0)].total += 1
            if agents == [] { result[captured.agent, default: (0, 0)].right += 1 }
        }
        return result
    }
}
