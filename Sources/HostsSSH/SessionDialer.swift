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
        let destination = Self.target(chain)
        let preparation = try await prepare(destination)
        defer { preparation.agent?.close() }
        guard !preparation.credentials.candidates.isEmpty else {
            throw preparation.credentials.nothingToOffer
        }
        let (session, pass) = try await connect(to: chain)
        defer { pass.leave() }
        let started = ContinuousClock.now
        do {
            let label = try await session.logIn(
                trust: preparation.trust, credentials: preparation.credentials, agent: preparation.agent,
                timeouts: settings.timeouts)
            report(
                "ssh.authenticated", "\(destination.user)@\(session.address), key \(label)", .now - started)
            return Login(session: session, keyLabel: label)
        } catch {
            session.finish(error)
            throw error
        }
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
                command: command, environment: settings.environment, loop: resources.loop)
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
        let agent = destination.agentSocket.map { AgentClient(path: $0, loop: resources.loop) }
        do {
            let credentials = try await credentials(of: destination, agent)
            return Preparation(trust: trust, credentials: credentials, agent: agent)
        } catch {
            agent?.close()
            throw error
        }
    }

    private func credentials(
        of destination: Destination, _ agent: AgentClient?
    ) async throws(LinkError) -> Credentials {
        let identities = destination.identities
        let files = try await onWorker {
            identities.map { (identity: $0, file: $0.problem == nil ? KeyFile.read($0.path) : .missing) }
        }
        return Credentials(
            files: files, agent: try await answer(of: agent), isLimited: destination.isLimitedToIdentities)
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
    func onWorker<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async throws(LinkError)
        -> Value
    {
        let timeout = settings.timeouts.resolve
        switch await resources.pool.result(on: resources.loop, until: .now + timeout, body) {
        case .success(let value): return value
        case .failure(.cancelled): throw .cancelled
        case .failure(.deadline), .failure(.exhausted): throw .timedOut(.resolve, after: timeout)
        }
    }
}
