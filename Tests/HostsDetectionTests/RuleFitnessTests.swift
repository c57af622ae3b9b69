import HostsConfig
import HostsDetection
import HostsModel
import Testing

/// Rules that have grown old are noticed, and rules that fit are left in peace.
@Suite struct RuleFitnessTests {
    private static let claude = AgentName(rawValue: "claude")

    private func screen(_ file: String) throws -> [UInt8] {
        try #require(CapturedScreen.all.first { $0.file == file }).capture()
    }

    private func detector() -> HostDetector {
        HostDetector(host: HostDetectorTests.host, rules: RuleFixtures.book)
    }

    /// An agent at work, of whose work the rules see nothing: another row of output in each look.
    private func unread(_ row: Int) throws -> [UInt8] {
        let composer = String(
            decoding: try screen("claude__idle__stash_and_history_label.txt").withoutDoneRow(), as: UTF8.self)
        return Array("● Step \(row) of the work\n\n\(composer)".utf8)
    }

    @Test func `output that moves on without a sign of work is told, and a sign of work ends it`() throws {
        var host = FakeHost()
        host.addPane(1, title: "topic", screen: try unread(0), command: ["claude"])
        var detector = detector()
        var seconds: Int64 = 0
        for row in 0...11 {
            host.show(1, screen: try unread(row))
            #expect(try detector.look(at: host, seconds: seconds).staleRules == [], "look \(row)")
            seconds += 5
        }
        host.show(1, screen: try unread(12))
        let seen = try detector.look(at: host, seconds: seconds)
        #expect(
            seen.staleRules == [StaleRules(agent: Self.claude, version: nil, cause: .unreadWork(looks: 12))])
        #expect(seen.sessions.first?.flags.contains(.rulesStale) == true)
        host.show(1, screen: try screen("claude__busy__spinner_title_pinned.txt"))
        let after = try detector.look(at: host, seconds: seconds + 5)
        #expect(after.staleRules == [])
        #expect(after.sessions.first?.flags == [])
    }

    @Test func `output that moves on with pauses is no sign of old rules`() throws {
        var host = FakeHost()
        host.addPane(1, title: "topic", screen: try unread(0), command: ["claude"])
        var detector = detector()
        for row in 0..<40 {
            if row % 11 != 10 { host.show(1, screen: try unread(row)) }
            #expect(try detector.look(at: host, seconds: Int64(row) * 5).staleRules == [], "look \(row)")
        }
    }

    @Test func `what the person types is no output of the agent`() throws {
        let idle = String(decoding: try screen("claude__idle__stash_and_history_label.txt"), as: UTF8.self)
        var host = FakeHost()
        host.addPane(1, title: "topic", screen: Array(idle.utf8), command: ["claude"])
        var detector = detector()
        for row in 0..<30 {
            let rows = idle.split(separator: "\n", omittingEmptySubsequences: false)
            let typed = rows.map { $0.hasPrefix("❯\u{a0}") ? $0 + String(repeating: "x", count: row) : $0 }
            host.show(1, screen: Array(typed.joined(separator: "\n").utf8))
            #expect(try detector.look(at: host, seconds: Int64(row) * 5).staleRules == [], "look \(row)")
        }
    }

    @Test func `a long turn that is seen is no sign of old rules`() throws {
        let busy = String(decoding: try screen("claude__busy__spinner_title_pinned.txt"), as: UTF8.self)
        var host = FakeHost()
        host.addPane(1, title: "topic", screen: Array(busy.utf8), command: ["claude"])
        var detector = detector()
        for row in 0..<40 {
            host.show(1, screen: Array("● Step \(row)\n\(busy)".utf8))
            #expect(try detector.look(at: host, seconds: Int64(row) * 5).staleRules == [], "look \(row)")
        }
    }

    @Test func `a version out of the range is told with its number`() throws {
        var host = FakeHost()
        host.addPane(1, title: "", screen: [], command: ["claude"])
        host.panes = []
        host.stateFiles = [
            (agent: "claude", pid: 111, json: #"{"procStart":"5000","status":"busy","version":"9.0.1"}"#)
        ]
        var detector = detector()
        let seen = try detector.look(at: host, seconds: 0)
        #expect(seen.staleRules == [StaleRules(agent: Self.claude, version: "9.0.1", cause: .version)])
        #expect(seen.sessions.first?.flags == [])
    }
}
