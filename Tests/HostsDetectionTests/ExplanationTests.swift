import HostsConfig
import HostsDetection
import HostsModel
import Testing

/// What is remembered of the looks at one agent, to explain its state.
@Suite struct ExplanationTests {
    private func screen(_ file: String) throws -> [UInt8] {
        try #require(CapturedScreen.all.first { $0.file == file }).capture()
    }

    private func detector() -> HostDetector {
        HostDetector(host: HostDetectorTests.host, rules: RuleFixtures.book)
    }

    private func host(_ file: String, title: String = "✳ topic") throws -> FakeHost {
        var host = FakeHost()
        host.addPane(1, title: title, screen: try screen(file), command: ["claude"])
        return host
    }

    @Test func `each look tells what was seen, what it said and what it did`() throws {
        var host = try host("claude__busy__spinner_title_pinned.txt")
        var detector = detector()
        let id = try #require(try detector.look(at: host, seconds: 0).sessions.first?.id)
        host.show(1, screen: try screen("claude__idle__stash_and_history_label.txt").withoutDoneRow())
        _ = try detector.look(at: host, seconds: 5)
        _ = try detector.look(at: host, seconds: 7)
        host.show(1, screen: Array("half drawn".utf8))
        _ = try detector.look(at: host, seconds: 10)
        host.panes[0].isDrawable = false
        host.panes[0].activity += 1
        _ = try detector.look(at: host, seconds: 15)
        let looks = try #require(detector.explain(id)).looks
        #expect(looks.map(\.effect) == [.changed, .awaitsConfirmation, .changed, .unrecognised, .unseen])
        #expect(looks.map(\.state) == [.busy, .busy, .idle, .idle, .idle])
        #expect(looks.map(\.time.milliseconds) == [1_000_000, 1_005_000, 1_007_000, 1_010_000, 1_015_000])
        #expect(looks[3].evidence.map(\.evidence.rule) == ["screen.no-rule"])
        #expect(looks[3].evidence.map(\.meaning) == [.nothing])
        // The same screen as two seconds before.
        #expect(looks[2].evidence.map(\.age) == looks[2].evidence.map { _ in .seconds(2) })
    }

    @Test func `a rule that matched in vain is outranked`() throws {
        let host = try host("claude__waiting__subagent_permission_worker.txt")
        var detector = detector()
        let id = try #require(try detector.look(at: host, seconds: 0).sessions.first?.id)
        let look = try #require(detector.explain(id)?.looks.first)
        #expect(look.state == .needsYou(.permission))
        #expect(look.evidence.first?.outcome == .applied)
        #expect(look.evidence.first?.evidence.kind == .dialog)
    }

    @Test func `a state file outranks the screen, and one of another process is discarded`() throws {
        var host = try host("claude__busy__spinner_title_pinned.txt")
        host.stateFiles = [(agent: "claude", pid: 111, json: #"{"procStart":"5000","status":"idle"}"#)]
        var detector = detector()
        let id = try #require(try detector.look(at: host, seconds: 0).sessions.first?.id)
        host.stateFiles = [(agent: "claude", pid: 111, json: #"{"procStart":"4999","status":"idle"}"#)]
        _ = try detector.look(at: host, seconds: 5)
        let looks = try #require(detector.explain(id)).looks
        let first = looks[0].evidence
        #expect(first.first?.evidence.rule == "claude.state-file.idle")
        #expect(first.first?.outcome == .applied)
        #expect(first.dropFirst().contains { $0.meaning == .state(.busy) && $0.outcome == .outranked })
        let second = looks[1].evidence
        #expect(second.first?.meaning == .state(.busy))
        let refused = try #require(second.last)
        #expect(refused.evidence.rule == "claude.state-file.other-process")
        #expect(refused.outcome == .discarded)
        #expect(looks[1].state == .busy)
    }

    @Test func `the last 64 looks are remembered, and those of an agent that is gone`() throws {
        var host = try host("claude__busy__spinner_title_pinned.txt")
        var detector = detector()
        var id: SessionID?
        for look in 0..<80 { id = try detector.look(at: host, seconds: Int64(look) * 5).sessions.first?.id }
        let known = try #require(id)
        #expect(detector.explain(known)?.looks.count == SessionExplanation.limit)
        #expect(detector.explain(known)?.looks.first?.time.milliseconds == 1_080_000)
        host.endProgram(1)
        _ = try detector.look(at: host, seconds: 400)
        let looks = try #require(detector.explain(known)).looks
        #expect(looks.last?.state == .exited)
        #expect(looks.last?.evidence.map(\.evidence.rule) == ["process.gone"])
        _ = try detector.look(at: host, seconds: 405)
        #expect(detector.explain(known) != nil)
    }
}

/// Signs that take turns too fast, and needs that go away by themselves.
@Suite struct CalmTests {
    private static let dwelling = """
        schema = 1
        agent = "claude"
        moving_is_busy = true
        [process]
        names = ["claude"]
        [[rules]]
        name = "work"
        stage = "status-row"
        means = "busy"
        when = [{ region = "screen", pattern = '^working' }]
        [[rules]]
        name = "review"
        stage = "dialog"
        means = "needs-you"
        reason = "permission"
        strength = "strong"
        dwell = true
        when = [{ region = "screen", pattern = '^allow\\?' }]
        [[rules]]
        name = "rest"
        stage = "composer"
        means = "idle"
        when = [{ region = "screen", pattern = '^> $|^>$' }]
        """

    private func detector() throws -> HostDetector {
        let rules = try RuleFixtures.compile(Self.dwelling)
        return HostDetector(host: HostDetectorTests.host, rules: RuleBook([rules]))
    }

    private func host() -> FakeHost {
        var host = FakeHost()
        host.addPane(1, title: "", screen: Array(">".utf8), command: ["claude"])
        return host
    }

    @Test func `an agent that flaps between weak signs needs more looks for the end of a turn`() throws {
        var host = host()
        var detector = try detector()
        var seconds: Int64 = 0
        func look(_ text: String) throws -> AgentState? {
            host.show(1, screen: Array(text.utf8))
            defer { seconds += 2 }
            return try detector.look(at: host, seconds: seconds).sessions.first?.state
        }
        for _ in 0..<2 {
            _ = try look("working")
            #expect(try look(">") == .busy)
            #expect(try look(">") == .idle)
        }
        #expect(try look("working") == .busy)
        for _ in 0..<3 { #expect(try look(">") == .busy) }
        #expect(try look(">") == .idle)
    }

    @Test func `a question that a reviewer may answer is told when the second look still sees it`() throws {
        var host = host()
        var detector = try detector()
        host.show(1, screen: Array("working".utf8))
        _ = try detector.look(at: host, seconds: 0)
        host.show(1, screen: Array("allow?".utf8))
        var seen = try detector.look(at: host, seconds: 5)
        #expect(seen.sessions.map(\.state) == [.busy])
        #expect(seen.wantsConfirmation)
        host.show(1, screen: Array("working on".utf8))
        #expect(try detector.look(at: host, seconds: 7).sessions.map(\.state) == [.busy])
        host.show(1, screen: Array("allow?".utf8))
        #expect(try detector.look(at: host, seconds: 10).sessions.map(\.state) == [.busy])
        seen = try detector.look(at: host, seconds: 12)
        #expect(seen.sessions.map(\.state) == [.needsYou(.permission)])
        #expect(!seen.wantsConfirmation)
        #expect(
            detector.explain(try #require(seen.sessions.first?.id))?.looks.map(\.effect)
                == [.changed, .dwells, .confirmed, .dwells, .changed])
    }

    @Test func `a screen that moves without a sign is work where the rules say so`() throws {
        var host = host()
        var detector = try detector()
        _ = try detector.look(at: host, seconds: 0)
        host.show(1, screen: Array("some words".utf8))
        #expect(try detector.look(at: host, seconds: 5).sessions.map(\.state) == [.busy])
        host.show(1, screen: Array("some words more".utf8))
        let seen = try detector.look(at: host, seconds: 10)
        #expect(seen.sessions.map(\.state) == [.busy])
        #expect(seen.sessions.first?.evidence.map(\.rule) == ["claude.moving"])
        // It stands still: that is no sign of anything.
        #expect(try detector.look(at: host, seconds: 15).sessions.map(\.state) == [.busy])
        #expect(try detector.look(at: host, seconds: 20).sessions.map(\.state) == [.unknown])
    }
}
