import CLinux
import HostsLog
package import HostsModel
import HostsProcess

/// A link over libssh2: one login, and one shell that serves every probe, or one exec channel per probe.
///
/// It lives on the event loop. Bytes move when the socket is ready; libssh2 is stepped by whoever waits for
/// an answer, or, between probes, as bytes come in, so that the server's own questions (keepalive, rekey) are
/// answered at once.
package actor SSHLink: ProbeLink {
    /// Read from a channel at one go, in bytes.
    static let chunkSize = 16 * 1024

    package nonisolated let token: Int
    nonisolated let loop: EventLoop
    nonisolated let destination: Destination
    /// The address that was dialled.
    nonisolated let address: String
    private nonisolated let ending = LinkEnding()
    private nonisolated let currentSummary: Locked<LinkSummary>

    let handle: SSHSessionHandle
    let program: ShellProgram
    let probeMode: LinkSettings.ProbeMode
    let signal: LoopSignal
    /// What is offered in the negotiation.
    var preferences = MethodPreferences(knownTypes: [])
    /// What the server said in clear text, once the handshake is over.
    var hello: ServerHello?
    /// How requests reach the shell; `auto` may change it once.
    var mode = LinkSummary.Mode.persistent
    /// Whether a task waits for the server; between two waits the socket's events are looked at here.
    var isBusy = false
    /// Whether the channel's end still has to come.
    var isChannelClosing = false
    private var registration: EventLoop.Registration?
    private var interest: Readiness = [.read, .peerClosed]
    private var hasPeerEnded = false
    /// Bytes that the shell has printed since the last request was answered.
    var idleNoise = 0

    package nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe loop.asUnownedSerialExecutor() }

    package nonisolated var summary: LinkSummary { currentSummary.withLock { $0 } }

    /// Takes over a connected socket; nil when there is no memory.
    init?(
        carrier: consuming Carrier, destination: Destination, token: Int, program: ShellProgram,
        probeMode: LinkSettings.ProbeMode, loop: EventLoop
    ) {
        address = carrier.address
        guard let handle = SSHSessionHandle(socket: carrier.take()) else { return nil }
        self.handle = handle
        self.destination = destination
        self.token = token
        self.program = program
        self.probeMode = probeMode
        self.loop = loop
        signal = LoopSignal(on: loop)
        currentSummary = Locked(LinkSummary(kind: .libssh2, mode: .persistent, detail: ""))
    }

    // MARK: Life

    /// Begins to watch the socket.
    func start() throws(LinkError) {
        registration = loop.register(handle.descriptor, for: interest) { [weak self] ready in
            guard let self else { return }
            assumeIsolated { $0.socketReady(ready) }
        }
        guard registration != nil else { throw .unreachable(address: address, detail: "no room to watch it") }
    }

    package func untilClosed() async -> LinkError { await ending.wait() }

    package nonisolated func close(_ reason: LinkError) {
        loop.execute { self.assumeIsolated { $0.finish(reason) } }
    }

    /// Ends the link: socket, session and descriptor are gone when this returns.
    func finish(_ error: LinkError) {
        guard ending.error == nil else { return }
        stopWatching()
        handle.close()
        // Told last: who waits for the end finds nothing open.
        ending.end(error)
        signal.raise()
    }

    /// Why the link has ended; nil while it lives.
    var endingError: LinkError? { ending.error }

    func describe(mode: LinkSummary.Mode, _ detail: String) {
        self.mode = mode
        currentSummary.withLock { $0 = LinkSummary(kind: .libssh2, mode: mode, detail: detail) }
    }

    // MARK: Bytes

    private func socketReady(_ ready: Readiness) {
        if ready.contains(.write) { flush() }
        if !ready.isDisjoint(with: [.read, .peerClosed, .failed, .closed]) { fill() }
        updateInterest()
        if isBusy { signal.raise() } else { pumpIdle() }
    }

    private func fill() {
        switch handle.fill() {
        case .received, .nothing: break
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

    /// What comes while nobody waits: the channel's end, the server's questions, or the end of the
    /// connection.
    private func pumpIdle() {
        guard ending.error == nil else { return }
        if isChannelClosing { _ = stepClosing() }
        if mode == .persistent, !isChannelClosing {
            var buffer = [UInt8](repeating: 0, count: Self.chunkSize)
            var isReading = true
            while isReading {
                switch handle.read(into: &buffer) {
                case .complete(.bytes(let count)):
                    idleNoise += count
                    guard idleNoise <= ShellReplyParser.noiseLimit.bytes else {
                        return finish(.badReply(detail: ShellReplyParser.Failure.tooMuchNoise.detail))
                    }
                case .complete(.end):
                    isReading = false
                    channelCutWhileIdle()
                case .wouldBlock: isReading = false
                case .failed(let failure): return finish(classifier.error(.probe, failure))
                }
            }
        }
        flushQueue()
        if hasPeerEnded { return finish(.closedByPeer(.probe, detail: "")) }
        if !handle.hasReceiveRoom {
            finish(.protocolFailure(.probe, code: 0, detail: "the server sends without being asked"))
        }
    }

    private func channelCutWhileIdle() {
        guard probeMode == .auto else {
            return finish(.closedByPeer(.probe, detail: "the server ended the shell"))
        }
        fallBackToExec()
    }

    /// One step of closing the channel; true when it is gone.
    func stepClosing() -> Bool {
        if case .wouldBlock = handle.closeChannel() { return false }
        // An error means that the session is dying, which the next step will tell.
        isChannelClosing = false
        return true
    }

    // MARK: Conversations

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
            case .failed(let failure): throw classifier.error(stage, failure)
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
            throw (stage == .handshake ? classifier.refusal() : nil) ?? .closedByPeer(stage, detail: "")
        }
        if stage == .handshake, handle.isHeadFull, let refusal = classifier.refusal() { throw refusal }
        switch await signal.wait(until: deadline) {
        case .raised: break
        case .deadline: throw .timedOut(stage, after: timeout)
        case .cancelled: throw .cancelled
        }
        if let error = ending.error { throw error }
    }
}
