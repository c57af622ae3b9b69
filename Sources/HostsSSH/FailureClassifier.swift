import HostsModel

/// What was known when libssh2 failed, and what that means for the link.
struct FailureClassifier: Sendable {
    /// A result of libssh2 (libssh2.h, LIBSSH2_ERROR_…) or one of ours, with its text.
    struct Failure: Hashable, Sendable {
        let code: Int32
        let text: String
    }

    /// The values of libssh2.h that this program tells apart; the same in all versions.
    enum Code {
        static let keyExchangeFailure: Int32 = -5
        static let socketSend: Int32 = -7
        static let timeout: Int32 = -9
        static let socketDisconnect: Int32 = -13
        static let authenticationFailed: Int32 = -18
        static let publicKeyUnverified: Int32 = -19
        static let channelFailure: Int32 = -21
        static let channelRequestDenied: Int32 = -22
        static let again: Int32 = -37
        static let socketReceive: Int32 = -43
        static let bannerReceive: Int32 = -2
        /// Ours (CSSHSession.h): end of the channel; the session is closed.
        static let endOfChannel: Int32 = -1001
        static let dead: Int32 = -1002
    }

    /// Words of OpenSSH's sshd (sshd.c, drop_connection and srclimit) to a client that it does not want now.
    private static let refusals = ["Not allowed at this time", "Exceeded MaxStartups"]

    let address: String
    let hello: ServerHello
    /// The names that this libssh2 really offered, by kind.
    let offered: ServerHello.Algorithms

    func error(_ stage: LinkError.Stage, _ failure: Failure) -> LinkError {
        if stage == .handshake, hello.beginsBlank {
            // libssh2 1.10.0 takes it for a banner that is too short; 1.11.0 skips it.
            return .needsOpenSSH(
                detail: "the server begins with an empty line, which libssh2 takes for its banner")
        }
        switch failure.code {
        case Code.channelFailure, Code.channelRequestDenied: return .channelRefused(detail: failure.text)
        case Code.keyExchangeFailure where stage == .handshake:
            if let missing = missingAlgorithm() { return missing }
        default: break
        }
        if stage == .handshake, let refusal = refusal() { return refusal }
        switch failure.code {
        case Code.socketSend, Code.socketDisconnect, Code.socketReceive, Code.bannerReceive, Code.dead,
            Code.endOfChannel:
            return .closedByPeer(stage, detail: "")
        default: return .protocolFailure(stage, code: Int(failure.code), detail: failure.text)
        }
    }

    /// What a handshake that got no further says about the server, or nil.
    func refusal() -> LinkError? {
        guard hello.identification == nil, let line = hello.firstLine else { return nil }
        if Self.refusals.contains(where: line.contains) { return .rateLimited(detail: line) }
        return .notSSH(address: address, firstLine: line)
    }

    private func missingAlgorithm() -> LinkError? {
        guard let theirs = hello.algorithms else { return nil }
        let kinds = [
            ("key exchange", offered.keyExchange, theirs.keyExchange),
            ("host key", offered.hostKeys, theirs.hostKeys),
            ("cipher", offered.ciphers, theirs.ciphers), ("MAC", offered.macs, theirs.macs),
        ]
        for (kind, ours, theirs) in kinds where !ours.contains(where: theirs.contains) {
            return .noCommonAlgorithm(kind: kind, offered: theirs.joined(separator: ","))
        }
        return nil
    }
}
