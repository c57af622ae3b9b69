import CLinux
import Glibc
import HostsModel
import HostsPOSIX

/// One socket that is being connected; touched on the event loop only.
final class ConnectionAttempt: @unchecked Sendable {
    enum Outcome {
        case pending
        /// The descriptor, which is now the caller's.
        case connected(Int32)
        case failed(LinkError)
    }

    let address: SocketAddress
    // Guarded by the event loop's thread.
    private(set) var isReady: Bool
    private var socket: SocketDescriptor?
    private var registration: EventLoop.Registration?
    private let loop: EventLoop
    private let timeout: Duration

    /// Begins to connect.
    ///
    /// - Parameters:
    ///   - address: Where to.
    ///   - source: The address to bind to, of the same family.
    ///   - loop: Watches the socket.
    ///   - timeout: Of the whole race, for the message.
    ///   - signal: Raised when there may be an outcome.
    /// - Throws: What the system refuses at once.
    init(
        to address: SocketAddress, from source: SocketAddress?, loop: EventLoop, timeout: Duration,
        signal: LoopSignal
    ) throws(LinkError) {
        self.address = address
        self.loop = loop
        self.timeout = timeout
        guard let made = SocketDescriptor(family: address.family) else {
            throw .unreachable(address: address.text, detail: SystemError.text(errno))
        }
        let raw = made.raw
        // A probe is one small packet each way: waiting to fill a segment would only cost time.
        var on: Int32 = 1
        _ = unsafe setsockopt(raw, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
        if let source {
            let code = source.bind(raw)
            guard code == 0 else {
                throw .unreachable(address: address.text, detail: "BindAddress: " + SystemError.text(code))
            }
        }
        let code = address.connect(raw)
        isReady = code == 0
        guard code == 0 || code == EINPROGRESS else {
            throw Self.error(code, address, timeout)
        }
        socket = consume made
        guard !isReady else { return }
        registration = loop.register(raw, for: [.write]) { [weak self] _ in
            self?.isReady = true
            signal.raise()
        }
        guard registration != nil else {
            throw .unreachable(address: address.text, detail: "no room to watch it")
        }
    }

    /// How it stands; the socket is given away at most once.
    func outcome() -> Outcome {
        guard isReady, let code = socket?.pendingError() else { return .pending }
        guard code == 0 else {
            close()
            return .failed(Self.error(code, address, timeout))
        }
        stopWatching()
        guard let taken = socket.take() else { return .pending }
        return .connected(taken.take())
    }

    /// Ends it, unless its socket was given away.
    func close() {
        stopWatching()
        socket = nil
    }

    private func stopWatching() {
        if let registration { loop.deregister(registration) }
        registration = nil
    }

    private static func error(_ code: Int32, _ address: SocketAddress, _ timeout: Duration) -> LinkError {
        switch code {
        case ECONNREFUSED: .connectionRefused(address: address.text)
        case ETIMEDOUT: .timedOut(.connect, after: timeout)
        default: .unreachable(address: address.text, detail: SystemError.text(code))
        }
    }
}
