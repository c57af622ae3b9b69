import Glibc
package import HostsModel

/// An SSH server that is not OpenSSH, on a free loopback port, with files of its own.
///
/// It knows only the accounts of the system and their `~/.ssh/authorized_keys`, so it runs in namespaces of
/// its own, in which the home directory of the account lies in the server's folder.
package final class OtherSSHD: Sendable {
    /// Which server.
    package enum Kind: String, Hashable, Sendable, CaseIterable {
        case dropbear
        /// Reads and writes its standard streams; started for each connection.
        case tinysshd
    }

    /// Accepts on a port and starts a program for each connection, as inetd does.
    ///
    /// Arguments: the port, then the program with its own.
    private static let acceptor = #"""
        import os, signal, socket, sys

        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        listener = socket.socket()
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("127.0.0.1", int(sys.argv[1])))
        listener.listen(16)
        print("listening", flush=True)
        while True:
            connection, _ = listener.accept()
            if os.fork() == 0:
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                os.dup2(connection.fileno(), 0)
                os.dup2(connection.fileno(), 1)
                os.execv(sys.argv[2], sys.argv[2:])
            connection.close()
        """#

    package let folder: TemporaryFolder
    /// The name that its ssh_config gives to it, and that `record` has.
    package let name: String
    package let port: UInt16
    /// An ssh_config with one host, `name`.
    package let configFile: String
    private let process: BackgroundProcess

    /// Makes keys and files and starts the server; it listens when this returns.
    ///
    /// - Parameter kind: Which server; it is also the name of the host.
    /// - Throws: When it does not start.
    package init(_ kind: Kind) async throws {
        let folder = try TemporaryFolder(in: "/var/tmp")
        self.folder = folder
        name = kind.rawValue
        port = try LoopbackPort.free()
        let identity = folder.path("id_ed25519")
        try await Tool.makeKey(identity)
        try folder.makeFolder("home/.ssh")
        try folder.write("home/.ssh/authorized_keys", try folder.read("id_ed25519.pub"))
        // tinysshd reads keys only where nobody else can write, on the whole way: it gets the real home.
        let accounts =
            kind == .tinysshd ? nil : try LocalSSHD.writeAccounts(folder, shell: "/bin/sh")
        let (command, hostKey) = try await Self.prepare(kind, folder, port: port)
        let words = LocalSSHD.isolated(
            try Self.atHome(kind, command, folder), as: kind.rawValue, accounts: accounts)
        process = try BackgroundProcess(words[0], Array(words.dropFirst()), environment: Tool.environment)
        try folder.write("known_hosts", "[127.0.0.1]:\(port) \(hostKey)\n")
        configFile = try folder.write(
            "ssh_config",
            """
            Host \(kind.rawValue)
                HostName 127.0.0.1
                Port \(port)
                User \(try LocalSSHD.userName())
                IdentityFile \(identity)
                IdentityAgent none
                UserKnownHostsFile \(folder.path("known_hosts"))
                GlobalKnownHostsFile /dev/null

            """)
        try await process.log.until(kind == .dropbear ? "Not backgrounding" : "listening")
    }

    /// A record that leads to it, by way of `configFile`.
    package var record: HostRecord {
        guard let id = HostID(rawValue: name) else { preconditionFailure("the name is one for a host") }
        return HostRecord(id: id, destination: name)
    }

    /// Kills the server and its connections.
    package func stop() {
        for child in process.descendants { kill(child, SIGKILL) }
        process.stop()
    }

    deinit { stop() }

    /// The command, for tinysshd with the server's home in the place of the account's own.
    private static func atHome(
        _ kind: Kind, _ command: [String], _ folder: TemporaryFolder
    ) throws -> [String] {
        guard kind == .tinysshd else { return command }
        guard let entry = getpwuid(getuid()) else { throw FixtureError("this account has no home") }
        let home = String(cString: entry.pointee.pw_dir)
        let script = #"chmod 700 "$0" && mount --bind "$0" "$1" && shift && exec "$@""#
        return ["sh", "-c", script, folder.path("home"), home] + command
    }

    /// Makes the host key.
    ///
    /// - Parameters:
    ///   - kind: Which server.
    ///   - folder: Holds its files.
    ///   - port: Where it will listen.
    /// - Returns: The command that serves, and the public key: type and base64.
    /// - Throws: When the system refuses; the test cannot go on.
    private static func prepare(
        _ kind: Kind, _ folder: TemporaryFolder, port: UInt16
    ) async throws -> (command: [String], hostKey: String) {
        switch kind {
        case .dropbear:
            let file = folder.path("host_key")
            let said = try await Tool.run("dropbearkey", ["-t", "ed25519", "-f", file])
            guard let line = said.split(separator: "\n").first(where: { $0.hasPrefix("ssh-") }) else {
                throw FixtureError("dropbearkey says no key: \(said)")
            }
            let command = ["/usr/sbin/dropbear", "-F", "-E", "-r", file, "-p", "127.0.0.1:\(port)"]
            return (command, line.split(separator: " ").prefix(2).joined(separator: " "))
        case .tinysshd:
            let keys = folder.path("host_keys")
            try await Tool.run("/usr/sbin/tinysshd-makekey", ["-q", keys])
            let said = try await Tool.run("/usr/sbin/tinysshd-printkey", [keys])
            guard let line = said.split(separator: "\n").first(where: { $0.hasPrefix("ssh-") }) else {
                throw FixtureError("tinysshd-printkey says no key: \(said)")
            }
            try folder.write("accept.py", acceptor)
            let command = [
                "/usr/bin/python3", folder.path("accept.py"), String(port), "/usr/sbin/tinysshd", "-v", keys,
            ]
            return (command, line.split(separator: " ").prefix(2).joined(separator: " "))
        }
    }
}
