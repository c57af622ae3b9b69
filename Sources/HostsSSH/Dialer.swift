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

    /// Looks the name up and tries its addresses one after another, each with an equal share of the time that
    /// is left.
    ///
    /// - Throws: What the last address answered; a socket that is not handed over is closed.
    func connect(to destination: Destination, timeout: Duration) async throws(LinkError) -> Carrier {
        let deadline = ContinuousClock.now + timeout
        let addresses = try await addresses(of: destination, until: deadline, timeout: timeout)
        let source = try await bindAddress(of: destination, until: deadline, timeout: timeout)
        var failure = LinkError.nameNotFound(name: destination.host, detail: "no address")
        for (index, address) in addresses.enumerated() {
            let share = (deadline - ContinuousClock.now) / (addresses.count - index)
            do {
                let socket = try await connect(
                    to: address, from: source, until: .now + share, timeout: timeout)
                return Carrier(socket: socket, address: address.text, conduit: nil)
            } catch .cancelled {
                throw .cancelled
            } catch {
                failure = error
            }
        }
        throw failure
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

    private func connect(
        to address: SocketAddress, from source: SocketAddress?, until deadline: ContinuousClock.Instant,
        timeout: Duration
    ) async throws(LinkError) -> SocketDescriptor {
        guard let socket = SocketDescriptor(family: address.family) else {
            throw .unreachable(address: address.text, detail: SystemError.text(errno))
        }
        // A probe is one small packet each way: waiting to fill a segment would only cost time.
        var on: Int32 = 1
        _ = unsafe setsockopt(
            socket.raw, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
        if let source, source.family == address.family {
            let code = source.bind(socket.raw)
            guard code == 0 else {
                throw .unreachable(address: address.text, detail: "BindAddress: " + SystemError.text(code))
            }
        }
        var code = address.connect(socket.raw)
        if code == EINPROGRESS {
            try await waitForConnect(socket.raw, address, until: deadline, timeout: timeout)
            code = socket.pendingError()
        }
        switch code {
        case 0: return socket
        case ECONNREFUSED: throw .connectionRefused(address: address.text)
        case ETIMEDOUT: throw .timedOut(.connect, after: timeout)
        default: throw .unreachable(address: address.text, detail: SystemError.text(code))
        }
    }

    private func waitForConnect(
        _ descriptor: Int32, _ address: SocketAddress, until deadline: ContinuousClock.Instant,
        timeout: Duration
    ) async throws(LinkError) {
        let signal = LoopSignal(on: loop)
        guard let registration = loop.register(descriptor, for: [.write], { _ in signal.raise() }) else {
            throw .unreachable(address: address.text, detail: "no room to watch it")
        }
        let wake = await signal.wait(until: deadline)
        loop.deregister(registration)
        switch wake {
        case .raised: return
        case .deadline: throw .timedOut(.connect, after: timeout)
        case .cancelled: throw .cancelled
        }
    }
}
