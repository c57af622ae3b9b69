import Glibc

/// A real tmux server of one test, on a socket of its own and without the person's configuration.
package final class PrivateTmux: Sendable {
    private let folder: TemporaryFolder

    /// The path of its socket, for `tmux -S`.
    package let socket: String

    /// Starts the server with one session.
    ///
    /// - Parameters:
    ///   - session: The name of the session.
    ///   - command: What its first pane runs, as one shell command.
    ///   - width: In cells.
    ///   - height: In cells.
    /// - Throws: When the system refuses; the test cannot go on.
    package init(
        session: String = "main", command: String = "exec cat", width: Int = 120, height: Int = 40
    ) async throws {
        folder = try TemporaryFolder()
        socket = folder.path("tmux")
        try await run([
            "new-session", "-d", "-s", session, "-x", String(width), "-y", String(height), command,
        ])
    }

    /// Runs one tmux command.
    ///
    /// - Parameter arguments: The command and its arguments.
    /// - Returns: What it printed.
    /// - Throws: When the system refuses; the test cannot go on.
    @discardableResult
    package func run(_ arguments: [String]) async throws -> String {
        try await Tool.run(
            "tmux", ["-u", "-S", socket, "-f", "/dev/null"] + arguments,
            environment: ["TMUX_TMPDIR": folder.path, "TERM": "xterm-256color", "SHELL": "/bin/sh"])
    }

    /// Ends the server.
    package func stop() async {
        // A server that has ended by itself is as good.
        do { try await run(["kill-server"]) } catch {}
    }

    deinit {
        // The last way out, where nothing can be waited for.
        do {
            _ = try BackgroundProcess("tmux", ["-S", socket, "kill-server"], environment: Tool.environment)
                .pid
        } catch {}
    }
}
