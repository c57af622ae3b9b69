import HostsModel

/// One tunnel of a jump host: a channel on one side, a socket on the other, and what is between them.
///
/// Touched on the event loop only.
final class JumpTunnel: Conduit, @unchecked Sendable {
    // Guarded by the event loop's thread.
    let channel: SSHSessionHandle.Tunnel
    /// Bytes of the channel that the socket has not taken yet.
    private(set) var inbound: ArraySlice<UInt8> = []
    /// Bytes of the socket that the channel has not taken yet.
    private(set) var outbound: ArraySlice<UInt8> = []
    /// When bytes were last given to the channel.
    private(set) var lastSent: ContinuousClock.Instant?
    /// Why it ended, where the jump host knows.
    private var lastWords = ""
    private var socket: SocketDescriptor?
    private let loop: EventLoop
    private var onClose: (@Sendable (JumpTunnel) -> Void)?
    private var registration: EventLoop.Registration?
    private var interest: Readiness = []

    /// What came of moving bytes.
    enum Progress {
        /// Nothing more can be moved at present.
        case waiting
        /// The host behind it, or the session, has closed it.
        case ended
        /// The whole session has failed.
        case failed(FailureClassifier.Failure)
    }

    /// Takes over a channel and one end of a socket pair.
    ///
    /// - Parameters:
    ///   - channel: Closed by the jump host.
    ///   - socket: The other end is the session's.
    ///   - loop: Watches the socket.
    ///   - onReady: Called when the socket can move bytes again.
    ///   - onClose: Called once, when the session gives the tunnel up.
    init(
        channel: SSHSessionHandle.Tunnel, socket: consuming SocketDescriptor, loop: EventLoop,
        onReady: @escaping @Sendable () -> Void, onClose: @escaping @Sendable (JumpTunnel) -> Void
    ) {
        self.channel = channel
        let descriptor = socket.raw
        self.socket = consume socket
        self.loop = loop
        self.onClose = onClose
        registration = loop.register(descriptor, for: []) { _ in onReady() }
    }

    /// Whether its socket is watched; without it nothing would ever move.
    var isWatched: Bool { registration != nil }

    func close() {
        guard let onClose else { return }
        end("")
        onClose(self)
    }

    func untilEnded() async {}

    func ending(_ stage: LinkError.Stage) -> LinkError? {
        lastWords.isEmpty ? nil : .closedByPeer(stage, detail: lastWords)
    }

    /// Lets the session see the end of its carrier.
    func end(_ words: String) {
        lastWords = words
        if let registration { loop.deregister(registration) }
        registration = nil
        socket = nil
        onClose = nil
    }

    /// Moves what can be moved, both ways.
    ///
    /// - Parameters:
    ///   - handle: The jump host's session.
    ///   - backlogLimit: Most bytes that may wait for the session's socket.
    ///   - buffer: Room for one chunk.
    /// - Returns: What follows for the tunnel.
    func move(
        _ handle: borrowing SSHSessionHandle, backlogLimit: Int, _ buffer: inout [UInt8]
    ) -> Progress {
        let progress = moveInbound(handle, &buffer)
        guard case .waiting = progress else { return progress }
        let outcome = moveOutbound(handle, backlogLimit, &buffer)
        guard case .waiting = outcome else { return outcome }
        watch(isBacklogged: handle.backlog > backlogLimit)
        return .waiting
    }

    private func moveInbound(_ handle: borrowing SSHSessionHandle, _ buffer: inout [UInt8]) -> Progress {
        while true {
            while !inbound.isEmpty {
                switch socket?.send(inbound) ?? .ended {
                case .moved(let count): inbound = inbound.dropFirst(count)
                case .wouldBlock: return .waiting
                case .ended, .failed: return .ended
                }
            }
            switch handle.read(channel, into: &buffer) {
            case .complete(.bytes(let count)): inbound = buffer[..<count]
            case .complete(.end): return .ended
            case .wouldBlock:
                inbound = []
                return .waiting
            case .failed(let failure): return .failed(failure)
            }
        }
    }

    private func moveOutbound(
        _ handle: borrowing SSHSessionHandle, _ backlogLimit: Int, _ buffer: inout [UInt8]
    ) -> Progress {
        while handle.backlog <= backlogLimit {
            while !outbound.isEmpty {
                switch handle.write(outbound, to: channel) {
                case .complete(let count):
                    outbound = outbound.dropFirst(count)
                    lastSent = .now
                case .wouldBlock: return .waiting
                case .failed(let failure): return .failed(failure)
                }
            }
            switch socket?.receive(into: &buffer) ?? .ended {
            case .moved(let count): outbound = buffer[..<count]
            case .wouldBlock:
                outbound = []
                return .waiting
            case .ended, .failed: return .ended
            }
        }
        return .waiting
    }

    private func watch(isBacklogged: Bool) {
        var wanted: Readiness = outbound.isEmpty && !isBacklogged ? [.read] : []
        if !inbound.isEmpty { wanted.insert(.write) }
        guard let registration, wanted != interest else { return }
        interest = wanted
        loop.change(registration, to: wanted)
    }
}
