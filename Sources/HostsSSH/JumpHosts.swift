import HostsModel

/// The jump hosts that are in use: hosts behind the same one share its session.
///
/// Who comes while it logs in waits for the same login and shares its failure, so that one jump host that is
/// down is dialled once and not once for each host behind it.
actor JumpHosts {
    /// A failed login answers whoever comes within this time, unless a person has to act.
    private static let failureAge: Duration = .seconds(1)

    private struct Entry {
        var hosts: [JumpHost] = []
        var isLoggingIn = false
        var logins = 0
        var failure: (login: Int, error: LinkError, at: ContinuousClock.Instant)?
        var waiters: [LoopSignal] = []
    }

    typealias LogIn = @Sendable () async throws(LinkError) -> SSHSession

    /// Keeps a jump host's session for somebody who will open a tunnel.
    final class Reservation: Sendable {
        private let host: JumpHost
        private let loop: EventLoop

        fileprivate init(host: JumpHost, loop: EventLoop) {
            self.host = host
            self.loop = loop
        }

        deinit {
            let host = host
            loop.execute { host.release() }
        }
    }

    private nonisolated let loop: EventLoop
    private var entries: [[Destination]: Entry] = [:]

    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe loop.asUnownedSerialExecutor() }

    init(loop: EventLoop) {
        self.loop = loop
    }

    /// How many sessions there are.
    var count: Int { entries.values.reduce(0) { $0 + $1.hosts.count } }

    /// Sees to it that there is a session to the last host of `chain`, and keeps it for the caller.
    ///
    /// - Parameters:
    ///   - chain: The hosts on the way, in the order in which they are reached.
    ///   - logIn: Makes a session to the last of them.
    /// - Returns: Holds the session until it is released.
    /// - Throws: `.jumpHost` with the name of the host that failed.
    func reserve(_ chain: [Destination], logIn: @escaping LogIn) async throws(LinkError) -> Reservation {
        let name = Self.name(chain)
        do {
            let host = try await ready(chain, name, until: nil, timeout: .zero, logIn) { $0.reserve() }
            return Reservation(host: host, loop: loop)
        } catch {
            throw error.by(name)
        }
    }

    /// Opens a tunnel through the last host of `chain`, over whichever of its sessions is free to.
    ///
    /// - Parameters:
    ///   - destination: Behind it.
    ///   - chain: As it was reserved.
    ///   - timeout: For the opening, and for waiting until it can begin; a login has deadlines of its own.
    ///   - logIn: Makes another session where the others are held up.
    /// - Returns: A carrier to `destination`.
    /// - Throws: `.jumpHost` with the name of the host that failed.
    func carrier(
        to destination: Destination, by chain: [Destination], timeout: Duration, logIn: @escaping LogIn
    ) async throws(LinkError) -> Carrier {
        let name = Self.name(chain)
        do {
            let host = try await ready(
                chain, name, until: ContinuousClock.now + timeout, timeout: timeout, logIn
            ) { $0.claim() }
            return try await host.tunnel(to: destination, timeout: timeout)
        } catch {
            throw error.by(name)
        }
    }

    private static func name(_ chain: [Destination]) -> String {
        guard let last = chain.last else { preconditionFailure("a chain has a jump host") }
        return last.name
    }

    /// A session that can open a tunnel now, taken before anybody else can.
    private func ready(
        _ chain: [Destination], _ name: String, until deadline: ContinuousClock.Instant?, timeout: Duration,
        _ logIn: LogIn, _ take: @Sendable (JumpHost) -> Void
    ) async throws(LinkError) -> JumpHost {
        let joined = entries[chain]?.logins ?? 0
        let arrival = ContinuousClock.now
        while true {
            let now = ContinuousClock.now
            dropEnded(chain)
            let entry = entries[chain] ?? Entry()
            if let failure = entry.failure, counts(failure, joined: joined, arrival: arrival) {
                throw failure.error
            }
            let choice = JumpHostChoice(
                sessions: entry.hosts.map(\.openingSince),
                isLoggingIn: entry.isLoggingIn)
            switch choice.next(now: now) {
            case .use(let index):
                take(entry.hosts[index])
                return entry.hosts[index]
            case .logIn: try await makeSession(chain, name, logIn)
            case .wait(let until):
                let signal = LoopSignal(on: loop)
                entries[chain, default: Entry()].waiters.append(signal)
                // A login has its own deadlines, and whoever makes it tells when it is over.
                let limit = deadline ?? now.advanced(by: .seconds(3600))
                let wake = await signal.wait(until: min(limit, until ?? limit))
                entries[chain]?.waiters.removeAll { $0 === signal }
                switch wake {
                case .raised: continue
                case .cancelled: throw .cancelled
                case .deadline:
                    if ContinuousClock.now >= limit { throw .timedOut(.connect, after: timeout) }
                }
            }
        }
    }

    /// A failure counts for who waited for that very login, and for who comes a moment later.
    private func counts(
        _ failure: (login: Int, error: LinkError, at: ContinuousClock.Instant), joined: Int,
        arrival: ContinuousClock.Instant
    ) -> Bool {
        if failure.at >= arrival { return failure.login >= joined }
        guard case .retry = failure.error.disposition else { return false }
        return arrival - failure.at < Self.failureAge
    }

    private func makeSession(
        _ chain: [Destination], _ name: String, _ logIn: LogIn
    ) async throws(LinkError) {
        entries[chain, default: Entry()].isLoggingIn = true
        entries[chain]?.logins += 1
        let login = entries[chain]?.logins ?? 0
        defer {
            entries[chain]?.isLoggingIn = false
            wake(chain)
        }
        do {
            let session = try await logIn()
            let host = JumpHost(name: name, way: chain.map(\.name).joined(separator: ", "), session: session)
            { [weak self] in
                guard let self else { return }
                assumeIsolated { $0.wake(chain) }
            }
            host.start()
            entries[chain]?.hosts.append(host)
            entries[chain]?.failure = nil
        } catch {
            // Whoever waits makes his own attempt when the one who made this one was called off.
            if error != .cancelled { entries[chain]?.failure = (login, error, .now) }
            throw error
        }
    }

    private func dropEnded(_ chain: [Destination]) {
        entries[chain]?.hosts.removeAll { !$0.isOpen }
    }

    /// Something has changed for those who wait.
    private func wake(_ chain: [Destination]) {
        dropEnded(chain)
        guard let entry = entries[chain] else { return }
        for waiter in entry.waiters { waiter.raise() }
        if entry.hosts.isEmpty, !entry.isLoggingIn, entry.waiters.isEmpty, entry.failure == nil {
            entries[chain] = nil
        }
    }
}

extension LinkError {
    /// The error as one of a jump host; an error of a host before it keeps that one's name, and our own doing is
    /// nobody's fault.
    fileprivate func by(_ name: String) -> LinkError {
        switch self {
        case .jumpHost: self
        case _ where disposition == .ours: self
        default: .jumpHost(name: name, self)
        }
    }
}
