/// Why a link could not be made or has ended.
///
/// Carries facts; `message` and `help` are made from them.
package enum LinkError: Error, Hashable, Sendable {
    /// A step of a link's life, each with a deadline of its own.
    package enum Stage: String, Hashable, Sendable {
        case resolve, connect, handshake, authentication, shell, probe
    }

    // Transient: the schedule of `BoardReconnectPolicy` follows.
    case nameNotFound(name: String, detail: String)
    case unreachable(address: String, detail: String)
    /// This machine has no network at present, or none that leads to the host.
    case noRoute
    case connectionRefused(address: String)
    case timedOut(Stage, after: Duration)
    case closedByPeer(Stage, detail: String)
    case notSSH(address: String, firstLine: String)
    case protocolFailure(Stage, code: Int, detail: String)
    /// The reply had no end marker, too many bytes, or a marker that is not ours.
    case badReply(detail: String)
    /// The program that carries the connection ended or does not work: a ProxyCommand, or ssh itself.
    case programFailed(name: String, detail: String)

    // A server that refuses for a while.
    case rateLimited(detail: String)

    // The person must act: no automatic retry.
    case hostKeyUnknown(host: String, fingerprint: String)
    case hostKeyChanged(host: String, expected: String, got: String, file: String)
    case hostKeyRevoked(host: String, fingerprint: String)
    case authenticationRefused(user: String, tried: [String])
    /// The same for a user with the name of the local account, as ssh takes where none is configured.
    case userRefused(user: String, tried: [String])
    /// The server ended the connection before the right key had its turn.
    case tooManyKeys(user: String, tried: [String])
    /// A hardware key waited for a touch in vain.
    case touchWanted(key: String)
    /// The agent holds the key, but does not sign with it: its person said no, or it was locked meanwhile.
    case agentRefused(key: String)
    case secondFactorWanted(user: String, methods: String)
    case keyMissing(path: String)
    case keyUnusable(path: String, detail: String)
    case keyNeedsPassphrase(path: String)
    case agentUnavailable(path: String, detail: String)
    case agentHasNoKeys(path: String)
    case resolutionFailed(destination: String, detail: String)

    // This program cannot serve the host as it is.
    case noCommonAlgorithm(kind: String, offered: String)
    case noPOSIXShell(detail: String)
    case channelRefused(detail: String)
    case unsupported(detail: String)
    /// libssh2 cannot, but the ssh program can.
    case needsOpenSSH(detail: String)

    /// What happened to a host on the way to this one.
    indirect case jumpHost(name: String, LinkError)

    // Our own doing.
    case cancelled
    /// The token of the attempt is no longer the current one.
    case superseded
    case hostDisabled
    case hostRemoved
    case recordChanged
    case daemonStopping
    /// The machine goes to sleep.
    case suspended
}

extension LinkError {
    /// What may follow an error.
    package enum Disposition: Hashable, Sendable {
        case retry, limited, needsYou, unsupported, ours
    }

    package var disposition: Disposition {
        switch self {
        case .nameNotFound, .unreachable, .noRoute, .connectionRefused, .timedOut, .closedByPeer, .notSSH,
            .protocolFailure, .badReply, .programFailed:
            .retry
        case .rateLimited: .limited
        case .hostKeyUnknown, .hostKeyChanged, .hostKeyRevoked, .authenticationRefused, .userRefused,
            .tooManyKeys, .touchWanted, .agentRefused, .secondFactorWanted, .keyMissing, .keyUnusable,
            .keyNeedsPassphrase, .agentUnavailable, .agentHasNoKeys, .resolutionFailed:
            .needsYou
        case .noCommonAlgorithm, .noPOSIXShell, .channelRefused, .unsupported, .needsOpenSSH: .unsupported
        case .jumpHost(_, let error): error.disposition
        case .cancelled, .superseded, .hostDisabled, .hostRemoved, .recordChanged, .daemonStopping,
            .suspended:
            .ours
        }
    }

    /// A stable word for the API, the log and tests.
    package var code: String {
        switch self {
        case .nameNotFound: "dns.not-found"
        case .unreachable: "connect.unreachable"
        case .noRoute: "connect.no-route"
        case .connectionRefused: "connect.refused"
        case .timedOut(let stage, _): "timeout.\(stage.rawValue)"
        case .closedByPeer: "link.closed"
        case .notSSH: "ssh.not-ssh"
        case .protocolFailure: "ssh.protocol"
        case .badReply: "probe.bad-reply"
        case .rateLimited: "ssh.rate-limited"
        case .hostKeyUnknown: "ssh.hostkey.unknown"
        case .hostKeyChanged: "ssh.hostkey.changed"
        case .hostKeyRevoked: "ssh.hostkey.revoked"
        case .authenticationRefused: "ssh.auth.refused"
        case .userRefused: "ssh.auth.user"
        case .tooManyKeys: "ssh.auth.too-many-keys"
        case .touchWanted: "ssh.auth.touch"
        case .agentRefused: "ssh.agent.refused"
        case .secondFactorWanted: "ssh.auth.second-factor"
        case .keyMissing: "ssh.key.missing"
        case .keyUnusable: "ssh.key.unusable"
        case .keyNeedsPassphrase: "ssh.key.passphrase"
        case .agentUnavailable: "ssh.agent.unavailable"
        case .agentHasNoKeys: "ssh.agent.empty"
        case .resolutionFailed: "ssh.config"
        case .noCommonAlgorithm: "ssh.no-common-algorithm"
        case .noPOSIXShell: "shell.not-posix"
        case .channelRefused: "ssh.channel-refused"
        case .unsupported: "link.unsupported"
        case .needsOpenSSH: "link.needs-openssh"
        case .programFailed: "link.program-failed"
        case .jumpHost(_, let error): "jump.\(error.code)"
        case .cancelled: "link.cancelled"
        case .superseded: "link.superseded"
        case .hostDisabled: "host.disabled"
        case .hostRemoved: "host.removed"
        case .recordChanged: "host.record-changed"
        case .daemonStopping: "daemon.stopping"
        case .suspended: "host.suspended"
        }
    }
}
