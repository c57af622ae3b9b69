import HostsConfig
import HostsDetection
import HostsModel
import Testing

@Suite struct AgentFinderTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let name: String
        let arguments: [String]
        let agent: String?

        init(_ description: String, _ name: String, _ arguments: [String], _ agent: String?) {
            testDescription = description
            self.name = name
            self.arguments = arguments
            self.agent = agent
        }
    }

    @Test(arguments: [
        Case("the program itself", "claude", ["claude", "--resume"], "claude"),
        Case("its whole path", "claude", ["/home/dev/.local/bin/claude"], "claude"),
        Case("a versioned path", "2.1.220", ["/home/dev/.local/share/claude/versions/2.1.220"], "claude"),
        Case("a renamed node process", "claude", ["claude", "", ""], "claude"),
        Case("a Nix wrapper", ".claude-wrapped", ["/nix/store/x/bin/.claude-wrapped"], "claude"),
        Case("a login dash", "claude", ["-claude"], "claude"),
        Case("a node script", "node", ["node", "/usr/bin/codex"], "codex"),
        Case(
            "a node script with options", "MainThread", ["/usr/bin/node", "--no-warnings", "/x/codex.js"],
            "codex"),
        Case("a script of a package", "node", ["node", "/x/@openai/codex/bin/main.js"], "codex"),
        Case("through python", "python3", ["/usr/bin/python3.11", "/opt/x/claude"], "claude"),
        Case("only the kernel's name is known", "codex", [], "codex"),
        Case("through sudo", "sudo", ["sudo", "-u", "dev", "claude"], "claude"),
        Case("an editor that shows a file of that name", "vim", ["vim", "claude"], nil),
        Case("a pager", "less", ["less", "/tmp/claude"], nil),
        Case("program text", "node", ["node", "-e", "claude"], nil),
        Case("a shell command", "bash", ["bash", "-c", "claude --resume"], nil),
        Case("a similar name", "claudette", ["claudette"], nil),
        Case("the MCP server", "claude", ["claude", "mcp", "serve"], nil),
        Case("printing mode", "claude", ["claude", "-p", "fix it"], nil),
        Case("the app server", "codex", ["codex", "--quiet", "app-server"], nil),
        Case("a batch run", "codex", ["codex", "exec", "fix it"], nil),
        Case("the code host", "codex-code-mode-", ["codex-code-mode-host"], nil),
        Case("words of the person", "claude", ["claude", "explain mcp"], "claude"),
    ])
    func identification(_ c: Case) {
        var host = FakeHost()
        host.addPane(1, title: "", screen: [], command: c.arguments, name: c.name)
        #expect(agents(on: host).map(\.agent.rawValue) == (c.agent.map { [$0] } ?? []))
    }

    @Test(arguments: CapturedScreen.all)
    func `the program in the foreground decides, whatever the screen and the title say`(
        _ captured: CapturedScreen
    ) throws {
        for command in [captured.command, "bash", "less", "vim", "zsh"] {
            var host = FakeHost()
            let arguments = command == captured.command ? captured.arguments : [command, captured.agent]
            host.addPane(
                1, title: captured.title, screen: try captured.capture(), command: arguments, name: command)
            let isAgent = command == captured.command && captured.state != "exited"
            // A shell that is given a file runs it: here it has none.
            if ["bash", "zsh"].contains(command) { host.change(1) { $0.arguments = ["-" + command] } }
            #expect(
                agents(on: host).map(\.agent.rawValue) == (isAgent ? [captured.agent] : []), "\(command)")
        }
    }

    @Test func `the outermost process is the agent, what it starts are helpers or tools`() {
        var host = FakeHost()
        host.addPane(1, title: "", screen: [], command: ["node", "/usr/bin/codex"])
        for (pid, group, arguments) in [
            (200, 111, ["/x/codex"]), (201, 201, ["codex"]), (202, 111, ["claude"]),
        ] {
            host.processes.append(
                FakeHost.Process(
                    pid: Int32(pid), parent: 111, group: Int32(group), session: 110, terminal: 34_817,
                    foreground: 111, name: "x", arguments: arguments))
        }
        let found = agents(on: host)
        #expect(found.map(\.process.pid) == [111])
        #expect(found.first?.helpers.map(\.pid) == [200])
    }

    @Test func `a shell script only waits for the agent proper`() {
        var host = FakeHost()
        host.addPane(1, title: "", screen: [], command: ["/bin/sh", "/usr/local/bin/claude"], name: "claude")
        #expect(agents(on: host).map(\.process.pid) == [111])
        host.processes.append(
            FakeHost.Process(
                pid: 200, parent: 111, group: 111, session: 110, terminal: 34_817, foreground: 111,
                name: "claude",
                arguments: ["claude"]))
        #expect(agents(on: host).map(\.process.pid) == [200])
    }

    @Test func `background jobs and processes without terminal are no agents, stopped ones are`() {
        var host = FakeHost()
        host.addPane(1, title: "", screen: [], command: ["claude"])
        host.change(1) { $0.foreground = 110 }
        #expect(agents(on: host) == [])
        host.change(1) { $0.state = "T" }
        #expect(agents(on: host).count == 1)
        host.change(1) { $0.terminal = 0 }
        #expect(agents(on: host) == [])
        host.change(1) {
            $0.terminal = 34_817
            $0.state = "Z"
        }
        #expect(agents(on: host) == [])
    }

    @Test func `a terminal of the same number in a container is another terminal`() {
        var host = FakeHost()
        host.addPane(1, title: "", screen: [], command: ["claude"])
        host.change(1) {
            $0.session = 4_000
            $0.parent = 4_000
        }
        #expect(agents(on: host).map(\.place) == [Place(label: "pts/1", tty: "pts/1")])
    }

    private func agents(on host: FakeHost) -> [FoundAgent] {
        let body = host.body(ProbeRequest(function: "hostsd_probe"))
        guard let report = try? ReplyParser.parse(body, nonce: host.nonce) else { return [] }
        return AgentFinder(book: RuleFixtures.shipped.book, report: report).agents()
    }
}
