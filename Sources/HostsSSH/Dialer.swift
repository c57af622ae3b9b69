import Glibc
import HostsModel
import HostsPOSIX

/// Makes one TCP connection, on the event loop.
actor Dialer {
    private nonisolated let loop: EventLoop
    private let pool: WorkerPool

    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe loop.asUnownedSerialExecutor() }

    init(loop: EventLoop, pool: WorkerPool) {
        self.loop = loop
        self.pool = pool
    }

    /// Looks the name up, on every call anew, and races its addresses.
    ///
    /// - Throws: The most useful answer; a socket that is not handed over is closed.
    func connect(to destination: Destination, timeout: Duration) async throws(LinkError) -> Carrier {
        let deadline = ContinuousClock.now + timeout
        let addresses = try await addresses(of: destination, until: deadline, timeout: timeout)
        let source = try await bindAddress(of: destination, until: deadline, timeout: timeout)
        // An address to bind to says which family is meant.
        let usable = addresses.filter { source == nil || $0.family == source?.family }
        guard !usable.isEmpty else {
            throw .nameNotFound(
                name: destination.host,
                detail: addresses.isEmpty ? "no address" : "no address of BindAddress's family")
        }
        return try await race(
            ConnectionRace.interleaved(usable, family: \.family), from: source, until: deadline,
            timeout: timeout)
    }

    /// Tries the addresses in order, each a moment after the one before it; the first that connects wins.
    func race(
        _ addresses: [SocketAddress], from source: SocketAddress?, until deadline: ContinuousClock.Instant,
        timeout: Duration
    ) async throws(LinkError) -> Carrier {
        var race = ConnectionRace(addresses: addresses.count)
        let signal = LoopSignal(on: loop)
        var attempts: [ConnectionAttempt] = []
        defer { for attempt in attempts { attempt.close() } }
        while true {
            for attempt in attempts where attempt.isReady {
                switch attempt.outcome() {
                case .pending: break
                case .connected(let socket):
                    return Carrier(
                        socket: SocketDescriptor(owning: socket), address: attempt.address.text, conduit: nil)
                case .failed(let error):
                    attempts.removeAll { $0 === attempt }
                    race.failed(error)
                }
            }
            switch race.next(now: .now) {
            case .start(let index):
                do throws(LinkError) {
                    let attempt = try ConnectionAttempt(
                        to: addresses[index], from: source, loop: loop, timeout: timeout, signal: signal)
                    attempts.append(attempt)
                } catch {
                    race.failed(error)
                }
            case .fail(let error): throw error
            case .wait(let instant):
                switch await signal.wait(until: min(deadline, instant ?? deadline)) {
                case .raised: break
                case .cancelled: throw .cancelled
                case .deadline:
                    if ContinuousClock.now >= deadline { throw .timedOut(.connect, after: timeout) }
                }
            }
        }
    }

    private func addresses(
        of destination: Destination, until deadline: ContinuousClock.Instant, timeout: Duration
    ) async throws(LinkError) -> [SocketAddress] {
        let (host, port, family) = (destination.host, destination.port, destination.addressFamily)
        let lookup = await pool.result(on: loop, until: deadline) {
            NameLookup.addresses(of: host, port: port, family: family)
        }
        return try Self.lookedUp(lookup, host, timeout)
    }

    private func bindAddress(
        of destination: Destination, until deadline: ContinuousClock.Instant, timeout: Duration
    ) async throws(LinkError) -> SocketAddress? {
        guard let host = destination.bindAddress else { return nil }
        let family = destination.addressFamily
        let lookup = await pool.result(on: loop, until: deadline) {
            NameLookup.addresses(of: host, port: 0, family: family)
        }
        return try Self.lookedUp(lookup, host, timeout).first
    }

    private static func lookedUp(
        _ lookup: Result<Result<[SocketAddress], NameLookup.Failure>, WorkerPool.Interruption>,
        _ host: String,
        _ timeout: Duration
    ) throws(LinkError) -> [SocketAddress] {
        switch lookup {
        case .success(.success(let addresses)): return addresses
        case .success(.failure(let failure)): throw .nameNotFound(name: host, detail: failure.detail)
        case .failure(.deadline): throw .timedOut(.resolve, after: timeout)
        case .failure(.cancelled): throw .cancelled
        case .failure(.exhausted): throw .nameNotFound(name: host, detail: "too many look-ups are waiting")
        }
    }
}
