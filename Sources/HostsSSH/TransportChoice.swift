import HostsModel

/// Whether the ssh program may reach what libssh2 did not, for `transport = "auto"`.
struct TransportChoice: Hashable, Sendable {
    /// Whether the person's own ssh has a connection to the host that others may share (ControlPath).
    var hasSharedConnection = false
    /// Whether ssh_config allows GSSAPI and there is a ticket to use.
    var hasTicket = false

    /// Why the ssh program is worth an attempt after this error; nil where it would fail in the same way.
    func reason(for error: LinkError) -> String? {
        switch error {
        case .noCommonAlgorithm, .needsOpenSSH: error.message
        case .jumpHost(let name, let inner):
            reason(for: inner) == nil ? nil : "jump host \(name): \(inner.message)"
        case .authenticationRefused, .userRefused, .tooManyKeys, .secondFactorWanted, .keyMissing,
            .keyUnusable,
            .keyNeedsPassphrase, .agentUnavailable, .agentHasNoKeys, .agentRefused:
            if hasSharedConnection {
                "your own ssh has a connection there that hostsd may share (ControlPath)"
            } else if hasTicket {
                "there is a Kerberos ticket (GSSAPIAuthentication)"
            } else {
                nil
            }
        case .nameNotFound, .unreachable, .noRoute, .connectionRefused, .timedOut, .closedByPeer, .notSSH,
            .protocolFailure, .badReply, .programFailed, .rateLimited, .hostKeyUnknown, .hostKeyChanged,
            .hostKeyRevoked, .touchWanted, .resolutionFailed, .noPOSIXShell, .channelRefused, .unsupported,
            .cancelled, .superseded, .hostDisabled, .hostRemoved, .recordChanged, .daemonStopping, .suspended:
            nil
        }
    }

    /// Whether the reason will be the same next time, so that libssh2 need not fail again first.
    static func isLasting(_ error: LinkError) -> Bool {
        switch error {
        case .noCommonAlgorithm, .needsOpenSSH: true
        case .jumpHost(_, let inner): isLasting(inner)
        default: false
        }
    }
}
