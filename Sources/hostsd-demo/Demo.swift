import Glibc
import HostsModel
import HostsSystem
import HostsTestSupport

/// The main job on an embedded fleet: two private hosts, an agent on each, and hostsd watching them over real SSH.
///
/// Nothing of the person's own is used: keys, ssh_config, tmux servers and folders are made for the demo and gone with it.
struct Demo: Sendable {
    /// Before the agents begin: so long the fleet is only looked at.
    private static let prologue = Duration.seconds(6)
    /// After the last step: the alerts of it must still come.
    private static let epilogue = Duration.seconds(12)

    /// What an agent is told, and when, counted from the start of the script.
    private struct Step: Sendable {
        let at: Duration
        let agent: Int
        let command: ScriptedAgent.Command
        let words: String
        /// Whether the fleet is shown before it.
        var showsFleet = false
    }

    private static let script = [
        Step(at: .seconds(0), agent: 0, command: .busy, words: "claude on alpha starts a turn"),
        Step(at: .seconds(1), agent: 1, command: .busy, words: "codex on beta starts a turn"),
        Step(
            at: .seconds(7), agent: 0, command: .permission,
            words: "claude on alpha comes to a command it may not run"),
        Step(at: .seconds(9), agent: 1, command: .permission, words: "codex on beta comes to one as well"),
        Step(
            at: .seconds(15), agent: 0, command: .busy, words: "you allow it; claude goes on",
            showsFleet: true),
        Step(at: .seconds(16), agent: 1, command: .busy, words: "you allow it; codex goes on"),
        Step(at: .seconds(22), agent: 0, command: .idle, words: "claude has finished"),
        Step(at: .seconds(24), agent: 1, command: .idle, words: "codex has finished"),
    ]

    private let screen = Screen()
    private let clock = SystemClock()
    private let daemon: PrivateDaemon
    private let agents: [RunningAgent]

    /// How the demo ended.
    enum Ending: Sendable {
        /// Every alert came, each exactly once.
        case complete
        case incomplete
        case interrupted
    }

    /// Runs the demo to its end, or until a signal.
    static func run(until signals: AsyncStream<ProcessSignal>) async throws -> Ending {
        try await withThrowingTaskGroup(of: Ending.self) { group in
            group.addTask { try await play() ? .complete : .incomplete }
            group.addTask {
                for await _ in signals { break }
                return .interrupted
            }
            let ended = try await group.next()
            group.cancelAll()
            return ended ?? .interrupted
        }
    }

    private static func play() async throws -> Bool {
        let screen = Screen()
        screen.say(
            "two private hosts, alpha and beta: sshd on loopback, keys of their own, an own /tmp and process table"
        )
        let alpha = try await ScriptedHost(name: "alpha")
        let beta = try await ScriptedHost(name: "beta")
        screen.say(
            "sshd listens on ports \(alpha.server.port) and \(beta.server.port); an agent starts in tmux on each"
        )
        let agents = [
            try await alpha.start(ScriptedAgent(kind: .claude)),
            try await beta.start(ScriptedAgent(kind: .codex)),
        ]
        let daemon = try await PrivateDaemon(
            servers: [alpha.server, beta.server], hooks: ["50-tell": Alerts.hook])
        screen.say("hostsd runs (process \(daemon.pid)) with one hook, which writes what you see as ALERT")
        let demo = Demo(daemon: daemon, agents: agents)
        let isComplete = try await demo.perform()
        await daemon.terminate()
        return isComplete
    }

    private init(daemon: PrivateDaemon, agents: [RunningAgent]) {
        self.daemon = daemon
        self.agents = agents
    }

    private func perform() async throws -> Bool {
        try await untilOnline()
        try await showFleet()
        let alerts = Alerts(file: daemon.folder.path("home/alerts"))
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await alerts.follow(on: screen) }
            try await clock.sleep(for: Self.prologue)
            let start = clock.now
            for step in Self.script {
                try await clock.sleep(until: start.advanced(by: step.at))
                if step.showsFleet { try await showFleet() }
                screen.say(step.words)
                try await agents[step.agent].tell(step.command)
            }
            try await clock.sleep(for: Self.epilogue)
            group.cancelAll()
            try await showFleet()
            return alerts.report(on: screen)
        }
    }

    private func untilOnline() async throws {
        let deadline = clock.now.advanced(by: .seconds(20))
        while clock.now < deadline {
            let alpha = try await daemon.hostsctl("status", "-q", "alpha").status
            let beta = try await daemon.hostsctl("status", "-q", "beta").status
            if alpha == 0, beta == 0 { return screen.say("both hosts are online") }
            try await clock.sleep(for: .milliseconds(100))
        }
        let status = try await daemon.hostsctl("list")
        throw FixtureError("the hosts do not come online:\n" + status.output + status.errorOutput)
    }

    private func showFleet() async throws {
        let color = isatty(STDOUT_FILENO) == 1 ? "--color=always" : "--color=never"
        screen.show("hostsctl", try await daemon.hostsctl("list", color).output)
    }
}
