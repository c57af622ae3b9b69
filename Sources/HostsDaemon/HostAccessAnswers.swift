import HostsAPI
import HostsModel

// What the links answer to a person who helps a host, in the words of the wire.

extension HostKeyView {
    init(_ offer: HostKeyOffer) {
        let (word, expected, file): (String, String?, String) =
            switch offer.verdict {
            case .known: ("known", nil, offer.file)
            case .unknown: ("unknown", nil, offer.file)
            case .changed(let expected, let file): ("changed", expected, file)
            case .revoked: ("revoked", nil, offer.file)
            }
        self.init(
            name: offer.host, type: offer.type, fingerprint: offer.fingerprint, verdict: word,
            expected: expected, file: file)
    }
}

extension APIError {
    /// A host that could not be asked.
    init(_ error: LinkError, of host: HostID) {
        self = .hostFailed(code: error.code, message: error.message, help: error.help(for: host))
    }

    /// A key that is not added.
    ///
    /// - Parameters:
    ///   - error: What the links say.
    ///   - host: The host that was asked for.
    ///   - accepted: The fingerprint that the person has accepted.
    init(_ error: HostAccessError, of host: HostID, accepted: String) {
        guard case .otherKey(let offer) = error else {
            self.init(error, of: host)
            return
        }
        self = .conflict(
            code: "hostkey.other",
            message: "\(SafeText.visible(offer.host)) shows another key than the accepted one: "
                + "\(offer.fingerprint), not \(accepted)",
            help: "compare the fingerprint with the host's own, then: hostsctl trust \(host)")
    }

    /// Help of a person that was not taken.
    init(_ error: HostAccessError, of host: HostID) {
        switch error {
        case .link(let error): self.init(error, of: host)
        case .otherKey(let offer), .refused(let offer): self.init(refusing: offer, of: host)
        case .fileNotWritten(let path, let detail):
            self = .failed(
                code: "hostkey.not-written",
                message: "\(path) cannot be written: \(SafeText.visible(detail))",
                help: "look at the permissions of \(path), then: hostsctl trust \(host)")
        case .nothingLocked:
            self = .conflict(
                code: "key.not-locked", message: "no key of \(host) waits for a passphrase",
                help: "hostsctl show \(host)")
        case .wrongPassphrase(let paths):
            self = .wrongPassphrase("the passphrase does not open \(paths.joined(separator: " or "))")
        }
    }

    private init(refusing offer: HostKeyOffer, of host: HostID) {
        let name = SafeText.visible(offer.host)
        let link: LinkError
        let code: String
        switch offer.verdict {
        case .known, .unknown:
            self = .conflict(
                code: "hostkey.other", message: "the key of \(name) is not added: \(offer.fingerprint)",
                help: "hostsctl trust \(host)")
            return
        case .changed(let expected, let file):
            code = "hostkey.changed"
            link = .hostKeyChanged(host: name, expected: expected, got: offer.fingerprint, file: file)
        case .revoked:
            code = "hostkey.revoked"
            link = .hostKeyRevoked(host: name, fingerprint: offer.fingerprint)
        }
        self = .conflict(code: code, message: link.message, help: link.help(for: host))
    }
}

extension LinkError {
    /// The key whose passphrase is wanted, on the host itself or on the way to it; nil for every other error.
    var lockedKey: String? {
        switch self {
        case .keyNeedsPassphrase(let path): path
        case .jumpHost(_, let error): error.lockedKey
        case .nameNotFound, .unreachable, .noRoute, .connectionRefused, .timedOut, .closedByPeer, .notSSH,
            .protocolFailure, .badReply, .programFailed, .rateLimited, .hostKeyUnknown, .hostKeyChanged,
            .hostKeyRevoked, .authenticationRefused, .userRefused, .tooManyKeys, .touchWanted, .agentRefused,
            .secondFactorWanted, .keyMissing, .keyUnusable, .agentUnavailable, .agentHasNoKeys,
            .resolutionFailed, .noCommonAlgorithm, .noPOSIXShell, .channelRefused, .unsupported,
            .needsOpenSSH, .cancelled, .superseded, .hostDisabled, .hostRemoved, .recordChanged,
            .daemonStopping, .suspended:
            nil
        }
    }
}
