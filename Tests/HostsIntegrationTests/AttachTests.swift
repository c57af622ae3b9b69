import Glibc
import HostsAPI
import HostsTestSupport
import Testing

/// `hostsctl attach` and `show --watch` on a real terminal, through a real ssh and sshd.
@Suite(.serialized, .timeLimit(.minutes(5))) struct AttachTests {
    /// A shell that is there, and has said so.
    private func shell(_ daemon: PrivateDaemon, _ script: String? = nil) async throws -> TerminalProgram {
        let terminal =
            try script.map { try daemon.terminal("attach", "devbox", script: $0) }
            ?? daemon.terminal("attach", "devbox")
        try terminal.shell.type("echo here-$((1 + 1))\n")
        try await terminal.log.until("here-2")
        return terminal
    }

    @Test func `a shell has the terminal's size, and its status is that of hostsctl`() async throws {
        let server = try await LocalSSHD()
        let daemon = try await PrivateDaemon(servers: [server])
        let terminal = try await shell(daemon)
        terminal.shell.resize(columns: 101, rows: 33)
        try terminal.shell.type("until [ \"$(stty size)\" = '33 101' ]; do :; done; echo size-$(stty size)\n")
        try await terminal.log.until("size-33 101")
        try terminal.shell.type("exit 7\n")
        try await terminal.log.until("code 7")
        #expect(terminal.shell.isSane)
        await daemon.terminate()
    }

    @Test(arguments: [(SIGKILL, "code 137"), (SIGTERM, "code 255")] as [(Int32, String)])
    func `an ssh that is killed leaves the terminal as it was`(signal: Int32, code: String) async throws {
        let server = try await LocalSSHD()
        let daemon = try await PrivateDaemon(servers: [server])
        let terminal = try await shell(daemon)
        #expect(!terminal.shell.isSane)
        terminal.shell.signalForeground(signal)
        try await terminal.log.until(code)
        #expect(terminal.shell.isSane)
        await daemon.terminate()
    }

    @Test func `a server that dies while awake ends it, and nothing is tried again`() async throws {
        let server = try await LocalSSHD()
        let daemon = try await PrivateDaemon(servers: [server])
        try daemon.folder.write(
            "config/hosts.d/devbox.toml", "ssh = \"devbox\"\nsession_restore = \"none\"\n")
        let terminal = try await shell(daemon)
        server.killConnections()
        try await terminal.log.until("the connection has ended")
        try await terminal.log.until("code 255")
        #expect(terminal.shell.isSane)
        await daemon.terminate()
    }

    @Test func `a stop gives the terminal back, and it goes on in the foreground`() async throws {
        let server = try await LocalSSHD()
        let daemon = try await PrivateDaemon(servers: [server])
        let terminal = try await shell(
            daemon, #""$0" "$@"; echo stopped; read go; fg >/dev/null; echo "code $?"; read end"#)
        try terminal.shell.type("\r~\u{1a}")
        try await terminal.log.until("stopped")
        #expect(terminal.shell.isSane)
        try terminal.shell.type("go\n")
        try terminal.shell.type("echo again-$((1 + 1))\n")
        try await terminal.log.until("again-2")
        try terminal.shell.type("exit 5\n")
        try await terminal.log.until("code 5")
        await daemon.terminate()
    }

    @Test func `a host that is disabled keeps its shell, and gets no other`() async throws {
        let server = try await LocalSSHD()
        let daemon = try await PrivateDaemon(servers: [server])
        let terminal = try await shell(daemon)
        #expect(try await daemon.hostsctl("disable", "devbox").status == 0)
        try terminal.shell.type("echo still-$((1 + 1))\n")
        try await terminal.log.until("still-2")
        let refusal = try await daemon.hostsctl("attach", "devbox")
        #expect(refusal.status == 7)
        #expect(refusal.errorOutput.contains("hostsctl enable devbox"))
        #expect(try await daemon.hostsctl("show", "devbox", "--watch").status == 7)
        try terminal.shell.type("exit\n")
        try await terminal.log.until("code 0")
        await daemon.terminate()
    }

    @Test func `a daemon that goes away and comes back leaves the shell alone`() async throws {
        let server = try await LocalSSHD()
        let daemon = try await PrivateDaemon(servers: [server])
        let terminal = try await shell(daemon)
        daemon.crash()
        try terminal.shell.type("echo alone-$((1 + 1))\n")
        try await terminal.log.until("alone-2")
        try await daemon.restart()
        try await daemon.log.until("/v1/hosts/devbox/attach")
        try terminal.shell.type("exit 3\n")
        try await terminal.log.until("code 3")
        #expect(terminal.log.count(of: "hostsctl:") == 0)
        await daemon.terminate()
    }

    @Test func `an agent's pane is attached to, and its page is shown again when it changes`() async throws {
        let host = try await ScriptedHost(name: "b")
        let agent = try await host.start(ScriptedAgent(kind: .claude))
        let daemon = try await PrivateDaemon(servers: [host.server], settings: PrivateDaemon.quick)
        try await daemon.until("b", "online")
        let session = try #require(try await daemon.sessions(of: "b").first)
        try await host.run("tmux new-window -d -t main: 'sleep 600'; tmux select-window -t main:1")
        let page = try daemon.terminal("show", session.id, "--watch")
        try await page.log.until("idle")
        try await agent.tell(.busy)
        try await page.log.until("busy")
        try page.shell.type("\u{3}")
        try await page.log.until("code 130")

        for name in [session.place, session.id, "%0"] {
            let terminal = try daemon.terminal("attach", "b:" + name)
            try await host.run(
                "until [ \"$(tmux list-clients -F '#{pane_id}')\" = %0 ]; do sleep 0.1; done")
            try terminal.shell.type("\u{2}d")
            try await terminal.log.until("code 0")
            #expect(terminal.shell.isSane)
            try await host.run("tmux select-window -t main:1")
        }
        let unknown = try await daemon.hostsctl("attach", "b:nowhere")
        #expect(unknown.status == 4)
        await daemon.terminate()
    }
}
