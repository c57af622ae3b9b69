import HostsModel

/// How links are made; chosen by the composition, the same for all hosts.
package struct LinkSettings: Hashable, Sendable {
    /// How requests reach the host's shell.
    package enum ProbeMode: String, Hashable, Sendable, CaseIterable {
        /// `persistent`, and `exec` for a link whose server cuts the shell's channel.
        case auto
        /// One shell for the life of the link.
        case persistent
        /// One exec channel for each probe, visible one by one in the server's log.
        case exec
    }

    /// How long each step of an attempt may take, counted through suspend.
    package struct Timeouts: Hashable, Sendable {
        package var resolve = Duration.seconds(10)
        /// All addresses together; ConnectTimeout of ssh_config takes its place.
        package var connect = Duration.seconds(10)
        package var handshake = Duration.seconds(15)
        /// Agent and keys; below the 120 s that sshd grants.
        package var authentication = Duration.seconds(20)
        /// Slow login files included.
        package var shell = Duration.seconds(20)

        package init() {}
    }

    /// The `ssh` that resolves destinations: an absolute path, or a name in PATH.
    package var sshProgram = "ssh"
    /// What `ssh -F` gets; nil: ssh's own choice.
    package var configFile: String?
    package var probeMode = ProbeMode.auto
    package var timeouts = Timeouts()
    /// For `ssh -G`, the local shell, and variables in ssh_config; `SSH_AUTH_SOCK` names the agent.
    package var environment: [String: String]
    /// The agent where neither ssh_config nor the environment names one, as in a systemd unit.
    package var agentSocket: String?
    /// What `~` and `%d` mean in ssh_config.
    package var homeDirectory: String

    /// Makes settings with the defaults of the design.
    ///
    /// - Parameters:
    ///   - environment: The environment of the person's session.
    ///   - homeDirectory: The person's home directory, absolute.
    package init(environment: [String: String], homeDirectory: String) {
        self.environment = environment
        self.homeDirectory = homeDirectory
    }
}
