import HostsModel

/// A libssh2 session over one carrier: the login, and the bytes that move while somebody waits for an answer.
///
/// Touched on the event loop only, by the one actor that owns it: a link, or a jump host. libssh2 is stepped by
/// whoever waits; while nobody does, the owner is told of each readiness, so that the server's own questions
/// (keepalive, rekey) are answered at once.
final class SSHSession: @unchecked Sendable {
    // Guarded by the event loop's thread.
    let loop: EventLoop
    let destination: Destination
    /// The address that was dialled.
    let address: String
    let handle: SSHSessionHandle
    let signal: LoopSignal
    /// What is offered in the negotiation.
    var preferences = MethodPreferences(knownTypes: [])
    /// What the server said in clear text, once the handshake is over.
    var hello: ServerHello?
    /// The key that the agent offered and did not sign with, in the present login.
    var agentRefusal: String?
    /// Whether one caller has the session for itself; the owner is then not told of readiness.
    var isBusy = false
    /// Called when the socket is ready and nobody has the session for himself.
    var onReady: (@Sendable () -> Void)?
    private(set) var hasPeerEnded = false
    /// When the last bytes came.
    private(set) var lastHeard = ContinuousClock.now
    private let conduit: (any Conduit)?
    private let ending = LinkEnding()
    private var registration: EventLoop.Registration?
    private var interest: Readiness = [.read, .peerClosed]

    /// Takes over a carrier and begins to watch its socket.
    ///
    /// - Throws: When there is no memory or no room to watch; the carrier is then closed.
    init(carrier: consuming Carrier, destination: Destination, loop: EventLoop) throws(LinkError) {
        let address = carrier.address
        let conduit = carrier.conduit
        guard let handle = SSHSessionHandle(socket: carrier.take()) else {
            conduit?.close()
            throw .unreachable(address: address, detail: "there is no memory for a session")
        }
        self.address = address
        self.conduit = conduit
        self.handle = handle
        self.destination = destination
        self.loop = loop
        signal = LoopSignal(on: loop)
        let descriptor = self.handle.descriptor
        registration = loop.register(descriptor, for: interest) { [weak self] ready in
            self?.socketReady(ready)
        }
        guard registration != nil else {
            let error = LinkError.unreachable(address: address, detail: "no room to watch it")
            finish(error)
            throw error
        }
    }

    // MARK: Life

    /// The numeric address of the other end of the socket; nil where a program or a jump host is in between.
    var peerAddress: String? { conduit == nil ? NameLookup.host(of: address) : nil }

    /// Waits for the end.
    func untilClosed() async -> LinkError { await ending.wait() }

    /// Why it has ended; nil while it lives.
    var endingError: LinkError? { ending.error }

    /// Ends it: socket, session and carrier are gone when this returns.
    func finish(_ error: LinkError) {
        guard ending.error == nil else { return }
        stopWatching()
        handle.close()
        conduit?.close()
        // Told last: who waits for the end finds nothing open.
        ending.end(error)
        signal.raise()
        onReady = nil
    }

    // MARK: Bytes

    private func socketReady(_ ready: Readiness) {
        if ready.contains(.write) { flush() }
        if !ready.isDisjoint(with: [.read, .peerClosed, .failed, .closed]) { fill() }
        updateInterest()
        if isBusy { signal.raise() } else { onReady?() }
    }

    private func fill() {
        switch handle.fill() {
        case .received: lastHeard = .now
        case .nothing: break
        case .ended, .failed:
            // The rest of what was received is still read; the end is then an error of libssh2.
            hasPeerEnded = true
            stopWatching()
        }
    }

    private func flush() {
        switch handle.flush() {
        case .done, .pending: break
        case .failed:
            // What the peer said before it closed the connection is still there, and says why.
            if !hasPeerEnded { fill() }
            hasPeerEnded = true
            stopWatching()
        }
    }

    /// Sends what libssh2 has queued, as far as the socket takes it.
    func flushQueue() {
        flush()
        updateInterest()
    }

    private func stopWatching() {
        if let registration { loop.deregister(registration) }
        registration = nil
    }

    private func updateInterest() {
        guard let registration else { return }
        var wanted: Readiness = handle.hasReceiveRoom ? [.read, .peerClosed] : []
        if handle.hasBacklog { wanted.insert(.write) }
        guard wanted != interest else { return }
        interest = wanted
        loop.change(registration, to: wanted)
    }

    // MARK: Conversations

    /// What an error of libssh2 means at present.
    func error(_ stage: LinkError.Stage, _ failure: FailureClassifier.Failure) -> LinkError {
        let error = classifier.error(stage, failure)
        // What libssh2 makes of half a packet says less than that the other half never came.
        if case .protocolFailure(.handshake, _, _) = error, hasPeerEnded { return ended(stage) }
        return explained(error)
    }

    /// The peer's end, with what the carrier knows of it.
    func ended(_ stage: LinkError.Stage, detail: String = "") -> LinkError {
        explained((stage == .handshake ? classifier.refusal() : nil) ?? .closedByPeer(stage, detail: detail))
    }

    private func explained(_ error: LinkError) -> LinkError {
        guard case .closedByPeer(let stage, "") = error else { return error }
        return conduit?.ending(stage) ?? error
    }

    var classifier: FailureClassifier {
        FailureClassifier(
            address: address, hello: hello ?? ServerHello(handle.head), offered: handle.offered(preferences))
    }

    /// Makes a step again and again until it is done.
    ///
    /// `timeout` is for the message only, `deadline` counts; `step` is one call of the handle, always the
    /// same.
    func drive<Value>(
        _ stage: LinkError.Stage, until deadline: ContinuousClock.Instant, timeout: Duration,
        _ step: (borrowing SSHSessionHandle) -> Attempt<Value>
    ) async throws(LinkError) -> Value {
        while true {
            if let error = ending.error { throw error }
            let attempt = step(handle)
            flushQueue()
            switch attempt {
            case .complete(let value): return value
            case .failed(let failure):
                if hasPeerEnded { await conduit?.untilEnded() }
                throw error(stage, failure)
            case .wouldBlock: try await wait(stage, until: deadline, timeout: timeout)
            }
        }
    }

    /// Waits for the socket.
    ///
    /// A connection that has ended brings nothing more.
    func wait(
        _ stage: LinkError.Stage, until deadline: ContinuousClock.Instant, timeout: Duration
    ) async throws(LinkError) {
        if hasPeerEnded {
            await conduit?.untilEnded()
            throw ended(stage)
        }
        if stage == .handshake, handle.isHeadFull, let refusal = classifier.refusal() { throw refusal }
        switch await signal.wait(until: deadline) {
        case .raised: break
        case .deadline: throw .timedOut(stage, after: timeout)
        case .cancelled: throw .cancelled
        }
        if let error = ending.error { throw error }
    }

    /// Does nothing until `instant`, unless the session ends first.
    func rest(_ stage: LinkError.Stage, until instant: ContinuousClock.Instant) async throws(LinkError) {
        while true {
            do throws(LinkError) {
                try await wait(stage, until: instant, timeout: .zero)
            } catch .timedOut {
                return
            }
        }
    }
}
