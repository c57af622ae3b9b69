import FoundationEssentials
import Glibc
package import HostsModel

/// A real sshd on a free loopback port, with keys, known_hosts and an ssh_config of its own.
///
/// Everything lies in one temporary folder; nothing of the person's own is read or written.
package final class LocalSSHD: Sendable {
    /// What differs from one server to the next.
    package struct Options: Sendable {
        /// `127.0.0.1` or `::1`.
        package var address = "127.0.0.1"
        /// The name that its ssh_config gives to it, and that `record` has.
        package var name = "devbox"
        /// Variables of the sessions; HOME is the server's own folder unless it is set here.
        package var environment: [String: String] = [:]
        /// Further lines of sshd_config, which count before all others.
        package var configuration: [String] = []
        /// The type of its one host key, as ssh-keygen names it.
        package var hostKeyType = "ed25519"
        /// Whether the server has a process table, a `/tmp` and a host name of its own, as another machine
        /// has: its agents and tmux servers are seen there only.
        ///
        /// Needs unshare(1), and root or user namespaces.
        package var isIsolated = false
        /// The login shell of the account, absolute; nil: the real one.
        ///
        /// Needs `isIsolated`: the account then has the server's folder as its home directory.
        package var loginShell: String?
        /// Where it listens, at `address` of this namespace; nil for the network of the test.
        package var network: NetworkNamespace?

        package init() {}
    }

    /// How often another port is tried when somebody was faster.
    private static let startAttempts = 5
    /// In a network of its own.
    private static let ownPort: UInt16 = 2222

    package let folder: TemporaryFolder
    package let options: Options
    /// Who logs in: the account that runs the test.
    package let user: String
    /// An Ed25519 key that the server accepts.
    package let identityFile: String
    package let knownHostsFile: String
    /// An ssh_config with one host, `options.name`, that logs in with `identityFile` and without an agent.
    package let configFile: String
    private let state: Locked<State>

    private struct State: Sendable {
        var port: UInt16
        var process: BackgroundProcess
    }

    /// Makes keys and files and starts the server; it listens when this returns.
    package init(_ options: Options = Options()) async throws {
        self.options = options
        folder = try TemporaryFolder(in: options.isIsolated ? "/var/tmp" : "/tmp")
        user = try Self.userName()
        identityFile = folder.path("id_ed25519")
        knownHostsFile = folder.path("known_hosts")
        configFile = folder.path("ssh_config")
        try folder.makeFolder("home")
        try await Tool.makeKey(identityFile)
        try await Tool.makeKey(folder.path("host_key"), type: options.hostKeyType)
        try folder.write("authorized_keys", try folder.read("id_ed25519.pub"))
        // sshd wants it for the unprivileged part of a login; only root can make it, and only root's sshd
        // needs it.
        if getuid() == 0 { mkdir("/run/sshd", 0o755) }
        var made: State?
        var failure: any Error = FixtureError("sshd did not start")
        for _ in 0..<Self.startAttempts where made == nil {
            let port = try options.network == nil ? LoopbackPort.free(options.address) : Self.ownPort
            do {
                made = State(port: port, process: try await Self.launch(options, folder, port: port))
            } catch {
                failure = error
            }
        }
        guard let made else { throw failure }
        state = Locked(made)
        try trustHostKey()
        try writeConfig()
    }

    /// The port that it listens on.
    package var port: UInt16 { state.withLock { $0.port } }

    /// What it has logged since it was started or restarted, at level VERBOSE.
    package var log: LineLog { state.withLock { $0.process }.log }

    /// A record that leads to it, by way of `configFile`.
    package var record: HostRecord {
        guard let id = HostID(rawValue: options.name) else {
            preconditionFailure("the name is one for a host")
        }
        return HostRecord(id: id, destination: options.name)
    }

    // MARK: Files

    /// Writes the ssh_config anew.
    ///
    /// - Parameters:
    ///   - identityFiles: IdentityFile lines; nil: `identityFile`.
    ///   - agent: IdentityAgent.
    ///   - port: Where to connect; nil: to the server itself.
    ///   - lines: Further lines, which count before the others.
    /// - Throws: When the system refuses; the test cannot go on.
    package func writeConfig(
        identityFiles: [String]? = nil, agent: String = "none", port: UInt16? = nil, lines: [String] = []
    ) throws {
        let identities = (identityFiles ?? [identityFile]).map { "IdentityFile \($0)" }
        let settings =
            lines + identities + [
                "HostName \(options.address)", "Port \(port ?? self.port)", "User \(user)",
                "IdentityAgent \(agent)",
                "UserKnownHostsFile \(knownHostsFile)", "GlobalKnownHostsFile /dev/null",
            ]
        let text = "Host \(options.name)\n" + settings.map { "    \($0)\n" }.joined()
        try folder.write("ssh_config", text)
    }

    /// Writes known_hosts anew with the server's own key, under its address and port.
    package func trustHostKey(port: UInt16? = nil) throws {
        try folder.write("known_hosts", "\(knownHostsName(port: port)) \(try hostKey())\n")
    }

    /// The name of the server in known_hosts.
    package func knownHostsName(port: UInt16? = nil) -> String { "[\(options.address)]:\(port ?? self.port)" }

    /// The server's public key: type and base64.
    package func hostKey() throws -> String {
        try folder.read("host_key.pub").split(separator: " ").prefix(2).joined(separator: " ")
    }

    /// Makes a key in the server's folder.
    ///
    /// - Parameters:
    ///   - name: Of the file.
    ///   - type: As ssh-keygen names it.
    ///   - passphrase: Empty for none.
    ///   - isPEM: Whether it is written in the older PEM format.
    ///   - isAuthorized: Whether the server accepts it.
    /// - Returns: Its path.
    /// - Throws: When the system refuses; the test cannot go on.
    package func makeKey(
        _ name: String, type: String = "ed25519", passphrase: String = "", isPEM: Bool = false,
        isAuthorized: Bool = true
    ) async throws -> String {
        try await Tool.makeKey(folder.path(name), type: type, passphrase: passphrase, isPEM: isPEM)
        if isAuthorized {
            try folder.write(
                "authorized_keys", try folder.read("authorized_keys") + folder.read(name + ".pub"))
        }
        return folder.path(name)
    }

    // MARK: Faults

    /// Freezes the server and all of its connections (SIGSTOP).
    package func suspend() { signalAll(SIGSTOP) }

    /// Lets them go on.
    package func resume() { signalAll(SIGCONT) }

    /// Kills the processes that serve connections; the server goes on listening.
    package func killConnections() {
        let process = state.withLock { $0.process }
        let children = options.isIsolated ? process.grandchildren : process.children
        // In a process table of its own the server also inherits orphans, such as tmux servers.
        for child in children where BackgroundProcess.name(of: child) == "sshd" { kill(child, SIGKILL) }
    }

    /// Kills the server and its connections.
    package func stop() {
        let process = state.withLock { $0.process }
        for child in process.descendants { kill(child, SIGKILL) }
        process.stop()
    }

    /// Starts it again on the same port, with an empty log.
    package func restart() async throws {
        stop()
        let process = try await Self.launch(options, folder, port: port)
        state.withLock { $0.process = process }
    }

    deinit { stop() }

    private func signalAll(_ number: Int32) {
        let process = state.withLock { $0.process }
        process.signal(number)
        for child in process.descendants { kill(child, number) }
    }

    private static func launch(
        _ options: Options, _ folder: TemporaryFolder, port: UInt16
    ) async throws -> BackgroundProcess {
        let environment = ["HOME": folder.path("home")].merging(options.environment) { $1 }
        let variables = environment.map { "\($0.key)=\($0.value)" }.sorted().joined(separator: " ")
        // Of most keywords the first line counts, but of this one the last does (sshd 9.2, servconf.c).
        let isLimited = options.configuration.contains { $0.hasPrefix("MaxStartups") }
        let lines =
            options.configuration + [
                "Port \(port)", "ListenAddress \(options.address)", "HostKey \(folder.path("host_key"))",
                "AuthorizedKeysFile \(folder.path("authorized_keys"))", "PidFile none", "UsePAM no",
                "StrictModes no",
                "PermitRootLogin prohibit-password", "PasswordAuthentication no",
                "KbdInteractiveAuthentication no",
                "LogLevel VERBOSE", "SetEnv \(variables)",
            ] + (isLimited ? [] : ["MaxStartups 200"])
        let file = try folder.write("sshd_config", lines.map { $0 + "\n" }.joined())
        // sshd executes itself for each connection, hence the whole path.
        let command = ["/usr/sbin/sshd", "-D", "-e", "-f", file]
        let accounts = try options.loginShell.map { try writeAccounts(folder, shell: $0) }
        let own = options.isIsolated ? isolated(command, as: options.name, accounts: accounts) : command
        let words = options.network?.command(own) ?? own
        let process = try BackgroundProcess(words[0], Array(words.dropFirst()), environment: Tool.environment)
        try await process.log.until("Server listening on")
        return process
    }

    /// The command in namespaces of its own; they and all that runs in them end with it.
    ///
    /// - Parameters:
    ///   - command: The program and its arguments.
    ///   - name: The name of the host.
    ///   - accounts: A file that takes the place of `/etc/passwd`.
    /// - Returns: The command that does so.
    static func isolated(_ command: [String], as name: String, accounts: String? = nil) -> [String] {
        let user = getuid() == 0 ? [] : ["--user", "--map-current-user", "--keep-caps"]
        let bind = accounts.map { "mount --bind '\($0)' /etc/passwd && " } ?? ""
        let script = bind + #"hostname "$0" && mount -t tmpfs none /tmp && exec "$@""#
        return ["unshare"] + user
            + [
                "--pid", "--fork", "--kill-child", "--mount-proc", "--mount", "--uts", "sh", "-c", script,
                name,
            ]
            + command
    }

    /// Writes an account table in which the account that runs the test has another shell and home directory.
    ///
    /// - Parameters:
    ///   - folder: Holds the file, and the home directory as `home`.
    ///   - shell: The login shell.
    /// - Returns: The path of the file.
    /// - Throws: When the system refuses; the test cannot go on.
    static func writeAccounts(_ folder: TemporaryFolder, shell: String) throws -> String {
        let (user, home) = (try userName(), folder.path("home"))
        let others = try String(contentsOfFile: "/etc/passwd", encoding: .utf8).split(separator: "\n")
            .filter { !$0.hasPrefix(user + ":") }
        let own = "\(user):x:\(getuid()):\(getgid()):\(user):\(home):\(shell)"
        return try folder.write(
            "passwd", ([own] + others.map(String.init)).map { $0 + "\n" }.joined(), mode: 0o644)
    }

    /// The account that runs the test.
    static func userName() throws -> String {
        guard let entry = getpwuid(getuid()) else { throw FixtureError("this account has no name") }
        return String(cString: entry.pointee.pw_name)
    }
}
