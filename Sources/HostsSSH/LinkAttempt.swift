import HostsLog
import HostsModel

/// One attempt to reach one host, step by step on the event loop.
actor LinkAttempt {
    private nonisolated let resources: LinkResources
    private let record: HostRecord
    private let token: Int
    private let settings: LinkSettings
    private let program: ShellProgram
    private let log: Log

    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe resources.loop.asUnownedSerialExecutor() }

    init(
        record: HostRecord, token: Int, resources: LinkResources, settings: LinkSettings,
        program: ShellProgram, log: Log
    ) {
        self.record = record
        self.token = token
        self.resources = resources
        self.settings = settings
        self.program = program
        self.log = log
    }

    /// A link to this machine.
    func openLocal() async throws(LinkError) -> LocalLink {
        let link = LocalLink(token: token, program: program, loop: resources.loop)
        do {
            try await link.open(environment: settings.environment, timeout: settings.timeouts.shell)
        } catch {
            link.close(error)
            throw error
        }
        return link
    }

    /// A link by the transport that the record names, or that serves the host.
    func openRemote() async throws(LinkError) -> any ProbeLink {
        let started = ContinuousClock.now
        let chain = try await DestinationResolver(settings: settings, resources: resources).chain(
            of: record.destination)
        report("ssh.resolved", "\(record.destination) is \(Self.way(chain))", .now - started)
        switch record.transport {
        case .openssh: return try await openProgram(chain, reason: nil)
        case .libssh2: return try await openSession(chain)
        case .auto: return try await openEither(chain)
        case .local: preconditionFailure("a local link has no destination")
        }
    }

    private func openEither(_ chain: [Destination]) async throws(LinkError) -> any ProbeLink {
        if let known = resources.opensshReasons.withLock({ $0[chain] }) {
            return try await openProgram(chain, reason: known)
        }
        do {
            return try await openSession(chain)
        } catch {
            let choice = try await choice(for: error, chain)
            guard let reason = choice.reason(for: error) else { throw error }
            report("ssh.fallback", "the ssh program is tried: \(reason)", .zero)
            let link = try await openProgram(chain, reason: reason)
            if TransportChoice.isLasting(error) { remember(chain, reason) }
            return link
        }
    }

    private func remember(_ chain: [Destination], _ reason: String) {
        resources.opensshReasons.withLock { reasons in
            // One for each host, unless ssh_config is edited again and again.
            if reasons.count >= Self.rememberedLimit { reasons = [:] }
            reasons[chain] = reason
        }
    }

    private static let rememberedLimit = 4096

    private func choice(
        for error: LinkError, _ chain: [Destination]
    ) async throws(LinkError) -> TransportChoice {
        // Errors that nothing outside can change need no look at it.
        let open = TransportChoice(hasSharedConnection: true, hasTicket: true)
        guard open.reason(for: error) != nil, let target = chain.last else { return TransportChoice() }
        let environment = settings.environment
        return try await dialer.onWorker {
            TransportChoice(
                hasSharedConnection: target.controlPath.map(SharedConnection.isThere) ?? false,
                hasTicket: target.allowsGSSAPI && KerberosTicket.isThere(environment))
        }
    }

    /// A link over the ssh program.
    private func openProgram(_ chain: [Destination], reason: String?) async throws(LinkError) -> OpenSSHLink {
        guard let target = chain.last, let first = chain.first else {
            preconditionFailure("a chain ends with its destination")
        }
        // ssh logs in to each host on the way by itself; the first is the one that sees all of them.
        let pass = try await resources.gate.enter(first.address)
        defer { pass.leave() }
        let started = ContinuousClock.now
        let shell = try OpenSSHShell(
            target: OpenSSHTarget(target), settings: settings,
            agentSocket: try await dialer.agentSocket(of: target))
        let link = OpenSSHLink(shell, reason: reason, token: token, program: program, loop: resources.loop)
        do {
            try await link.open(shell, timeout: shell.timeout)
        } catch {
            link.close(error)
            throw error
        }
        report("ssh.opened", "\(link.summary.detail), over the ssh program", .now - started)
        return link
    }

    /// A link over libssh2.
    private func openSession(_ chain: [Destination]) async throws(LinkError) -> SSHLink {
        let login = try await dialer.logIn(to: chain)
        let opened = ContinuousClock.now
        let link = SSHLink(
            session: login.session,
            detail: "\(login.session.destination.user)@\(login.session.address), key \(login.keyLabel)",
            token: token, program: program, probeMode: settings.probeMode)
        do {
            try await link.open(settings.timeouts.shell)
        } catch {
            login.session.finish(error)
            throw error
        }
        report("ssh.opened", "\(link.summary.detail), \(link.summary.mode.rawValue)", .now - opened)
        return link
    }

    private nonisolated var dialer: SessionDialer {
        SessionDialer(
            resources: resources, settings: settings, mayUseOpenSSH: record.transport == .auto,
            report: { [self] in report($0, $1, $2) }, warn: { [self] in warn($0, $1) })
    }

    private nonisolated func warn(_ event: StaticString, _ text: String) {
        log.warning(event, text, .host(record.id), .token(token))
    }

    private static func way(_ chain: [Destination]) -> String {
        chain.reversed().map { "\($0.user)@\($0.address)" }.joined(separator: " by way of ")
    }

    private nonisolated func report(_ event: StaticString, _ text: String, _ took: Duration) {
        log.debug(event, text, .host(record.id), .token(token), .took(took))
    }
}
