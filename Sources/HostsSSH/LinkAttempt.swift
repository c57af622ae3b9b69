import HostsLog
import HostsModel

/// One attempt to reach one host, step by step on the event loop.
actor LinkAttempt {
    private nonisolated let loop: EventLoop
    private let record: HostRecord
    private let token: Int
    private let pool: WorkerPool
    private let settings: LinkSettings
    private let program: ShellProgram
    private let log: Log

    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe loop.asUnownedSerialExecutor() }

    init(
        record: HostRecord, token: Int, loop: EventLoop, pool: WorkerPool, settings: LinkSettings,
        program: ShellProgram, log: Log
    ) {
        self.record = record
        self.token = token
        self.loop = loop
        self.pool = pool
        self.settings = settings
        self.program = program
        self.log = log
    }

    /// A link to this machine.
    func openLocal() async throws(LinkError) -> LocalLink {
        let link = LocalLink(token: token, program: program, loop: loop)
        do {
            try await link.open(environment: settings.environment, timeout: settings.timeouts.shell)
        } catch {
            link.close(error)
            throw error
        }
        return link
    }

    /// A link over libssh2.
    ///
    /// Nothing is dialled before there is a key to offer.
    func openSSH() async throws(LinkError) -> SSHLink {
        let started = ContinuousClock.now
        let resolver = DestinationResolver(settings: settings)
        let destination = try await resolver.resolve(record.destination)
        log.debug(
            "ssh.resolved", "\(record.destination) is \(destination.user)@\(destination.address)",
            .host(record.id),
            .token(token), .took(.now - started))
        if destination.route != .direct {
            throw .unsupported(
                detail: "\(record.destination) is not reached directly, which hostsd cannot do yet")
        }
        let trust = try await onWorker { HostTrust(destination: destination) }
        let agent = destination.agentSocket.map { AgentClient(path: $0, loop: loop) }
        defer { agent?.close() }
        let credentials = try await credentials(of: destination, agent)
        guard !credentials.candidates.isEmpty else { throw credentials.nothingToOffer }
        let dialled = ContinuousClock.now
        let timeout = destination.connectTimeout ?? settings.timeouts.connect
        let carrier = try await Dialer(loop: loop, pool: pool).connect(to: destination, timeout: timeout)
        log.debug(
            "ssh.connected", "connected to \(carrier.address)", .host(record.id), .token(token),
            .took(.now - dialled))
        return try await logIn(carrier, destination, trust, credentials, agent)
    }

    private func logIn(
        _ carrier: consuming Carrier, _ destination: Destination, _ trust: HostTrust,
        _ credentials: Credentials, _ agent: AgentClient?
    ) async throws(LinkError) -> SSHLink {
        let started = ContinuousClock.now
        let session = try SSHSession(carrier: carrier, destination: destination, loop: loop)
        do {
            let label = try await session.logIn(
                trust: trust, credentials: credentials, agent: agent, timeouts: settings.timeouts)
            let link = SSHLink(
                session: session, detail: "\(destination.user)@\(session.address), key \(label)",
                token: token, program: program, probeMode: settings.probeMode)
            try await link.open(settings.timeouts.shell)
            log.debug(
                "ssh.opened", "\(link.summary.detail)", .host(record.id), .token(token),
                .took(.now - started), .text("mode", link.summary.mode.rawValue))
            return link
        } catch {
            session.finish(error)
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
    private func onWorker<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async throws(LinkError)
        -> Value
    {
        let timeout = settings.timeouts.resolve
        switch await pool.result(on: loop, until: .now + timeout, body) {
        case .success(let value): return value
        case .failure(.cancelled): throw .cancelled
        case .failure(.deadline), .failure(.exhausted): throw .timedOut(.resolve, after: timeout)
        }
    }
}
