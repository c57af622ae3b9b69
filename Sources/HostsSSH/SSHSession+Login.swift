import CSSH
import HostsModel

extension SSHSession {
    /// From a connected socket to a user who is logged in.
    ///
    /// - Parameters:
    ///   - trust: What is known about the host's key.
    ///   - credentials: What to offer.
    ///   - agent: Signs for the keys that it holds.
    ///   - timeouts: Of the steps.
    ///   - accept: Called with a key that is not refused, before anything is said about the user.
    /// - Returns: The label of the key that was accepted.
    /// - Throws: The caller then ends the session.
    func logIn(
        trust: HostTrust, credentials: Credentials, agent: AgentClient?, timeouts: LinkSettings.Timeouts,
        accept: (HostTrust.Judgement, PublicKey) async throws(LinkError) -> Void
    ) async throws(LinkError) -> String {
        isBusy = true
        defer { isBusy = false }
        let key = try await shakeHands(trust, timeouts.handshake)
        try await accept(try trust.judge(key), key)
        return try await authenticate(credentials, agent, timeouts.authentication)
    }

    /// Agrees on keys; not a byte of authentication is sent.
    ///
    /// - Parameters:
    ///   - trust: Says which types of keys are asked for first.
    ///   - timeout: For all of it.
    /// - Returns: The key that the server has proven to hold.
    /// - Throws: What the server's answer means.
    func shakeHands(_ trust: HostTrust, _ timeout: Duration) async throws(LinkError) -> PublicKey {
        preferences = MethodPreferences(
            knownTypes: trust.keyTypes, configured: destination.hostKeyAlgorithms)
        let deadline = ContinuousClock.now + timeout
        let preferences = preferences
        do {
            try await drive(.handshake, until: deadline, timeout: timeout) { $0.prefer(preferences) }
            try await drive(.handshake, until: deadline, timeout: timeout) { $0.handshake() }
        } catch .timedOut(let stage, let limit) {
            throw classifier.refusal() ?? .timedOut(stage, after: limit)
        }
        hello = ServerHello(handle.head)
        handle.forgetHead()
        guard let key = handle.hostKey else {
            throw .protocolFailure(.handshake, code: 0, detail: "the server showed no host key")
        }
        return key
    }

    /// Offers the candidates one after another.
    ///
    /// - Returns: The label of the key that was accepted.
    private func authenticate(
        _ credentials: Credentials, _ agent: AgentClient?, _ timeout: Duration
    ) async throws(LinkError) -> String {
        let deadline = ContinuousClock.now + timeout
        let user = destination.user
        var tried: [String] = []
        var unusable: String?
        agentRefusal = nil
        for candidate in credentials.candidates {
            guard let blob = blob(for: candidate.key) else {
                unusable = candidate.label
                tried.append("\(candidate.label) (RSA, which this server and libssh2 cannot agree on)")
                continue
            }
            do {
                if try await offer(candidate, blob, agent, until: deadline, timeout: timeout) {
                    return candidate.label
                }
            } catch .closedByPeer where !tried.isEmpty {
                // Too many failures for the server's taste (MaxAuthTries).
                let all = credentials.candidates.map(\.label)
                throw tried.count < all.count
                    ? .tooManyKeys(user: user, tried: tried) : refusal(credentials, tried)
            }
            tried.append(candidate.label)
        }
        if let agentRefusal { throw .agentRefused(key: agentRefusal) }
        if let unusable {
            throw .needsOpenSSH(
                detail: "the key \(unusable) is an RSA key, which libssh2 \(SSHSessionHandle.libraryVersion) "
                    + "can only use with OpenSSH's server")
        }
        throw refusal(credentials, tried)
    }

    private func refusal(_ credentials: Credentials, _ tried: [String]) -> LinkError {
        credentials.refusal(
            user: destination.user, isLocalUserName: destination.hasLocalUserName, tried: tried)
    }

    /// Offers one key; false when it was refused.
    private func offer(
        _ candidate: Credentials.Candidate, _ blob: [UInt8], _ agent: AgentClient?,
        until deadline: ContinuousClock.Instant, timeout: Duration
    ) async throws(LinkError) -> Bool {
        let user = destination.user
        var key: PrivateKey?
        if case .file(let file) = candidate.signer { key = file }
        while true {
            if let error = endingError { throw error }
            let attempt = handle.authenticate(user: user, blob: blob, key: key)
            flushQueue()
            switch attempt {
            case .complete: return true
            case .failed(let failure) where failure.code == FailureClassifier.Code.authenticationFailed:
                return false
            case .failed(let failure) where failure.code == FailureClassifier.Code.publicKeyUnverified:
                try await checkSecondFactor(until: deadline, timeout: timeout)
                return false
            case .failed(let failure): throw error(.authentication, failure)
            case .wouldBlock:
                if let data = handle.signRequest {
                    let signature = try await sign(data, candidate, agent, until: deadline)
                    if signature == nil { agentRefusal = candidate.label }
                    handle.answer(signature: signature)
                } else {
                    try await wait(.authentication, until: deadline, timeout: timeout)
                }
            }
        }
    }

    private func sign(
        _ data: [UInt8], _ candidate: Credentials.Candidate, _ agent: AgentClient?,
        until deadline: ContinuousClock.Instant
    ) async throws(LinkError) -> [UInt8]? {
        guard let agent else { preconditionFailure("only an agent's key waits for a signature") }
        do {
            return try await agent.sign(data, with: candidate.key, until: deadline)
        } catch {
            switch error {
            // An agent answers at once, unless it waits for its person: a touch, or a click.
            case .deadline: throw .touchWanted(key: candidate.label)
            case .cancelled: throw .cancelled
            case .unreachable(let detail): throw .agentUnavailable(path: agent.path, detail: detail)
            case .malformed: throw .agentUnavailable(path: agent.path, detail: "its answer makes no sense")
            }
        }
    }

    /// libssh2 answers the same for a refused signature and for a key that was accepted as the first of two
    /// factors; what may go on tells them apart: after a partial success `publickey` is no longer in the
    /// list.
    private func checkSecondFactor(until deadline: ContinuousClock.Instant, timeout: Duration)
        async throws(LinkError)
    {
        let user = destination.user
        let methods = try await drive(.authentication, until: deadline, timeout: timeout) {
            $0.listMethods(user: user)
        }
        guard !methods.split(separator: ",").contains("publickey") else { return }
        throw .secondFactorWanted(user: user, methods: methods)
    }

    /// What is sent as the public key; nil where an RSA key cannot be used.
    private func blob(for key: PublicKey) -> [UInt8]? {
        // From 1.11.0 on libssh2 chooses the signature algorithm by itself (server-sig-algs).
        guard key.type == PublicKey.rsaType, hosts_ssh_library_version() < 0x010b00 else { return key.blob }
        return hello?.isOpenSSH == true ? key.renamedForSHA2 : nil
    }
}
