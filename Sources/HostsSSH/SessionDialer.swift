import HostsLog
import HostsModel

/// Makes sessions: over a connection of our own, through a ProxyCommand, or through jump hosts.
///
/// Its functions run on the event loop.
struct SessionDialer: Sendable {
    let resources: LinkResources
    let settings: LinkSettings
    /// Whether a key that only the ssh program can use is worth another attempt with that.
    let mayUseOpenSSH: Bool
    /// Gets a line for each step.
    let report: @Sendable (_ event: StaticString, _ text: String, _ took: Duration) -> Void
    /// Gets what a person should know, although it stops nothing.
    let warn: @Sendable (_ event: StaticString, _ text: String) -> Void

    /// A session, and the key that opened it.
    struct Login: Sendable {
        let session: SSHSession
        let keyLabel: String
    }

    /// Everything about a login that is known before anything is dialled.
    private struct Preparation: Sendable {
        let trust: HostTrust
        let credentials: Credentials
        let agent: AgentClient?
    }

    /// Connects to the last host of `chain` and logs in.
    ///
    /// Nothing is dialled before there is a key to offer.
    ///
    /// - Parameter chain: The hosts on the way, and the host itself.
    /// - Returns: The caller ends the session.
    /// - Throws: Whatever is in the way; nothing is left open then.
    func logIn(to chain: [Destination]) async throws(LinkError) -> Login {
        var attempt = 1
        while true {
            let isLast = attempt == Self.crowdedAttempts
            if let login = try await attemptLogin(to: chain, isLast: isLast) { return login }
            // One after another then, each when the server has had time to see the end of the last.
            _ = await LoopSignal(on: resources.loop).wait(until: .now + Self.crowdedPause * attempt)
            attempt += 1
        }
    }

    /// How often a login is tried that a server refuses because others of ours are under way (MaxStartups).
    private static let crowdedAttempts = 8
    private static let crowdedPause = Duration.milliseconds(200)

    /// One login; nil when the server refused it while others of ours to the same place were not logged in, which is
    /// no ban.
    private func attemptLogin(to chain: [Destination], isLast: Bool) async throws(LinkError) -> Login? {
        let destination = Self.target(chain)
        let preparation = try await prepare(destination)
        defer { preparation.agent?.close() }
        if mayUseOpenSSH, let reason = destination.needsOpenSSH ?? preparation.credentials.opensshReason {
            throw .needsOpenSSH(detail: reason)
        }
        guard !preparation.credentials.candidates.isEmpty else {
            throw preparation.credentials.nothingToOffer
        }
        let (session, pass) = try await connect(to: chain)
        defer { pass.leave() }
        let started = ContinuousClock.now
        do {
            let label = try await session.logIn(
                trust: preparation.trust, credentials: preparation.credentials, agent: preparation.agent,
                timeouts: settings.timeouts
            ) { (judgement, key) async throws(LinkError) in
                try await accept(judgement, key, destination, preparation.trust.file)
            }
            report(
                "ssh.authenticated", "\(destination.user)@\(session.address), key \(label)", .now - started)
            return Login(session: session, keyLabel: label)
        } catch {
            session.finish(error)
            if !isLast, pass.hadCompany, case .rateLimited = error {
                pass.leaveNarrow()
                return nil
            }
            throw mayUseOpenSSH ? error.orOpenSSH(preparation.credentials.remainingForOpenSSH) : error
        }
    }

    /// Writes down a new key that ssh_config says to take.
    private func accept(
        _ judgement: HostTrust.Judgement, _ key: PublicKey, _ destination: Destination, _ file: String
    ) async throws(LinkError) {
        switch judgement {
        case .known: return
        case .letThrough(let warning): warn("ssh.hostkey.let-through", warning)
        case .add:
            // UserKnownHostsFile none: nothing is kept.
            guard !file.isEmpty else { return }
            let writer = KnownHostsWriter(destination: destination, key: key)
            let failure = try await onWorker { () -> KnownHostsWriter.Failure? in
                do throws(KnownHostsWriter.Failure) {
                    try writer.append(to: file)
                    return nil
                } catch {
                    return error
                }
            }
            if let failure {
                // As ssh does: the key is taken all the same, and asked about next time.
                warn("ssh.hostkey.not-written", "\(failure.path): \(failure.detail)")
            } else {
                report(
                    "ssh.hostkey.added",
                    "added \(key.fingerprint) of \(destination.knownHostsName) to \(file)",
                    .zero)
            }
        }
    }

    /// The key that the last host of `chain` shows; nothing is said about the user.
    ///
    /// - Parameter chain: The hosts on the way, which are logged in to, and the host itself.
    /// - Returns: The key, and what the files say about it.
    /// - Throws: What keeps the server from showing a key.
    func hostKey(of chain: [Destination]) async throws(LinkError) -> (key: PublicKey, trust: HostTrust) {
        let destination = Self.target(chain)
        let trust = try await onWorker { HostTrust(destination: destination) }
        let (session, pass) = try await connect(to: chain)
        defer {
            session.finish(.cancelled)
            pass.leave()
        }
        session.isBusy = true
        return (try await session.shakeHands(trust, settings.timeouts.handshake), trust)
    }

    /// A session that has said nothing yet, and the right to have it until it is logged in.
    private func connect(to chain: [Destination]) async throws(LinkError) -> (SSHSession, DialGate.Pass) {
        let destination = Self.target(chain)
        let timeout = destination.connectTimeout ?? settings.timeouts.connect
        let way = Array(chain.dropLast())
        guard let bastion = way.last else {
            let pass = try await resources.gate.enter(destination.address)
            return (try await session(destination, directCarrier(to: destination, timeout)), pass)
        }
        let dialer = self
        let logIn: JumpHosts.LogIn = { () async throws(LinkError) in try await dialer.logIn(to: way).session }
        // The jump host first: whoever has a pass must not wait for somebody who needs one.
        let reservation = try await resources.jumpHosts.reserve(way, logIn: logIn)
        let pass = try await resources.gate.enter("behind \(bastion.address)")
        let carrier = try await resources.jumpHosts.carrier(
            to: destination, by: way, timeout: timeout, logIn: logIn)
        withExtendedLifetime(reservation) {}
        return (try session(destination, carrier), pass)
    }

    private func session(
        _ destination: Destination, _ carrier: consuming Carrier
    ) throws(LinkError) -> SSHSession {
        report("ssh.connected", "connected to \(carrier.address)", .zero)
        return try SSHSession(carrier: carrier, destination: destination, loop: resources.loop)
    }

    private func directCarrier(
        to destination: Destination, _ timeout: Duration
    ) async throws(LinkError) -> Carrier {
        if case .command(let command) = destination.route {
            return try ProxyCommandConduit.open(
                command: command, to: destination.address, environment: settings.environment,
                loop: resources.loop)
        }
        return try await Dialer(loop: resources.loop, pool: resources.pool).connect(
            to: destination, timeout: timeout)
    }

    private static func target(_ chain: [Destination]) -> Destination {
        guard let last = chain.last else { preconditionFailure("a chain ends with its destination") }
        return last
    }

    // MARK: Preparation

    private func prepare(_ destination: Destination) async throws(LinkError) -> Preparation {
        let trust = try await onWorker { HostTrust(destination: destination) }
        let agent = try await agentSocket(of: destination).map { AgentClient(path: $0, loop: resources.loop) }
        do {
            let credentials = try await credentials(of: destination, agent)
            return Preparation(trust: trust, credentials: credentials, agent: agent)
        } catch {
            agent?.close()
            throw error
        }
    }

    func agentSocket(of destination: Destination) async throws(LinkError) -> String? {
        switch destination.agent {
        case .none: nil
        case .socket(let path): path
        case .usual: try await AgentLocator(settings: settings).locate()
        }
    }

    private func credentials(
        of destination: Destination, _ agent: AgentClient?
    ) async throws(LinkError) -> Credentials {
        let unlocked = resources.unlockedKeys
        let (files, certificates) = try await onWorker {
            let files = destination.identities.map { identity in
                let file =
                    identity.problem == nil ? KeyFile.read(identity.path, unlocked: unlocked) : .missing
                return (identity: identity, file: file)
            }
            let paths = files.filter { $0.file.publicKey != nil }.map(\.identity.path)
            let certificates =
                destination.certificateFiles.filter(KeyFile.isCertificate)
                + paths.filter(KeyFile.hasCertificate)
            return (files, certificates)
        }
        return Credentials(
            files: files, agent: try await answer(of: agent), isLimited: destination.isLimitedToIdentities,
            certificates: certificates)
    }

    private func answer(of agent: AgentClient?) async throws(LinkError) -> Credentials.Agent {
        guard let agent else { return .absent }
        do {
            let deadline = ContinuousClock.now + settings.timeouts.authentication
            return .identities(try await agent.identities(until: deadline), path: agent.path)
        } catch {
            switch error {
            case .cancelled: throw .cancelled
            case .unreachable(let detail): return .failed(path: agent.path, detail: detail)
            case .malformed: return .failed(path: agent.path, detail: "its answer makes no sense")
            case .deadline: return .failed(path: agent.path, detail: "it does not answer")
            }
        }
    }

    /// Runs what touches files on a worker; a file system that hangs is a step that timed out.
    func onWorker<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async throws(LinkError) -> Value {
        try await resources.blocking.result(within: settings.timeouts.resolve, body)
    }
}

extension LinkError {
    /// A refusal becomes a reason for the ssh program, where that has keys that were not tried.
    fileprivate func orOpenSSH(_ remaining: String?) -> LinkError {
        guard let remaining else { return self }
        return switch self {
        case .authenticationRefused, .userRefused, .tooManyKeys: .needsOpenSSH(detail: remaining)
        default: self
        }
    }
}
