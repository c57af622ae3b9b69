import HostsModel
import HostsPOSIX

/// A host on the way to others: one session, and a tunnel for each session behind it.
///
/// It ends with its last tunnel, so that a host that is disabled leaves no connection behind. Touched on the
/// event loop only.
final class JumpHost: @unchecked Sendable {
    // Guarded by the event loop's thread.

    /// Most bytes that wait for its socket before no more is taken from the tunnels; well below what ends a
    /// session (`HOSTS_SSH_SEND_LIMIT`).
    private static let backlogLimit = 64 * 1024
    private static let chunkSize = 16 * 1024
    /// A jump host that says nothing for so long after it was given bytes is as silent as the host behind it.
    private static let silenceLimit: Duration = .seconds(2)

    /// A tunnel that is being opened.
    private struct Opening {
        let host: String
        let port: UInt16
        let signal: LoopSignal
        var result: Attempt<SSHSessionHandle.Tunnel> = .wouldBlock
        /// Nobody waits for it any more; libssh2 has to finish it all the same.
        var isAbandoned = false
    }

    let name: String
    /// It and the jump hosts before it, for people.
    private let way: String
    private let session: SSHSession
    private let loop: EventLoop
    /// Called when a tunnel can be opened again, or never more.
    private let onChange: @Sendable () -> Void
    private var tunnels: [ObjectIdentifier: JumpTunnel] = [:]
    private var closing: [SSHSessionHandle.Tunnel] = []
    private var opening: Opening?
    /// Since when a tunnel is being opened.
    private(set) var openingSince: ContinuousClock.Instant?
    /// Callers that will open a tunnel.
    private var reservations = 0
    private var buffer: [UInt8] = []

    /// Takes over a session that is logged in.
    init(name: String, way: String, session: SSHSession, onChange: @escaping @Sendable () -> Void) {
        self.name = name
        self.way = way
        self.session = session
        self.onChange = onChange
        loop = session.loop
    }

    /// Begins to serve; called once.
    func start() {
        session.onReady = { [weak self] in self?.pump() }
    }

    /// Whether it lives.
    var isOpen: Bool { session.endingError == nil }

    /// Keeps it alive for a caller who will open a tunnel, until `release`.
    func reserve() { reservations += 1 }

    func release() {
        reservations -= 1
        endIfUnused()
    }

    // MARK: Opening

    /// Keeps others from opening a tunnel: the caller does, at once.
    func claim() {
        precondition(
            openingSince == nil, "one tunnel at a time is opened: who chose this jump host saw to it")
        openingSince = .now
    }

    /// Opens a tunnel to a port behind this host, after `claim`; one at a time (libssh2#671).
    ///
    /// - Parameters:
    ///   - destination: Looked up by the jump host.
    ///   - timeout: For its answer, for which it may have to wait for the other end.
    /// - Returns: A carrier whose end closes the tunnel.
    /// - Throws: What the jump host says.
    func tunnel(to destination: Destination, timeout: Duration) async throws(LinkError) -> Carrier {
        if let error = session.endingError { throw error }
        precondition(
            openingSince != nil && opening == nil, "whoever opens a tunnel has claimed the jump host")
        let signal = LoopSignal(on: loop)
        opening = Opening(host: destination.host, port: destination.port, signal: signal)
        pump()
        let deadline = ContinuousClock.now + timeout
        while true {
            if let error = session.endingError { throw error }
            switch opening?.result {
            case .complete(let channel):
                finishOpening()
                return try carrier(channel, destination)
            case .failed(let failure):
                finishOpening()
                endIfUnused()
                throw refusal(failure, destination.address)
            case .wouldBlock, nil: break
            }
            switch await signal.wait(until: deadline) {
            case .raised: continue
            case .deadline:
                abandonOpening()
                throw .timedOut(.connect, after: timeout)
            case .cancelled:
                abandonOpening()
                throw .cancelled
            }
        }
    }

    private func finishOpening() {
        opening = nil
        openingSince = nil
        onChange()
    }

    private func abandonOpening() {
        opening?.isAbandoned = true
        // It may have been answered in this very moment.
        pump()
        endIfUnused()
    }

    private func stepOpening() {
        guard let current = opening, case .wouldBlock = current.result else { return }
        let result = session.handle.openTunnel(current.host, current.port)
        if case .wouldBlock = result { return }
        guard current.isAbandoned else {
            opening?.result = result
            return current.signal.raise()
        }
        if case .complete(let channel) = result { closing.append(channel) }
        finishOpening()
    }

    private func carrier(
        _ channel: SSHSessionHandle.Tunnel, _ destination: Destination
    ) throws(LinkError) -> Carrier {
        let address = "\(destination.address) by way of \(way)"
        guard let pair = SocketDescriptor.pair() else {
            closing.append(channel)
            pump()
            throw .unreachable(address: address, detail: "no descriptor is left for a tunnel")
        }
        let sockets = consume pair
        let tunnel = JumpTunnel(
            channel: channel, socket: sockets.second, loop: loop,
            // Whoever has a tunnel keeps the jump host, until the tunnel ends.
            onReady: { self.pump() }, onClose: { self.closed($0) })
        tunnels[ObjectIdentifier(tunnel)] = tunnel
        guard tunnel.isWatched else {
            closed(tunnel)
            throw .unreachable(address: address, detail: "no room to watch a tunnel")
        }
        pump()
        return Carrier(socket: sockets.first, address: address, conduit: tunnel)
    }

    /// RFC 4254 section 5.1: the server's reasons; libssh2 puts them into words (1.10.0, channel.c).
    private func refusal(_ failure: FailureClassifier.Failure, _ address: String) -> LinkError {
        guard failure.code == FailureClassifier.Code.channelFailure else {
            return session.error(.connect, failure)
        }
        if failure.text.contains("administratively prohibited") {
            return .unsupported(detail: "it forwards nothing to \(address) (AllowTcpForwarding, PermitOpen)")
        }
        return .unreachable(address: address, detail: "\(name) cannot connect there")
    }

    // MARK: Moving

    private func pump() {
        guard session.endingError == nil else { return }
        if buffer.isEmpty { buffer = [UInt8](repeating: 0, count: Self.chunkSize) }
        stepOpening()
        for tunnel in Array(tunnels.values) {
            switch tunnel.move(session.handle, backlogLimit: Self.backlogLimit, &buffer) {
            case .waiting: break
            case .ended:
                tunnel.end("")
                closed(tunnel)
            case .failed(let failure): return end(session.error(.probe, failure))
            }
        }
        closing.removeAll { channel in
            if case .wouldBlock = session.handle.closeTunnel(channel) { return false }
            return true
        }
        session.flushQueue()
        if session.hasPeerEnded { return end(session.ended(.probe)) }
        endIfUnused()
    }

    private func closed(_ tunnel: JumpTunnel) {
        guard tunnels.removeValue(forKey: ObjectIdentifier(tunnel)) != nil else { return }
        if let lastSent = tunnel.lastSent, lastSent > session.lastHeard,
            ContinuousClock.now - lastSent >= Self.silenceLimit
        {
            return end(.closedByPeer(.probe, detail: "it says nothing any more"))
        }
        closing.append(tunnel.channel)
        loop.execute { [weak self] in self?.pump() }
    }

    private func endIfUnused() {
        guard tunnels.isEmpty, reservations == 0, opening.map(\.isAbandoned) ?? true else { return }
        end(.cancelled)
    }

    private func end(_ error: LinkError) {
        guard session.endingError == nil else { return }
        session.finish(error)
        let ended = tunnels.values
        tunnels = [:]
        closing = []
        buffer = []
        for tunnel in ended { tunnel.end("jump host \(name): \(error.message)") }
        opening?.signal.raise()
        onChange()
    }
}
