import HostsConfig
import HostsDetection
import HostsModel
import Testing

@Suite struct HostDetectorTests {
    static let host = HostID(rawValue: "devbox") ?? { preconditionFailure("a valid name") }()

    private func detector() -> HostDetector {
        HostDetector(host: Self.host, rules: RuleFixtures.shipped.book)
    }

    private func screen(_ file: String) throws -> [UInt8] {
        try #require(CapturedScreen.all.first { $0.file == file }).capture()
    }

    private func claude(_ file: String, title: String = "✳ topic") throws -> FakeHost {
        var host = FakeHost()
        host.addPane(1, title: title, screen: try screen(file), command: ["claude"])
        return host
    }

    @Test(arguments: CapturedScreen.all)
    func `the process decides, then the screen`(_ captured: CapturedScreen) throws {
        var host = FakeHost()
        host.addPane(
            1, title: captured.title, screen: try captured.capture(), command: captured.arguments,
            name: captured.command)
        var detector = detector()
        let observation = try detector.look(at: host, seconds: 0)
        if captured.state == "exited" {
            #expect(observation.sessions == [])
        } else {
            let session = try #require(observation.sessions.first)
            // What streams without any sign takes a second look: it has to move.
            let isKnown =
                try captured.state != "busy" || !RuleFixtures.rules(captured.agent).rules.movingIsBusy
            #expect(
                Self.word(session.state) == (isKnown ? captured.state : "unknown"), "\(session.evidence)")
            #expect(session.agent.rawValue == captured.agent)
            #expect(session.place.label == "main:0.1")
        }
    }

    private static func word(_ state: AgentState) -> String {
        state.reason == nil ? state.word : "waiting"
    }

    // MARK: Debounce

    @Test func `a weak turn end waits for a second look, and says so`() throws {
        var host = try claude("claude__busy__spinner_title_pinned.txt")
        var detector = detector()
        var seen = try detector.look(at: host, seconds: 0)
        #expect(seen.sessions.map(\.state) == [.busy])
        host.show(1, screen: try screen("claude__idle__stash_and_history_label.txt").withoutDoneRow())
        seen = try detector.look(at: host, seconds: 5)
        #expect(seen.sessions.map(\.state) == [.busy])
        #expect(seen.wantsConfirmation)
        seen = try detector.look(at: host, seconds: 7)
        #expect(seen.sessions.map(\.state) == [.idle])
        #expect(!seen.wantsConfirmation)
        #expect(seen.sessions.first?.since == WallTime(milliseconds: 1_007_000))
    }

    @Test func `a done row ends a turn at once`() throws {
        var host = try claude("claude__busy__spinner_title_pinned.txt")
        var detector = detector()
        _ = try detector.look(at: host, seconds: 0)
        host.show(1, screen: try screen("claude__idle__done_line.txt"))
        let seen = try detector.look(at: host, seconds: 5)
        #expect(seen.sessions.map(\.state) == [.idle])
        #expect(!seen.wantsConfirmation)
    }

    @Test func `work and need are told at once`() throws {
        var host = try claude("claude__idle__done_line.txt")
        var detector = detector()
        _ = try detector.look(at: host, seconds: 0)
        host.show(1, screen: try screen("claude__busy__spinner_title_pinned.txt"))
        #expect(try detector.look(at: host, seconds: 5).sessions.map(\.state) == [.busy])
        host.show(1, screen: try screen("claude__waiting__edit_permission.txt"))
        #expect(try detector.look(at: host, seconds: 10).sessions.map(\.state) == [.needsYou(.permission)])
        host.show(1, screen: try screen("claude__idle__stash_and_history_label.txt").withoutDoneRow())
        #expect(try detector.look(at: host, seconds: 15).sessions.map(\.state) == [.idle])
    }

    @Test func `one look without any sign changes nothing, two do`() throws {
        var host = try claude("claude__busy__spinner_title_pinned.txt")
        var detector = detector()
        _ = try detector.look(at: host, seconds: 0)
        host.show(1, screen: Array("half drawn".utf8))
        #expect(try detector.look(at: host, seconds: 5).sessions.map(\.state) == [.busy])
        #expect(try detector.look(at: host, seconds: 10).sessions.map(\.state) == [.unknown])
    }

    @Test func `a viewer keeps the state before it, but not for ever`() throws {
        var host = try claude("claude__busy__spinner_title_pinned.txt")
        var detector = detector()
        _ = try detector.look(at: host, seconds: 0)
        host.show(1, screen: Array("old rows\n\n  Showing detailed transcript · ctrl+o to toggle\n".utf8))
        #expect(try detector.look(at: host, seconds: 5).sessions.map(\.state) == [.busy])
        #expect(try detector.look(at: host, seconds: 600).sessions.map(\.state) == [.busy])
        #expect(try detector.look(at: host, seconds: 606).sessions.map(\.state) == [.unknown])
    }

    @Test func `a pane that could not be drawn keeps its state`() throws {
        var host = try claude("claude__busy__spinner_title_pinned.txt")
        var detector = detector()
        _ = try detector.look(at: host, seconds: 0)
        host.panes[0].isDrawable = false
        host.panes[0].activity += 50
        for seconds in [5, 10, 15] as [Int64] {
            #expect(try detector.look(at: host, seconds: seconds).sessions.map(\.state) == [.busy])
        }
    }

    @Test func `an interruption is a quiet end`() throws {
        var host = try claude("claude__busy__spinner_title_pinned.txt")
        var detector = detector()
        _ = try detector.look(at: host, seconds: 0)
        host.show(1, screen: try screen("claude__idle__interrupted.txt"))
        let session = try #require(try detector.look(at: host, seconds: 5).sessions.first)
        #expect(session.state == .idle)
        #expect(session.flags == [.interrupted])
    }

    @Test func `the end of start-up is no turn end`() throws {
        var host = FakeHost()
        host.addPane(
            2, title: "⠋ sessions", screen: try screen("codex__busy__mcp_booting.txt"), command: ["codex"])
        var detector = detector()
        #expect(try detector.look(at: host, seconds: 0).sessions.map(\.state) == [.busy])
        host.show(2, title: "sessions", screen: try screen("codex__idle__fresh_start.txt"))
        let session = try #require(try detector.look(at: host, seconds: 5).sessions.first)
        #expect(session.state == .idle)
        #expect(session.flags == [.interrupted])
        host.show(2, title: "⠋ sessions", screen: try screen("codex__busy__working_status_row.txt"))
        _ = try detector.look(at: host, seconds: 10)
        host.show(2, title: "sessions", screen: try screen("codex__idle__fresh_start.txt"))
        #expect(try detector.look(at: host, seconds: 15).sessions.first?.flags == [])
    }

    @Test func `a title without spinner proves a turn end where it has shown one`() throws {
        var host = FakeHost()
        host.addPane(
            2, title: "⠋ sessions", screen: try screen("codex__busy__working_status_row.txt"),
            command: ["codex"])
        var detector = detector()
        _ = try detector.look(at: host, seconds: 0)
        host.show(2, title: "sessions", screen: try screen("codex__idle__fresh_start.txt"))
        #expect(try detector.look(at: host, seconds: 5).sessions.map(\.state) == [.idle])
    }

    @Test func `a busy row that stands still for long is called stalled`() throws {
        var host = try claude("claude__busy__spinner_title_pinned.txt")
        host.now = 2_000
        var detector = detector()
        _ = try detector.look(at: host, seconds: 0)
        for seconds in stride(from: Int64(5), to: 35, by: 5) {
            #expect(try detector.look(at: host, seconds: seconds).sessions.first?.flags == [])
        }
        #expect(try detector.look(at: host, seconds: 35).sessions.first?.flags == [.stalled])
        host.show(1, screen: try screen("claude__busy__bash_running_tip.txt"))
        #expect(try detector.look(at: host, seconds: 40).sessions.first?.flags == [])
    }

    // MARK: Processes

    @Test func `an agent that has ended is listed once more`() throws {
        var host = try claude("claude__busy__spinner_title_pinned.txt")
        var detector = detector()
        let first = try detector.look(at: host, seconds: 0)
        host.endProgram(1)
        let second = try detector.look(at: host, seconds: 5)
        #expect(second.sessions.map(\.state) == [.exited])
        #expect(second.sessions.map(\.id) == first.sessions.map(\.id))
        #expect(try detector.look(at: host, seconds: 10).sessions == [])
    }

    @Test func `Ctrl-Z stops an agent, it does not end it`() throws {
        var host = try claude("claude__busy__spinner_title_pinned.txt")
        var detector = detector()
        _ = try detector.look(at: host, seconds: 0)
        host.change(1) {
            $0.state = "T"
            $0.foreground = 110
        }
        #expect(try detector.look(at: host, seconds: 5).sessions.map(\.state) == [.stopped])
    }

    @Test func `a tool that owns the terminal for a moment changes nothing`() throws {
        var host = try claude("claude__busy__spinner_title_pinned.txt")
        var detector = detector()
        _ = try detector.look(at: host, seconds: 0)
        host.change(1) { $0.foreground = 4_711 }
        host.show(1, screen: Array("some tool".utf8))
        for seconds in [5, 10, 15] as [Int64] {
            #expect(try detector.look(at: host, seconds: seconds).sessions.map(\.state) == [.busy])
        }
    }

    @Test func `another start of the host ends every agent of before`() throws {
        var host = try claude("claude__busy__spinner_title_pinned.txt")
        var detector = detector()
        let before = try #require(try detector.look(at: host, seconds: 0).sessions.first)
        host.boot = "other"
        let after = try detector.look(at: host, seconds: 5)
        #expect(after.bootID == "other")
        #expect(after.sessions.count == 2)
        #expect(after.sessions.first { $0.id == before.id }?.state == .exited)
        #expect(after.sessions.first { $0.id != before.id }?.state == .busy)
    }

    @Test func `a tmux server that does not answer keeps what was known, and hides what is new`() throws {
        var host = try claude("claude__busy__spinner_title_pinned.txt")
        var detector = detector()
        let before = try detector.look(at: host, seconds: 0)
        host.isListed = false
        host.serverStatus = "124"
        host.addPane(3, title: "", screen: [], command: ["codex"])
        let seen = try detector.look(at: host, seconds: 5)
        #expect(seen.sessions.map(\.id) == before.sessions.map(\.id))
        #expect(seen.sessions.map(\.state) == [.busy])
        #expect(seen.warnings == ["the tmux server at /tmp/tmux-1000/default did not answer within 2 s"])
        host.isListed = true
        host.serverStatus = "0"
        #expect(try detector.look(at: host, seconds: 10).sessions.count == 2)
    }

    @Test func `an agent outside tmux has its terminal, and no state without a file`() throws {
        var host = try claude("claude__busy__spinner_title_pinned.txt")
        host.panes = []
        var detector = detector()
        let session = try #require(try detector.look(at: host, seconds: 0).sessions.first)
        #expect(session.place == Place(label: "pts/1", tty: "pts/1"))
        #expect(session.state == .unknown)
    }

    // MARK: Errors and requests

    @Test func `a reply that is an error changes nothing`() throws {
        let host = try claude("claude__busy__spinner_title_pinned.txt")
        var detector = detector()
        let before = try detector.look(at: host, seconds: 0)
        let whole = host.answer(detector.nextRequest())
        for length in stride(from: 0, to: whole.body.count - 1, by: 97) {
            let cut = ProbeReply(nonce: whole.nonce, body: Array(whole.body.prefix(length)), status: 0)
            _ = detector.nextRequest()
            #expect(throws: ReplyError.self) {
                _ = try detector.report(cut, at: WallTime(milliseconds: 1_005_000))
            }
        }
        let after = try detector.look(at: host, seconds: 10)
        #expect(after.sessions.map(\.state) == before.sessions.map(\.state))
        #expect(after.sessions.map(\.since) == before.sessions.map(\.since))
    }

    @Test func `a screen that cannot have changed is not asked for`() throws {
        var host = try claude("claude__idle__done_line.txt")
        var detector = detector()
        _ = try detector.look(at: host, seconds: 0)
        let request = detector.nextRequest()
        #expect(request.arguments.contains("capture:%1:1000:/tmp/tmux-1000/default"))
        // Written to in the second of the drawing: it may have changed after it.
        host.panes[0].activity = host.now
        _ = try detector.look(at: host, seconds: 5)
        #expect(detector.nextRequest().arguments.contains("capture:%1:0:/tmp/tmux-1000/default"))
    }

    @Test(arguments: [
        ["tmux", "-S", "/srv/odd place/sock", "new", "-d"], ["tmux", "-S/srv/odd place/sock"],
        ["tmux", "-u", "-f", "/dev/null", "-S", "/srv/odd place/sock", "new"],
        ["tmux", "-c", "/bin/sh", "-T", "RGB", "-S", "/srv/odd place/sock"],
    ])
    func `a socket that only a server's arguments name is looked at in the same tick`(
        arguments: [String]
    ) throws {
        var host = FakeHost()
        host.processes.append(
            FakeHost.Process(
                pid: 50, group: 50, session: 50, terminal: 0, foreground: -1, name: "tmux: server",
                arguments: arguments))
        var detector = detector()
        let step = try detector.report(host.answer(detector.nextRequest()), at: WallTime(milliseconds: 0))
        #expect(
            step
                == .followUp(ProbeRequest(function: "hostsd_look", arguments: ["socket:/srv/odd place/sock"]))
        )
    }

    @Test func `an answer that nobody asked for is an error`() throws {
        var detector = detector()
        let reply = FakeHost().answer(ProbeRequest(function: "hostsd_look"))
        #expect(throws: ReplyError.unexpected) {
            _ = try detector.report(reply, at: WallTime(milliseconds: 0))
        }
    }
}

extension [UInt8] {
    /// The same screen without the row that proves a turn end.
    func withoutDoneRow() -> [UInt8] {
        let rows = String(decoding: self, as: UTF8.self).split(
            separator: "\n", omittingEmptySubsequences: false)
        return Array(rows.filter { !$0.hasPrefix("✻ ") }.joined(separator: "\n").utf8)
    }
}
