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

    /// A link over libssh2.
    func openSSH() async throws(LinkError) -> SSHLink {
        let started = ContinuousClock.now
        let chain = try await DestinationResolver(settings: settings, resources: resources).chain(of: record.destination)
        report("ssh.resolved", "\(record.destination) is \(Self.way(chain))", .now - started)
        let dialer = SessionDialer(
            resources: resources, settings: settings, mayUseOpenSSH: false,
            report: { [self] in report($0, $1, $2) })
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

    private static func way(_ chain: [Destination]) -> String {
        chain.reversed().map { "\($0.user)@\($0.address)" }.joined(separator: " by way of ")
    }

    private nonisolated func report(_ event: StaticString, _ text: String, _ took: Duration) {
        log.debug(event, text, .host(record.id), .token(token), .took(took))
    }
}
