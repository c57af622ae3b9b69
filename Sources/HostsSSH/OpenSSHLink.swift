import HostsModel
import HostsPOSIX

/// A link through the person's own `ssh` program: what libssh2 cannot do, that can.
typealias OpenSSHLink = ShellLink<OpenSSHShell>

extension ShellLink where Shell == OpenSSHShell {
    /// Makes a link that is not open yet.
    ///
    /// - Parameters:
    ///   - shell: What is run.
    ///   - reason: Why this kind was chosen, where `transport = "auto"` chose it.
    ///   - token: The generation of the attempt.
    ///   - program: What the shell is given before the first request.
    ///   - loop: Where the link lives.
    init(_ shell: OpenSSHShell, reason: String?, token: Int, program: ShellProgram, loop: EventLoop) {
        self.init(
            summary: LinkSummary(
                kind: .openssh, mode: .persistent, detail: "ssh \(shell.target.name)", reason: reason),
            token: token, program: program, loop: loop)
    }
}

/// An `ssh` that runs `/bin/sh` on a host; it asks nobody anything.
struct OpenSSHShell: ShellProcess {
    /// Options beside the person's own, which they take the place of; the same for every host.
    ///
    /// ssh takes the first value of an option, and those of the command line come first (ssh_config(5)). Each
    /// one is in OpenSSH 9.2's manual; those that are younger than 7.4 would stop an older ssh, hence
    /// IgnoreUnknown. It is a star as a list of ours would take the place of the person's own list, and ssh
    /// would then refuse a file that it accepts from the person.
    static let options = [
        "IgnoreUnknown=*",
        // No password, passphrase, or question about a host key.
        "BatchMode=yes",
        // An existing connection of the person is used, but none is offered: it would live on after us.
        "ControlMaster=no",
        // Local, remote and dynamic forwardings, and tunnels; then what it does not cover.
        "ClearAllForwardings=yes", "ForwardAgent=no", "ForwardX11=no",
        "PermitLocalCommand=no",
        // OpenSSH 7.6: two commands are an error.
        "RemoteCommand=none",
        // OpenSSH 8.7: for hosts that a person uses for forwardings only.
        "SessionType=default", "StdinNull=no", "ForkAfterAuthentication=no",
        // QUIET would hide why a login fails; several reasons are told at INFO only.
        "LogLevel=INFO",
    ]

    let target: OpenSSHTarget
    private let settings: LinkSettings
    private let agentSocket: String?

    /// Makes the description of a process; nothing is started.
    ///
    /// - Parameters:
    ///   - target: The host.
    ///   - settings: The program, its configuration file, its environment.
    ///   - agentSocket: The agent where neither ssh_config nor the environment names one.
    /// - Throws: `.resolutionFailed` for a name that ssh would take for an option.
    init(target: OpenSSHTarget, settings: LinkSettings, agentSocket: String?) throws(LinkError) {
        guard !target.name.isEmpty, !target.name.hasPrefix("-") else {
            throw .resolutionFailed(
                destination: target.name, detail: "a destination is a name, and does not begin with \"-\"")
        }
        self.target = target
        self.settings = settings
        self.agentSocket = agentSocket
    }

    var command: LinkChild.Command {
        var environment = settings.environment
        if let agentSocket, environment["SSH_AUTH_SOCK"]?.isEmpty ?? true {
            environment["SSH_AUTH_SOCK"] = agentSocket
        }
        // BatchMode leaves hardware keys and PKCS#11 providers, which would show a window.
        environment["SSH_ASKPASS_REQUIRE"] = "never"
        let file = settings.configFile.map { ["-F", $0] } ?? []
        let options = Self.options.flatMap { ["-o", $0] }
        return LinkChild.Command(
            program: settings.sshProgram,
            arguments: ["-T"] + file + options + ["--", target.name, ShellProtocol.command],
            environment: environment, errorOutput: .kept, farewell: .politely)
    }

    /// How long opening may take in all: ssh does not tell one step from the next.
    var timeout: Duration {
        let timeouts = settings.timeouts
        let connect = max(timeouts.connect, target.connectTimeout ?? .zero)
        return connect + timeouts.handshake + timeouts.authentication + timeouts.shell
    }

    func cannotStart(_ error: SystemError) -> LinkError {
        .programFailed(name: settings.sshProgram, detail: SystemError.text(error.code))
    }

    func failure(_ end: ShellEnd) -> LinkError { OpenSSHFailure(end: end, target: target).error }
}

/// The host that an `ssh` is started for, as far as its errors need to know it.
struct OpenSSHTarget: Hashable, Sendable {
    /// What the person types after `ssh`.
    let name: String
    /// Who logs in, where that is known.
    var user: String?
    /// Whether that is the name of the local account, as ssh_config names none.
    var hasLocalUserName = false
    /// Hosts on the way, as ProxyJump names them.
    var jumps: [String] = []
    var connectTimeout: Duration?

    /// A host of which no more than its name is known.
    init(name: String) { self.name = name }

    /// A host that `ssh -G` has told about.
    init(_ destination: Destination) {
        name = destination.name
        user = destination.user
        hasLocalUserName = destination.hasLocalUserName
        connectTimeout = destination.connectTimeout
        if case .jump(let hosts) = destination.route { jumps = hosts }
    }
}
