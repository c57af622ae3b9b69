import FoundationEssentials
import HostsAPI
import HostsCommand
import HostsModel
import Testing

/// What follows when the ssh of an attach ends: seed 002's session resume, by tables.
@Suite struct AttachTests {
    private static var lost: ScriptedTerminal.Run {
        ScriptedTerminal.Run(uses: [.raw, .raw], end: .exited(255))
    }

    /// A program that dies by a sleep, which the clocks alone tell of.
    private static func asleep(_ end: JobEnd = .exited(255)) -> ScriptedTerminal.Run {
        ScriptedTerminal.Run(uses: [.other, .raw], end: end, sleep: 3600)
    }

    private static var refused: ScriptedTerminal.Run {
        ScriptedTerminal.Run(uses: [.other], end: .exited(255))
    }
    private static var person: ScriptedTerminal.Run {
        ScriptedTerminal.Run(uses: [.raw, .raw], end: .exited(7))
    }

    private func phase(_ word: String, route: Bool = true, locked: Bool = false, boot: String? = "boot-1")
        -> PhaseDocument
    {
        PhaseDocument(phase: word, hasRoute: route, awaitsPassphrase: locked, bootID: boot)
    }

    private func stage(_ runs: ScriptedTerminal.Run...) -> Stage {
        let stage = Stage()
        stage.terminal.runs = runs
        return stage
    }

    @Test func `the status is that of the program, and one shell is one program`() {
        for status: Int32 in [0, 1, 7, 254] {
            let stage = stage(ScriptedTerminal.Run(uses: [.raw], end: .exited(status)))
            let result = stage.run("attach", "devbox")
            #expect(result.code.rawValue == status)
            #expect(result.error.isEmpty)
            #expect(stage.terminal.started == [["ssh", "-t", "--", "devbox"]])
        }
    }

    @Test(
        arguments: [
            ("devbox", "devbox", nil), ("devbox:%4", "devbox", "%4"),
            ("devbox:main:0.1", "devbox", "main:0.1"),
            ("devbox/42-ab", "devbox", "devbox/42-ab"), ("devbox:devbox/42-ab", "devbox", "devbox/42-ab"),
            ("devbox:a/b", "devbox", "a/b"),
        ] as [(String, String, String?)])
    func `a host and a session are told apart`(_ operand: String, _ host: String, _ session: String?) {
        let stage = stage(Self.person)
        _ = stage.run("attach", operand)
        #expect(stage.window.requests.map(\.target) == ["/v1/hosts/\(host)/attach"])
        let bodies = stage.window.requests.map { request in
            request.body.map { $0.withBytes { String(decoding: $0, as: UTF8.self) } }
        }
        #expect(bodies == [session.map { #"{"session":"\#($0.replacing("/", with: #"\/"#))"}"# }])
    }

    @Test func `a death while awake stays an end`() {
        let stage = stage(Self.lost, Self.person)
        let result = stage.run("attach", "devbox")
        #expect(result.code.rawValue == 255)
        #expect(stage.terminal.started.count == 1)
        #expect(result.error == "hostsctl: devbox: the connection has ended\n")
    }

    @Test func `a death by a sleep is attached again, once it may be, and what was typed is thrown away`() {
        let stage = stage(Self.asleep(), Self.person)
        let result = stage.run("attach", "devbox")
        #expect(result.code.rawValue == 7)
        #expect(stage.terminal.started.count == 2)
        #expect(stage.terminal.discards == 1)
        #expect(result.error.contains("attaching again (1 of 3)"))
    }

    @Test func `three attempts, after 0, 2 and 5 s, and no more`() {
        let stage = stage(Self.asleep(), Self.refused, Self.refused, Self.refused, Self.person)
        let result = stage.run("attach", "devbox")
        #expect(result.code.rawValue == 255)
        #expect(stage.terminal.started.count == 4)
        // A refused one takes 2 s here.
        let waits = zip(stage.terminal.starts.dropFirst(), stage.terminal.starts.dropFirst(2)).map { $1 - $0 }
        #expect(waits.map { ($0 - 2).rounded() } == [2, 5])
        #expect(result.error.contains("3 attempts failed"))
    }

    @Test func `attempts begin anew once a session is live`() {
        let stage = stage(
            Self.asleep(), Self.refused, Self.asleep(), Self.refused, Self.refused, Self.refused, Self.person)
        #expect(stage.run("attach", "devbox").code.rawValue == 255)
        #expect(stage.terminal.started.count == 6)
    }

    @Test func `an end of the person's is never undone`() {
        for end in [JobEnd.exited(0), .exited(1), .exited(254), .signalled(9), .signalled(15)] {
            let stage = stage(Self.asleep(end), Self.person)
            _ = stage.run("attach", "devbox")
            #expect(stage.terminal.started.count == 1)
        }
        let stage = stage(Self.asleep(), Self.person)
        stage.terminal.endingSignal = 15
        #expect(stage.run("attach", "devbox").code.rawValue == 255)
        #expect(stage.terminal.started.count == 1)
    }

    @Test func `a record without session_restore is never attached again, nor a local one`() {
        for (transport, restore) in [("ssh", "none"), ("local", "tmux")] {
            let stage = stage(Self.asleep(), Self.person)
            stage.window.answer = .success(
                AttachDocument(
                    host: "devbox", session: nil, transport: transport, destination: "", restore: restore,
                    arguments: ["x"], bootID: nil))
            #expect(stage.run("attach", "devbox").code.rawValue == 255)
            #expect(stage.terminal.started.count == 1)
        }
    }

    @Test func `a session that was never live is not attached again`() {
        let stage = stage(
            ScriptedTerminal.Run(uses: [.other], end: .exited(255), sleep: 3600), Self.person)
        #expect(stage.run("attach", "devbox").code.rawValue == 255)
        #expect(stage.terminal.started.count == 1)
    }

    @Test func `nothing is tried in the background, and no attempt before there is a route`() {
        let stage = stage(Self.lost, Self.person)
        let (terminal, window) = (stage.terminal, stage.window)
        terminal.runs[0].before = {
            window.waiting = [.phase(phase("background"), at: terminal.clocks.boot)]
        }
        var pauses = 0
        terminal.onPause = {
            pauses += 1
            #expect(pauses > 40 || terminal.started.count == 1)
            let now = terminal.clocks.boot
            if pauses == 20 { window.waiting = [.phase(phase("active", route: false), at: now)] }
            if pauses == 40 { window.waiting = [.phase(phase("active"), at: now)] }
        }
        let result = stage.run("attach", "devbox")
        #expect(result.code.rawValue == 7)
        #expect(pauses == 40)
        #expect(result.error.contains("about to sleep"))
        #expect(result.error.contains("waiting for a network"))
        #expect(result.error.contains("(1 of 3)"))
    }

    @Test func `a daemon that has gone holds nothing back`() {
        let stage = stage(Self.lost, Self.person)
        let (terminal, window) = (stage.terminal, stage.window)
        terminal.runs[0].before = {
            window.waiting = [.phase(phase("background", route: false), at: terminal.clocks.boot)]
        }
        terminal.onPause = { window.waiting = [.lost(at: terminal.clocks.boot)] }
        #expect(stage.run("attach", "devbox").code.rawValue == 7)
    }

    @Test func `a passphrase that is awaited is the person's`() {
        let locked = stage(Self.asleep(), Self.person)
        let (terminal, window) = (locked.terminal, locked.window)
        terminal.runs[0].before = {
            window.waiting = [.phase(phase("active", locked: true), at: terminal.clocks.boot)]
        }
        let result = locked.run("attach", "devbox")
        #expect(result.code.rawValue == 255)
        #expect(result.error.contains("hostsctl unlock devbox"))
        #expect(terminal.started.count == 1)

        let asking = ScriptedTerminal.Run(uses: [.other, .hiddenQuestion], end: .exited(255))
        let asked = stage(Self.asleep(), asking, Self.person)
        #expect(asked.run("attach", "devbox").code.rawValue == 255)
        #expect(asked.terminal.started.count == 2)
    }

    @Test func `Ctrl-C between two attempts ends it`() {
        let stage = stage(Self.asleep(), Self.refused, Self.person)
        stage.terminal.isInterrupted = true
        let result = stage.run("attach", "devbox")
        #expect(result.code.rawValue == 255)
        #expect(stage.terminal.started.count == 2)
        #expect(result.error.contains("devbox: stopped"))
    }

    @Test func `another boot id is told once`() {
        let stage = stage(Self.asleep(), Self.person)
        let (terminal, window) = (stage.terminal, stage.window)
        terminal.runs[1].before = {
            let now = terminal.clocks.boot
            window.waiting = [
                .phase(phase("active", boot: nil), at: now), .phase(phase("active", boot: "boot-2"), at: now),
                .phase(phase("active", boot: "boot-2"), at: now),
            ]
        }
        let result = stage.run("attach", "devbox")
        let told = result.error.components(separatedBy: "devbox has restarted since; what ran there is gone")
        #expect(told.count == 2)
    }

    @Test func `what keeps a window from being opened is told as ever`() {
        let stage = stage(Self.person)
        let error = ErrorDocument(
            code: "host.disabled", message: "devbox is disabled", help: "hostsctl enable devbox")
        stage.window.answer = .failure(.refused(status: 409, error, body: []))
        let result = stage.run("attach", "devbox")
        #expect(result.code == .notPermitted)
        #expect(result.error.contains("hostsctl enable devbox"))
        #expect(stage.terminal.started.isEmpty)
    }

    @Test func `a program that cannot be started is told, with the place of its name`() {
        let result = stage().run("attach", "devbox")
        #expect(result.code == .failure)
        #expect(result.error.contains("ssh cannot be started: there is no such program"))
        #expect(result.error.contains("[ssh] program"))
    }

    @Test func `a local shell is the person's own, as a login shell`() {
        var stage = stage(Self.person)
        stage.environment["SHELL"] = "/bin/zsh"
        stage.window.answer = .success(
            AttachDocument(
                host: "here", session: nil, transport: "local", destination: "", restore: "none",
                arguments: [], bootID: nil))
        _ = stage.run("attach", "here")
        #expect(stage.terminal.started == [["/bin/zsh", "-l"]])
    }
}
