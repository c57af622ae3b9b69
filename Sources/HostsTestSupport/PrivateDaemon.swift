import HostsModel
import HostsPOSIX

/// A real hostsd with folders of its own, and the hostsctl that talks to it.
///
/// Both are the programs that were built with the running one.
package final class PrivateDaemon: Sendable {
    package let folder: TemporaryFolder
    /// The path of its control socket.
    package let socket: String
    private let process: Locked<BackgroundProcess>
    private let environment: [String: String]
    private let network: NetworkNamespace?

    /// Starts hostsd with a record for each server; it answers when this returns.
    ///
    /// - Parameters:
    ///   - servers: The hosts, each by way of its own ssh_config.
    ///   - settings: Further lines of `hostsd.toml`.
    ///   - hooks: Shell scripts by name.
    ///   - variables: Further ones of its environment.
    ///   - network: Where it runs; nil for the network of the test.
    /// - Throws: When it does not start.
    package init(
        servers: [LocalSSHD], settings: String = "", hooks: [String: String] = [:],
        variables: [String: String] = [:], network: NetworkNamespace? = nil
    ) async throws {
        folder = try TemporaryFolder(in: "/var/tmp")
        socket = folder.path("run/api.sock")
        for name in ["run", "state", "home", "config", "config/hosts.d", "config/hooks.d"] {
            try folder.makeFolder(name)
        }
        // One ssh_config that includes those of the servers.
        let includes = servers.map { "Include \($0.configFile)\n" }.joined()
        try folder.write("ssh_config", includes)
        try folder.write(
            "config/hostsd.toml", "[ssh]\nconfig_file = \"\(folder.path("ssh_config"))\"\n\(settings)")
        // The bus of the machine that runs the tests is nobody's.
        environment = Tool.environment.merging([
            "HOME": folder.path("home"), "DBUS_SYSTEM_BUS_ADDRESS": "unix:path=/nonexistent/bus",
        ]) { $1 }.merging(variables) { $1 }
        for (name, script) in hooks {
            try folder.write("config/hooks.d/" + name, "#!/bin/sh\n" + script, mode: 0o700)
        }
        for server in servers {
            try folder.write(
                "config/hosts.d/\(server.options.name).toml", "ssh = \"\(server.options.name)\"\n")
        }
        self.network = network
        process = Locked(try Self.launch(folder, environment, network))
        try await log.until("listening on")
    }

    /// What it has logged, from `debug` on.
    package var log: LineLog { process.withLock { $0 }.log }

    package var pid: Int32 { process.withLock { $0.pid } }

    /// Runs hostsctl to its end.
    package func hostsctl(_ arguments: String...) async throws -> Tool.Answer {
        try await hostsctl(arguments)
    }

    /// Runs hostsctl to its end.
    ///
    /// - Parameters:
    ///   - arguments: What follows the option that names the socket.
    ///   - input: What it reads as standard input.
    /// - Returns: What it said.
    /// - Throws: When it cannot be started, or runs for more than a minute.
    package func hostsctl(_ arguments: [String], input: String = "") async throws -> Tool.Answer {
        try await Tool.answer(
            Self.program("hostsctl"), ["--socket", socket] + arguments, environment: environment,
            input: input)
    }

    /// Runs hostsctl on a terminal of its own.
    ///
    /// - Parameters:
    ///   - arguments: What follows the option that names the socket.
    ///   - script: For `bash -c` with job control; hostsctl is `"$0"`, its words `"$@"`.
    /// - Returns: The terminal.
    /// - Throws: When it cannot be started.
    package func terminal(
        _ arguments: String..., script: String = #""$0" "$@"; echo "code $?"; read end"#
    ) throws -> TerminalProgram {
        try TerminalProgram(
            script: script, Self.program("hostsctl"), ["--socket", socket] + arguments,
            environment: environment.merging(["TERM": "xterm"]) { $1 })
    }

    /// Runs another hostsd on the same folders, to see it refuse.
    package func runSecond(_ arguments: String...) async throws -> Tool.Answer {
        try await Tool.answer(
            Self.program("hostsd"),
            ["--config-dir", folder.path("config"), "--state-dir", folder.path("state")] + arguments,
            environment: environment)
    }

    /// Ends the daemon as the service manager does, and waits until it is gone.
    package func terminate() async { await process.withLock { $0 }.terminate() }

    /// Ends it without warning, as a crash does.
    package func crash() { process.withLock { $0 }.stop() }

    /// Starts it again on the same folders; it answers when this returns.
    package func restart() async throws {
        let new = try Self.launch(folder, environment, network)
        process.withLock { $0 = new }
        try await log.until("listening on")
    }

    private static func launch(
        _ folder: TemporaryFolder, _ environment: [String: String], _ network: NetworkNamespace?
    ) throws -> BackgroundProcess {
        let own = [
            program("hostsd"), "--config-dir", folder.path("config"), "--state-dir", folder.path("state"),
            "--socket", folder.path("run/api.sock"), "--log-level", "debug",
        ]
        let words = network?.command(own) ?? own
        return try BackgroundProcess(words[0], Array(words.dropFirst()), environment: environment)
    }

    /// The path of a program that was built with this one.
    private static func program(_ name: String) -> String {
        return ProgramFile.path.split(separator: "/").dropLast().map { "/" + $0 }.joined() + "/" + name
    }
}
