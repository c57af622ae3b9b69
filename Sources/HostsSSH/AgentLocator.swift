import Glibc
import HostsModel
import HostsProcess

/// Finds the person's ssh-agent, at each attempt anew: a daemon that was started at boot has none in its
/// environment, and the socket of a session may move.
struct AgentLocator: Sendable {
    /// How long the user manager may take to answer.
    private static let timeout = Duration.seconds(2)
    private static let outputLimit = ByteCount.kibibytes(64)
    /// Below XDG_RUNTIME_DIR: OpenSSH's user unit, GNOME's (new and old), GnuPG's.
    private static let wellKnown = [
        "openssh_agent", "ssh-agent.socket", "gcr/ssh", "keyring/ssh", "gnupg/S.gpg-agent.ssh",
    ]

    let settings: LinkSettings
    /// Asks the user manager: an absolute path, or a name in the daemon's PATH.
    var systemctl = "systemctl"

    /// The agent's socket where ssh_config names none: the first that exists of our own environment, the systemd
    /// user manager's environment, and the well-known places.
    ///
    /// Blocks on the file system, but not for long: sockets are in memory.
    ///
    /// - Returns: A path, or nil where there is no agent.
    func locate() async throws(LinkError) -> String? {
        let environment = settings.environment
        let own = [environment["SSH_AUTH_SOCK"], settings.agentSocket].compactMap { $0 }.filter {
            !$0.isEmpty
        }
        if let found = own.first(where: Self.isSocket) { return found }
        let folder = environment["XDG_RUNTIME_DIR"].flatMap { $0.isEmpty ? nil : $0 }
        if let folder, let found = try await managed(folder), Self.isSocket(found) { return found }
        if let folder, let found = Self.wellKnown.map({ "\(folder)/\($0)" }).first(where: Self.isSocket) {
            return found
        }
        // Named in the message, although it is not there.
        return own.first
    }

    /// What the user manager would give to a unit that is started now.
    private func managed(_ folder: String) async throws(LinkError) -> String? {
        guard Self.isSocket("\(folder)/systemd/private") || Self.isSocket("\(folder)/bus") else { return nil }
        let outcome: ChildOutcome
        do {
            outcome = try await ChildProcess.run(
                program: systemctl, arguments: ["--user", "show-environment"],
                environment: settings.environment, deadline: .now + Self.timeout,
                outputLimit: Self.outputLimit)
        } catch .cancelled {
            throw .cancelled
        } catch {
            // No systemd: nothing is lost, the other places are looked at.
            return nil
        }
        guard outcome.isSuccess else { return nil }
        let prefix = "SSH_AUTH_SOCK="
        return String(decoding: outcome.output, as: UTF8.self).split(separator: "\n")
            .first { $0.hasPrefix(prefix) }.map { String($0.dropFirst(prefix.count)) }
    }

    private static func isSocket(_ path: String) -> Bool {
        var status = stat()
        return unsafe stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFSOCK
    }
}
