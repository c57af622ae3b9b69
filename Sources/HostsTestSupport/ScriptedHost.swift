import Glibc
import HostsModel

/// A host that is looked at for real: an isolated sshd, a tmux server and scripted agents in it.
package final class ScriptedHost: Sendable {
    package let server: LocalSSHD
    private let agents = Locked(0)

    /// Starts the server; there is no tmux server until an agent is started.
    ///
    /// - Parameter name: Of the host, in its ssh_config too.
    /// - Throws: When the server does not start.
    package init(name: String) async throws {
        var options = LocalSSHD.Options()
        options.name = name
        options.isIsolated = true
        server = try await LocalSSHD(options)
        try server.folder.makeFolder("bin")
        try server.folder.write("agent.py", ScriptedAgent.script)
    }

    /// Starts an agent in a tmux session of its own, idle.
    ///
    /// - Parameters:
    ///   - agent: Which one.
    ///   - session: The name of the tmux session, and of nothing else on this host.
    /// - Returns: The agent.
    /// - Throws: When it cannot be started.
    package func start(_ agent: ScriptedAgent, session: String = "main") async throws -> RunningAgent {
        let (command, running) = try prepare(agent, name: session)
        try await run("tmux -u -f /dev/null new-session -d -s \(session) -x 100 -y 30 '\(command)'")
        return running
    }

    /// Makes what an agent needs, to be started by the test.
    ///
    /// - Parameters:
    ///   - agent: Which one.
    ///   - name: Of nothing else on this host.
    /// - Returns: Its command line, without any quote, and the agent as soon as that runs.
    /// - Throws: When the files cannot be made.
    package func prepare(
        _ agent: ScriptedAgent, name: String
    ) throws -> (command: String, agent: RunningAgent) {
        let folder = server.folder
        let program = folder.path("bin/\(agent.kind.rawValue)")
        // The name of the file is the name of the process.
        guard symlink("/usr/bin/python3", program) == 0 || errno == EEXIST else {
            throw FixtureError("\(program): errno \(errno)")
        }
        let told = folder.path("\(name).told")
        let shown = folder.path("\(name).shown")
        for fifo in [told, shown] {
            guard mkfifo(fifo, 0o600) == 0 else { throw FixtureError("\(fifo): errno \(errno)") }
        }
        let command = "\(program) \(folder.path("agent.py")) \(agent.kind.rawValue) \(told) \(shown)"
        return (command, RunningAgent(told: told, shown: shown))
    }

    /// Runs a command on the host, as `ssh HOST COMMAND` does.
    ///
    /// - Parameter command: One command for its shell.
    /// - Returns: What it printed.
    /// - Throws: When it fails.
    @discardableResult
    package func run(_ command: String) async throws -> String {
        try await Tool.run(
            "ssh", ["-F", server.configFile, "-o", "BatchMode=yes", server.options.name, command])
    }
}

/// A scripted agent that runs.
package struct RunningAgent: Sendable {
    /// FIFOs: what it is told, and what it shows.
    private let told: String
    private let shown: String

    init(told: String, shown: String) {
        self.told = told
        self.shown = shown
    }

    /// Tells the agent what to do.
    ///
    /// When this returns, its terminal shows it: the next look sees it.
    ///
    /// - Parameter command: What to do.
    /// - Throws: When the agent is gone, or does not do it within a minute.
    package func tell(_ command: ScriptedAgent.Command) async throws {
        let descriptor = open(told, O_WRONLY | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { throw FixtureError("\(told): nobody reads it (errno \(errno))") }
        defer { close(descriptor) }
        let line = Array((command.rawValue + "\n").utf8)
        guard write(descriptor, line, line.count) == line.count else {
            throw FixtureError("\(told): errno \(errno)")
        }
        let answer = try await Tool.run("head", ["-n", "1", shown])
        guard answer == command.rawValue + "\n" else {
            throw FixtureError("\(shown): \(answer) is no answer to \(command.rawValue)")
        }
    }
}
