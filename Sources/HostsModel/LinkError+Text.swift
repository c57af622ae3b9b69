extension LinkError {
    /// One line for people: what happened.
    ///
    /// Text from the peer is made visible and bounded.
    package var message: String {
        switch self {
        case .nameNotFound(let name, let detail):
            "the name \(SafeText.visible(name)) has no address (\(SafeText.visible(detail)))"
        case .unreachable(let address, let detail):
            "\(address) cannot be reached: \(SafeText.visible(detail))"
        case .noRoute: "this machine has no network that leads there"
        case .connectionRefused(let address): "\(address) refuses connections: no SSH server listens there"
        case .timedOut(let stage, let limit): "no answer within \(Self.text(limit)) (\(stage.words))"
        case .closedByPeer(let stage, let detail):
            "the connection was closed by the other side (\(stage.words))\(Self.suffix(detail))"
        case .notSSH(let address, let line):
            "\(address) is not an SSH server; it says \"\(SafeText.visible(line, limit: 80))\""
        case .protocolFailure(let stage, let code, let detail):
            "SSH failed (\(stage.words), libssh2 \(code))\(Self.suffix(detail))"
        case .badReply(let detail): "the probe's reply cannot be used: \(SafeText.visible(detail))"
        case .programFailed(let name, let detail): "\(SafeText.visible(name)) failed\(Self.suffix(detail))"
        case .rateLimited(let detail): "the server refuses us for a while: \(SafeText.visible(detail))"
        case .hostKeyUnknown(let host, let fingerprint):
            "the host key of \(host) is not known (\(fingerprint))"
        case .hostKeyChanged(let host, let expected, let got, let file):
            "the host key of \(host) has changed: \(file) has \(expected), the server shows \(got)"
        case .hostKeyRevoked(let host, let fingerprint): "the host key of \(host) is revoked (\(fingerprint))"
        case .authenticationRefused(let user, let tried):
            "the server refuses \(user)\(Self.list(tried))"
        case .userRefused(let user, let tried):
            "the server refuses \(user), which is also your name here\(Self.list(tried))"
        case .tooManyKeys(let user, let tried):
            "the server refuses \(user) after too many keys\(Self.list(tried))"
        case .touchWanted(let key): "the key \(SafeText.visible(key)) was not touched in time"
        case .agentRefused(let key): "the SSH agent does not sign with \(SafeText.visible(key))"
        case .secondFactorWanted(let user, let methods):
            "the server wants a second factor of \(user) (\(SafeText.visible(methods)))"
        case .keyMissing(let path): "there is no key at \(path)"
        case .keyUnusable(let path, let detail): "the key \(path) cannot be used: \(SafeText.visible(detail))"
        case .keyNeedsPassphrase(let path): "the key \(path) has a passphrase"
        case .agentUnavailable(let path, let detail):
            "the SSH agent at \(path) cannot be reached: \(SafeText.visible(detail))"
        case .agentHasNoKeys(let path): "the SSH agent at \(path) offers no keys: it is empty or locked"
        case .resolutionFailed(let destination, let detail):
            "ssh -G \(SafeText.visible(destination)) failed: \(SafeText.visible(detail))"
        case .noCommonAlgorithm(let kind, let offered):
            "no common \(kind) with the server, which offers \(SafeText.visible(offered))"
        case .noPOSIXShell(let detail): "the account gives no POSIX shell\(Self.suffix(detail))"
        case .channelRefused(let detail): "the server refuses to run a shell\(Self.suffix(detail))"
        case .unsupported(let detail), .needsOpenSSH(let detail): SafeText.visible(detail)
        case .jumpHost(let name, let error): "jump host \(SafeText.visible(name)): \(error.message)"
        case .cancelled: "the attempt was cancelled"
        case .superseded: "a newer attempt took over"
        case .hostDisabled: "the host was disabled"
        case .hostRemoved: "the host was removed"
        case .recordChanged: "the host's record changed"
        case .daemonStopping: "hostsd is stopping"
        case .suspended: "this machine goes to sleep"
        }
    }

    /// What the person can do about it, or nil where waiting is the answer.
    package func help(for host: HostID) -> String? {
        switch self {
        case .nameNotFound: "check the name with: ssh -G \(host)"
        case .unreachable, .noRoute, .connectionRefused, .timedOut, .closedByPeer, .protocolFailure,
            .badReply, .programFailed, .rateLimited:
            nil
        case .notSSH: "check HostName and Port of this host in your ssh_config (captive portal?)"
        case .hostKeyUnknown: "compare the fingerprint and accept it: hostsctl trust \(host)"
        case .hostKeyChanged(let name, _, _, let file):
            "if the change is expected: ssh-keygen -f \(file) -R '\(name)', then: hostsctl trust \(host)"
        case .hostKeyRevoked: "do not log in; ask whoever runs the host for its new key"
        case .authenticationRefused(let user, _):
            "add one of your public keys to \(user)'s authorized_keys there, then: hostsctl resume \(host)"
        case .userRefused:
            "if another user is meant, set User in ssh_config; else add one of your public keys to "
                + "authorized_keys there; then: hostsctl resume \(host)"
        case .tooManyKeys:
            "name the right key: IdentityFile and IdentitiesOnly yes in ~/.ssh/config, then: "
                + "hostsctl resume \(host)"
        case .touchWanted: "hold your hand near the key, then: hostsctl resume \(host)"
        case .agentRefused:
            "confirm the use of the key, or unlock the agent (ssh-add -X): hostsctl resume \(host)"
        case .secondFactorWanted:
            "hostsd cannot type a second factor; use a key that needs none for this host"
        case .keyMissing: "create the key or correct IdentityFile, then: hostsctl resume \(host)"
        case .keyUnusable: "use an Ed25519 or ECDSA key, or load this one into ssh-agent"
        case .keyNeedsPassphrase(let path):
            "hostsctl unlock \(host), or load it into your agent: ssh-add \(path), then: hostsctl resume \(host)"
        case .agentUnavailable:
            "start ssh-agent, or set IdentityAgent in ssh_config, then: hostsctl resume \(host)"
        case .agentHasNoKeys:
            "unlock the agent (ssh-add -X) or add a key (ssh-add), then: hostsctl resume \(host)"
        case .resolutionFailed: "try it by hand: ssh -G \(host)"
        case .noCommonAlgorithm:
            "let the ssh program try (transport = \"auto\" in the record), or allow the algorithm in ssh_config"
        case .needsOpenSSH: "set transport = \"auto\" in the host's record"
        case .noPOSIXShell, .channelRefused: "the account must be able to run /bin/sh"
        case .jumpHost(_, let error): error.help(for: host)
        case .unsupported, .cancelled, .superseded, .hostDisabled, .hostRemoved, .recordChanged,
            .daemonStopping, .suspended:
            nil
        }
    }

    private static func list(_ tried: [String]) -> String {
        tried.isEmpty ? "" : "; tried \(tried.joined(separator: ", "))"
    }

    private static func suffix(_ detail: String) -> String {
        detail.isEmpty ? "" : ": " + SafeText.visible(detail)
    }

    private static func text(_ duration: Duration) -> String {
        let seconds = duration.seconds
        // What was left of a deadline shared by two steps is seldom a round number.
        let tenths = (seconds * 10).rounded() / 10
        return tenths == tenths.rounded() ? "\(Int(tenths)) s" : "\(tenths) s"
    }
}

extension LinkError.Stage {
    /// The step in words.
    package var words: String {
        switch self {
        case .resolve: "while resolving the destination"
        case .connect: "while connecting"
        case .handshake: "in the SSH handshake"
        case .authentication: "while authenticating"
        case .shell: "while opening the shell"
        case .probe: "while probing"
        }
    }
}
