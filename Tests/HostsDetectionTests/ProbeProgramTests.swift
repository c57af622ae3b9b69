import Foundation
import HostsConfig
import HostsDetection
import HostsModel
import Testing

/// The probe as it is, in real shells, with a real tmux server and stand-ins for agents.
@Suite(.serialized, .ownThread) struct ProbeProgramTests {
    private func detector() throws -> HostDetector {
        HostDetector(host: try #require(HostID(rawValue: "box")), rules: RuleFixtures.shipped.book)
    }

    private func path(_ file: String) throws -> String {
        let name = URL(filePath: file).deletingPathExtension().lastPathComponent
        return try #require(
            Bundle.module.url(forResource: name, withExtension: "txt", subdirectory: "Fixtures/screens")
        ).path
    }

    @Test(arguments: Shell.all)
    func `a host without tmux and agents gives an empty observation`(_ shell: Shell) throws {
        let host = try ShellHost()
        var detector = try detector()
        let observation = try host.look(&detector, in: shell, at: 0)
        #expect(observation.sessions == [])
        let boot = try String(contentsOfFile: "/proc/sys/kernel/random/boot_id", encoding: .utf8)
        #expect(observation.bootID == boot.trimmingCharacters(in: .newlines))
    }

    @Test(arguments: Shell.all)
    func `an agent is found and followed through its states`(_ shell: Shell) throws {
        let host = try ShellHost()
        try host.makeAgent(named: "claude")
        let pane = try host.openPane(host.folder.appending(path: "bin/claude").path)
        var detector = try detector()
        try host.type("\(try path("claude__busy__spinner_title_pinned.txt"))|✳ a | b; c é|", into: pane)
        let busy = try host.look(&detector, in: shell) { $0.sessions.map(\.state) == [.busy] }
        let session = try #require(busy.sessions.first)
        #expect(session.place.socket == host.socket)
        #expect(session.place.pane == pane)
        #expect(session.place.label == "0:0.0")
        #expect(session.version == nil)
        try host.type("\(try path("claude__waiting__edit_permission.txt"))|✳ topic|", into: pane)
        let waiting = try host.look(&detector, in: shell) { $0.sessions.map(\.state) != [.busy] }
        #expect(waiting.sessions.map(\.state) == [.needsYou(.permission)])
        try host.type("\(try path("claude__idle__done_line.txt"))|✳ topic|shell", into: pane)
        let idle = try host.look(&detector, in: shell) { $0.sessions.first?.version != nil }
        #expect(idle.sessions.map(\.state) == [.idle])
        #expect(idle.sessions.first?.flags == [.background])
        #expect(idle.sessions.first?.evidence.first?.rule == "claude.state-file.shell")
        #expect(idle.sessions.map(\.id) == busy.sessions.map(\.id))
        // The shell below it comes back; screen, title and state file outlive the agent.
        try host.tmux(["send-keys", "-t", pane, "C-d"])
        let gone = try host.look(&detector, in: shell) { $0.sessions.map(\.state) != [.idle] }
        #expect(gone.sessions.map(\.state) == [.exited])
        #expect(try host.look(&detector, in: shell, at: 500).sessions == [])
    }

    /// What a link's shell may be like before the first look.
    static let settings = [
        "set -eu", "set -f", "unset PATH HOME TMUX_TMPDIR LANG SHELL", "PATH=; HOME=/nonexistent", "IFS=:",
        "umask 0",
        "LC_ALL=ja_JP.eucJP; export LC_ALL", "set -C", "alias grep=false sed=false printf=false",
        "CDPATH=/; GREP_OPTIONS=-v; export CDPATH GREP_OPTIONS",
    ]

    @Test(arguments: Shell.all)
    func `whatever the shell was set to, the agent is found`(_ shell: Shell) throws {
        let host = try ShellHost()
        try host.makeAgent(named: "codex")
        let pane = try host.openPane(host.folder.appending(path: "bin/codex").path)
        try host.type("\(try path("codex__idle__fresh_start.txt"))|sessions|", into: pane)
        var detector = try detector()
        _ = try host.look(&detector, in: shell) { $0.sessions.map(\.state) == [.idle] }
        for setting in Self.settings {
            let request = ProbeRequest(
                function: "hostsd_probe", arguments: ["names:codex", "socket:\(host.socket)"])
            let reply = try host.probe(request, in: shell, setup: setting)
            let report = try ReplyParser.parse(reply)
            #expect(report.processes.contains { $0.name == "codex" }, "\(setting)")
            #expect(report.servers.first { $0.socket == host.socket }?.answer == .served, "\(setting)")
        }
    }

    @Test(arguments: Shell.some)
    func `a tool that hangs costs a bounded time, whatever sets the limit`(_ shell: Shell) throws {
        let host = try ShellHost()
        _ = try host.openPane("true")
        let text = try host.tmux(["display-message", "-p", "#{pid}"]).trimmingCharacters(in: .newlines)
        let pid = try #require(pid_t(text))
        #expect(kill(pid, SIGSTOP) == 0)
        defer {
            kill(pid, SIGCONT)
            _ = try? host.tmux(["kill-server"])
        }
        // As on macOS: there is perl, and no timeout(1).
        let tools = try host.makeTools([
            "tmux", "sed", "head", "cut", "grep", "ls", "stat", "tail", "perl", "printf",
        ])
        let setup = "PATH=\(tools.path)"
        let reply = try host.probe(
            ProbeRequest(function: "hostsd_look", arguments: ["socket:\(host.socket)"]), in: shell,
            setup: setup)
        let report = try ReplyParser.parse(reply)
        #expect(report.servers.map(\.answer) == [.timedOut])
    }

    @Test(arguments: Shell.some)
    func `a home folder that hangs costs its state files, and a bounded time`(_ shell: Shell) throws {
        let host = try ShellHost()
        try host.makeAgent(named: "claude")
        let pane = try host.openPane(host.folder.appending(path: "bin/claude").path)
        try host.type("\(try path("claude__idle__done_line.txt"))|✳ topic|busy", into: pane)
        var detector = try detector()
        // The file says busy, the screen idle.
        _ = try host.look(&detector, in: shell) { $0.sessions.map(\.state) == [.busy] }
        let tools = try host.makeTools(
            ["tmux", "sed", "head", "cut", "ls", "stat", "tail", "timeout", "printf"])
        try host.install(
            "#!/bin/sh\ncase $* in *.json*) exec /bin/sleep 600 ;; esac\nexec /bin/grep \"$@\"\n",
            at: tools.appending(path: "grep"))
        let reply = try host.probe(detector.nextRequest(), in: shell, setup: "PATH=\(tools.path)")
        let report = try ReplyParser.parse(reply)
        #expect(report.stateFiles == [])
        #expect(report.servers.contains { $0.socket == host.socket && $0.answer == .served })
    }

    @Test func `Ctrl-Z is seen as a stop`() throws {
        let host = try ShellHost()
        try host.makeAgent(named: "codex")
        let pane = try host.openPane("bash -i")
        try host.type(host.folder.appending(path: "bin/codex").path, into: pane)
        try host.type("\(try path("codex__idle__fresh_start.txt"))|sessions|", into: pane)
        var detector = try detector()
        _ = try host.look(&detector, in: Shell.all[0]) { $0.sessions.map(\.state) == [.idle] }
        try host.tmux(["send-keys", "-t", pane, "C-z"])
        let stopped = try host.look(&detector, in: Shell.all[0]) { $0.sessions.map(\.state) != [.idle] }
        #expect(stopped.sessions.map(\.state) == [.stopped])
        // A stopped process does not notice that its terminal has gone.
        kill(try #require(stopped.sessions.first).pid, SIGKILL)
    }

    @Test(arguments: Shell.all)
    func `an agent among hundreds of processes with long arguments is found`(_ shell: Shell) throws {
        let host = try ShellHost()
        try host.makeAgent(named: "codex")
        // The name of a shell, so that the arguments are wanted.
        let idle = host.folder.appending(path: "bin/idlesh").path
        try FileManager.default.createSymbolicLink(atPath: idle, withDestinationPath: "/bin/sleep")
        let words = String(repeating: " 0.000000", count: 60)
        // One job in the foreground: it ends with its terminal.
        let script = "for i in $(seq 250); do \(idle) 600\(words) & done; clear; echo; echo crowded; wait"
        let crowd = try host.openPane("sh -c '\(script)'")
        let pane = try host.openPane(host.folder.appending(path: "bin/codex").path)
        try host.type("\(try path("codex__idle__fresh_start.txt"))|sessions|", into: pane)
        var tries = 0
        while try !host.tmux(["capture-pane", "-p", "-t", crowd]).contains("\ncrowded"), tries < 1000 {
            tries += 1
        }
        var detector = try detector()
        let observation = try host.look(&detector, in: shell) { $0.sessions.map(\.state) == [.idle] }
        #expect(observation.sessions.map(\.agent.rawValue) == ["codex"])
    }

    @Test(arguments: Shell.all)
    func `the shell of the link stays as it was`(_ shell: Shell) throws {
        let host = try ShellHost()
        let request = "hostsd_probe N names:claude state:claude:CLAUDE_CONFIG_DIR:.claude:sessions"
        let state =
            "{ set; pwd; umask; } | grep -v -e ^_= -e ^BASH_ -e ^LINENO= -e ^PIPESTATUS= -e ^BASHPID= -e ^RANDOM= -e ^SECONDS= -e ^EPOCH -e '^\\.sh\\.' "
        let input = """
            \(HostDetector.program.definitions)
            \(state) >"$HOME/before"
            \(request) </dev/null >/dev/null
            \(request) </dev/null >/dev/null
            \(state) >"$HOME/after"
            cmp "$HOME/before" "$HOME/after" && echo same

            """
        let (output, _) = try host.run(shell.path, shell.options + ["-s"], input: input)
        #expect(output == "same\n")
    }

    @Test func `defining the functions prints nothing and changes nothing`() throws {
        let host = try ShellHost()
        let (output, status) = try host.run("/bin/sh", ["-s"], input: HostDetector.program.definitions + "\n")
        #expect(output == "")
        #expect(status == 0)
    }

    @Test(arguments: Shell.all)
    func `a dead socket starts no server`(_ shell: Shell) throws {
        let host = try ShellHost()
        _ = try host.openPane("true")
        let pid = try host.tmux(["display-message", "-p", "#{pid}"]).trimmingCharacters(in: .newlines)
        // Killed hard, a server leaves its socket behind.
        #expect(kill(try #require(pid_t(pid)), SIGKILL) == 0)
        var answers: [TmuxServer.Answer] = []
        for _ in 0..<400 where answers != [.notRunning] {
            var detector = try detector()
            let report = try ReplyParser.parse(try host.probe(detector.nextRequest(), in: shell))
            answers = report.servers.filter { $0.socket == host.socket }.map(\.answer)
        }
        #expect(answers == [.notRunning])
        #expect(
            try host.run("/usr/bin/env", ["tmux", "-L", "private", "list-sessions"], input: nil).status == 1)
    }

    @Test func `a server that hangs costs bounded time, and is told of`() throws {
        let host = try ShellHost()
        _ = try host.openPane("true")
        let text = try host.tmux(["display-message", "-p", "#{pid}"]).trimmingCharacters(in: .newlines)
        let pid = try #require(pid_t(text))
        #expect(kill(pid, SIGSTOP) == 0)
        var detector = try detector()
        let observation = try withExtendedLifetime(host) {
            defer { kill(pid, SIGCONT) }
            return try host.look(&detector, in: Shell.all[0], at: 0)
        }
        #expect(observation.warnings.contains("the tmux server at \(host.socket) did not answer within 2 s"))
        try host.tmux(["kill-server"])
    }

    @Test func `a pane that is gone costs only its own screen`() throws {
        let host = try ShellHost()
        let pane = try host.openPane("echo here it is")
        let socket = host.socket
        let request = ProbeRequest(
            function: "hostsd_look",
            arguments: ["socket:\(socket)", "capture:%99:0:\(socket)", "capture:\(pane):0:\(socket)"])
        let report = try ReplyParser.parse(try host.probe(request, in: Shell.all[0]))
        let server = try #require(report.servers.first)
        #expect(server.answer == .served)
        #expect(Array(server.captures.keys) == [pane])
        let again = ProbeRequest(
            function: "hostsd_look",
            arguments: ["socket:\(socket)", "capture:\(pane):\(server.panes[0].activity):\(socket)"])
        #expect(throws: Never.self) { _ = try ReplyParser.parse(try host.probe(again, in: Shell.all[0])) }
    }

    @Test(arguments: Shell.all)
    func `words that are no words of ours run nothing`(_ shell: Shell) throws {
        let host = try ShellHost()
        _ = try host.openPane("true")
        let mark = host.folder.appending(path: "mark").path
        let evil = [
            "socket:\(host.socket)", "capture:%0;run-shell 'touch \(mark)':0:\(host.socket)",
            "capture:%0:0$(touch \(mark)):\(host.socket)", "state:x:HOME;touch \(mark):a:b",
            "state:x:$(touch \(mark)):a:b", "state:x::$(touch \(mark)):b", "names:`touch \(mark)`", "*", "--",
        ]
        let reply = try host.probe(ProbeRequest(function: "hostsd_probe", arguments: evil), in: shell)
        #expect(throws: Never.self) { _ = try ReplyParser.parse(reply) }
        #expect(!FileManager.default.fileExists(atPath: mark))
    }

    @Test func `a reply is never longer than a link accepts`() throws {
        let host = try ShellHost()
        let pane = try host.openPane("yes '\(String(repeating: "│", count: 100))'")
        try host.tmux(["set-option", "-g", "default-size", "400x400"])
        try host.tmux(["resize-window", "-t", pane, "-x", "400", "-y", "400"])
        for _ in 0..<12 { try host.tmux(["split-window", "-d", "-t", pane, "-l", "2", "exec yes x"]) }
        var words = ["socket:\(host.socket)"]
        for number in 0..<16 { words.append("capture:%\(number):0:\(host.socket)") }
        for function in ["hostsd_probe", "hostsd_look"] {
            let reply = try host.probe(
                ProbeRequest(function: function, arguments: words + words), in: Shell.all[0])
            #expect(reply.body.count <= ByteCount.kibibytes(200).bytes)
            #expect(throws: Never.self) { _ = try ReplyParser.parse(reply) }
        }
    }
}
