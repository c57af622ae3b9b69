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
        let folder = server.folder
        let program = folder.path("bin/\(agent.kind.rawValue)")
        // The name of the file is the name of the process.
        guard symlink("/usr/bin/python3", program) == 0 || errno == EEXIST else {
            throw FixtureError("\(program): errno \(errno)")
        }
        let fifo = folder.path("\(session).fifo")
        guard mkfifo(fifo, 0o600) == 0 else { throw FixtureError("\(fifo): errno \(errno)") }
        let command = "\(program) \(folder.path("agent.py")) \(agent.kind.rawValue) \(fifo)"
        try await run("tmux -u -f /dev/null new-session -d -s \(session) -x 100 -y 30 '\(command)'")
        return RunningAgent(fifo: fifo)
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
    private let fifo: String

    init(fifo: String) {
        self.fifo = fifo
    }

    /// Tells the agent what to do; it is done a moment later.
    package func tell(_ command: ScriptedAgent.Command) throws {
        let descriptor = open(fifo, O_WRONLY | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { throw FixtureError("\(fifo): nobody reads it (errno \(errno))") }
        defer { close(descriptor) }
        let line = Array((command.rawValue + "\n").utf8)
        guard write(descriptor, line, line.count) == line.count else {
            throw FixtureError("\(fifo): errno \(errno)")
        }
    }
}
