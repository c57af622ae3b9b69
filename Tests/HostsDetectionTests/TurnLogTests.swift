import Foundation
import HostsConfig
import HostsDetection
import HostsModel
import Testing

/// The logs that agents write of their own turns, weighed with the screen.
@Suite struct TurnLogTests {
    private func screen(_ file: String) throws -> [UInt8] {
        try #require(CapturedScreen.all.first { $0.file == file }).capture()
    }

    /// Codex at rest, by its screen and title; its log grows with each call of `log`.
    private struct Bench {
        var host = FakeHost()
        var detector = HostDetector(host: HostDetectorTests.host, rules: RuleFixtures.book)
        private var seconds: Int64 = 0
        private var size = 0

        init(_ command: String, title: String, screen: [UInt8]) {
            host.addPane(1, title: title, screen: screen, command: [command])
        }

        mutating func log(_ events: String...) {
            size += 100
            host.turnLogs = [(pid: 111, stamp: "77-\(1_000 + size)-\(size)", events: events)]
        }

        /// Sees the agent, and then its log, in which nothing stands yet: from now on the log is believed when it grows.
        mutating func watch() throws {
            _ = try look()
            log()
            _ = try look()
        }

        mutating func look() throws -> AgentSession? {
            seconds += 5
            return try detector.look(at: host, seconds: seconds).sessions.first
        }
    }

    private func codex(_ file: String = "codex__idle__fresh_start.txt", title: String = "sessions") throws
        -> Bench
    {
        Bench("codex", title: title, screen: try screen(file))
    }

    @Test func `work that the screen does not show is seen in the log, and so is its end`() throws {
        var bench = try codex()
        bench.log("task_complete")
        #expect(try bench.look()?.state == .idle)
        // Its processes are known from the first look on.
        #expect(try bench.look()?.state == .idle)
        bench.log("task_complete", "task_started")
        let busy = try #require(try bench.look())
        #expect(busy.state == .busy)
        #expect(busy.evidence.map(\.rule) == ["codex.turn-log.task_started"])
        // It was not written to since.
        #expect(try bench.look()?.state == .busy)
        bench.log("task_started", "task_complete")
        let idle = try #require(try bench.look())
        #expect(idle.state == .idle)
        #expect(idle.flags == [])
    }

    @Test func `a turn that the log calls aborted is a quiet end`() throws {
        var bench = try codex()
        try bench.watch()
        bench.log("turn_started")
        #expect(try bench.look()?.state == .busy)
        bench.log("turn_started", "turn_aborted")
        #expect(try bench.look()?.flags == [.interrupted])
    }

    @Test func `what the log said before anybody looked is not believed against the screen`() throws {
        var bench = try codex()
        bench.log("task_started")
        for _ in 0..<4 { #expect(try bench.look()?.state == .idle) }
        let id = try #require(try bench.look()?.id)
        let last = try #require(bench.detector.explain(id)?.looks.last)
        #expect(last.evidence.last?.outcome == .discarded)
        #expect(last.evidence.last?.evidence.rule == "codex.turn-log.task_started")
    }

    @Test func `a log that calls it busy does not hide a question, which it cannot know of`() throws {
        var bench = try codex()
        try bench.watch()
        bench.log("task_started")
        #expect(try bench.look()?.state == .busy)
        bench.host.show(
            1, title: "[ ! ] Action Required | sessions",
            screen: try screen("codex__waiting__plan_implement.txt"))
        #expect(try bench.look()?.state == .needsYou(.plan))
    }

    @Test func `work on the screen counts more than an end in the log`() throws {
        var bench = try codex("codex__busy__working_status_row.txt", title: "⠋ sessions")
        try bench.watch()
        bench.log("task_complete")
        #expect(try bench.look()?.state == .busy)
    }

    @Test func `another log of the same process says nothing old`() throws {
        var bench = try codex()
        try bench.watch()
        bench.log("task_started")
        #expect(try bench.look()?.state == .busy)
        // A new session in the same window: its log is empty yet.
        bench.host.turnLogs = [(pid: 111, stamp: "78-9000-0", events: [])]
        #expect(try bench.look()?.state == .busy)
        #expect(try bench.look()?.state == .idle)
    }

    @Test func `a permission in the log is a need that the screen does not show`() throws {
        var bench = Bench("copilot", title: "", screen: Array("words\n".utf8))
        _ = try bench.look()
        bench.log("user.message")
        _ = try bench.look()
        bench.log("user.message", "permission.requested")
        let waiting = try #require(try bench.look())
        #expect(waiting.state == .needsYou(.permission))
        #expect(waiting.evidence.map(\.rule) == ["copilot.turn-log.permission.requested"])
        bench.log("permission.requested", "permission.completed")
        #expect(try bench.look()?.state == .busy)
        // The end of a step is the end of a turn only if no other begins.
        bench.log("permission.completed", "assistant.turn_end")
        #expect(try bench.look()?.state == .busy)
        bench.log("assistant.turn_end", "assistant.turn_start")
        #expect(try bench.look()?.state == .busy)
        bench.log("assistant.turn_start", "assistant.turn_end")
        #expect(try bench.look()?.state == .busy)
        #expect(try bench.look()?.state == .idle)
    }

    // MARK: The file

    private static let good = """
        schema = 1
        agent = "toy"
        [process]
        names = ["toy"]
        [turn_log]
        held = "*/logs/turn-*.jsonl"
        skip = ["kind=helper", "parent"]
        [turn_log.events]
        start = { state = "busy" }
        "turn.end" = { state = "idle", strength = "strong" }
        """

    @Test(arguments: [
        ("held = \"*/logs/turn-*.jsonl\"", "held = \"$(x)\"", "a pattern of letters, digits"),
        ("held = \"*/logs/turn-*.jsonl\"", "held = \"../*\"", "a pattern of letters, digits"),
        ("held = \"*/logs/turn-*.jsonl\"", "", "[turn_log] needs \"held\""),
        ("held = \"*/logs/turn-*.jsonl\"", "marker = \"a/PID\"", "[turn_log] needs \"held\""),
        ("\"parent\"", "\"a b\"", "\"member\" or \"member=text\" is wanted"),
        ("\"turn.end\"", "\"turn end\"", "an event has letters, digits and . _ - in its name"),
        ("\"busy\"", "\"bussy\"", "did you mean \"busy\"?"),
        ("skip =", "skipp =", "did you mean \"skip\"?"),
    ])
    func `what is wrong in a file is told with its place`(old: String, new: String, message: String) throws {
        let (good, none) = AgentRulesFile.load(text: Self.good, file: "toy.toml")
        #expect(none == [])
        #expect(good?.turnLog?.events.count == 2)
        let text = Self.good.replacing(old, with: new)
        let (rules, diagnostics) = AgentRulesFile.load(text: text, file: "toy.toml")
        #expect(rules == nil)
        #expect(diagnostics.contains { $0.description.contains(message) }, "\(diagnostics)")
        #expect(diagnostics.allSatisfy { $0.location.line > 1 })
    }
}

/// The same with real shells, real processes and real files.
@Suite(.serialized, .ownThread) struct TurnLogProbeTests {
    /// Makes a program that appends each line it is told to a log, which it holds open, and one of a subagent.
    private func makeAgent(_ name: String, in host: ShellHost, log: String) throws {
        let script = """
            #!/bin/sh
            stty -echo
            mkdir -p "\(log)"
            : >"\(log)/inuse.$$.lock"
            exec 8>>"\(log)/rollout-2-child.jsonl" 9>>"\(log)/rollout-1.jsonl"
            printf '{"type":"session_meta","payload":{"thread_source":"subagent"}}\\n' >&8
            printf '{"type":"session_meta","payload":{"id":"secret"}}\\n' >&9
            echo ready
            while read -r line; do
                printf '%s\\n' "$line" >&9
                printf '{"type":"event_msg","payload":{"type":"task_complete"}}\\n' >&8
                echo "told: $line" | cut -c 1-30
            done
            """
        try host.install(script, at: host.folder.appending(path: "bin/\(name)"))
    }

    private func row(_ event: String) -> String {
        #"{"timestamp":"2026-12-01","type":"event_msg","payload":{"type":"\#(event)","secret":"xyzzy"}}"#
    }

    @Test(arguments: Shell.all)
    func `the log that a process holds open is followed, and nothing else of it leaves the host`(
        _ shell: Shell
    ) throws {
        let host = try ShellHost()
        try makeAgent("codex", in: host, log: host.home.appending(path: "a b/sessions/2026/12/01").path)
        let pane = try host.openPane(host.folder.appending(path: "bin/codex").path)
        var detector = HostDetector(
            host: try #require(HostID(rawValue: "box")), rules: RuleFixtures.shipped.book)
        _ = try host.look(&detector, in: shell) { !$0.sessions.isEmpty }
        // The log is known before it grows.
        for second in 0..<3 { _ = try host.look(&detector, in: shell, at: Int64(second)) }
        try host.type(row("task_started"), into: pane)
        let busy = try host.look(&detector, in: shell) { $0.sessions.map(\.state) == [.busy] }
        #expect(busy.sessions.first?.evidence.map(\.rule) == ["codex.turn-log.task_started"])
        let request = detector.nextRequest()
        let reply = try host.probe(request, in: shell)
        #expect(!String(decoding: reply.body, as: UTF8.self).contains("secret"))
        let pid = try #require(busy.sessions.first?.pid)
        #expect(try ReplyParser.parse(reply).turnLogs == [TurnLogRecord(pid: pid, content: .same)])
        try host.type(row("agent_message"), into: pane)
        try host.type(row("task_complete"), into: pane)
        let idle = try host.look(&detector, in: shell) { $0.sessions.map(\.state) == [.idle] }
        #expect(idle.sessions.first?.evidence.map(\.rule) == ["codex.turn-log.task_complete"])
    }

    @Test(arguments: Shell.all)
    func `the log beside a lock of the process is found`(_ shell: Shell) throws {
        let host = try ShellHost()
        let folder = host.home.appending(path: ".copilot/session-state/0-1")
        try makeAgent("copilot", in: host, log: folder.path)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        // The stand-in writes to another name; this one is what Copilot calls it.
        try FileManager.default.createSymbolicLink(
            atPath: folder.appending(path: "events.jsonl").path, withDestinationPath: "rollout-1.jsonl")
        let other = host.home.appending(path: ".copilot/session-state/0-2")
        try FileManager.default.createDirectory(at: other, withIntermediateDirectories: true)
        try #"{"type":"permission.requested"}"#.write(
            to: other.appending(path: "events.jsonl"), atomically: true, encoding: .utf8)
        let pane = try host.openPane(host.folder.appending(path: "bin/copilot").path)
        var detector = HostDetector(
            host: try #require(HostID(rawValue: "box")), rules: RuleFixtures.shipped.book)
        _ = try host.look(&detector, in: shell) { !$0.sessions.isEmpty }
        for second in 0..<3 { _ = try host.look(&detector, in: shell, at: Int64(second)) }
        try host.type(#"{"type":"permission.requested","data":{"secret":1}}"#, into: pane)
        let waiting = try host.look(&detector, in: shell) {
            $0.sessions.map(\.state) == [.needsYou(.permission)]
        }
        #expect(waiting.sessions.first?.evidence.map(\.rule) == ["copilot.turn-log.permission.requested"])
    }

    @Test(arguments: Shell.all)
    func `words that ask for a log run nothing and name no other file`(_ shell: Shell) throws {
        let host = try ShellHost()
        let mark = host.folder.appending(path: "mark").path
        let evil = [
            "log:1;touch \(mark):-:held:*::::9::a", "log:$(touch \(mark)):-:held:*::::9::a",
            "log:1:-:beside:*/PID:f:HOME;touch \(mark):x:9::a",
            "log:1:-:beside:$(touch \(mark))PID:f::x:9::a",
            "log:\(getpid()):-:held:$(touch \(mark))*::::9:$(touch \(mark)):$(touch \(mark))", "log:",
            "log:::::::",
            "log:\(getpid()):-:held:*::::9::a\"|touch \(mark)|\"",
        ]
        let reply = try host.probe(ProbeRequest(function: "hostsd_probe", arguments: evil), in: shell)
        #expect(throws: Never.self) { _ = try ReplyParser.parse(reply) }
        #expect(!FileManager.default.fileExists(atPath: mark))
    }
}
