package import HostsModel
import HostsPOSIX

/// A link to this machine: the same shell protocol with a local `/bin/sh`.
package actor LocalLink: ProbeLink {
    private static let chunkSize = 16 * 1024

    package nonisolated let token: Int
    package nonisolated let summary: LinkSummary
    private nonisolated let loop: EventLoop
    private nonisolated let ending = LinkEnding()
    private let signal: LoopSignal
    private let program: ShellProgram
    private var shell: LocalShell?
    private var registration: EventLoop.Registration?
    private var interest: Readiness = [.peerClosed]
    private var isBusy = false

    package nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe loop.asUnownedSerialExecutor() }

    init(token: Int, program: ShellProgram, loop: EventLoop) {
        self.token = token
        self.program = program
        self.loop = loop
        signal = LoopSignal(on: loop)
        summary = LinkSummary(kind: .local, mode: .persistent, detail: "/bin/sh on this machine")
    }

    /// Starts the shell and has it answer once.
    ///
    /// - Throws: The caller then closes the link.
    func open(environment: [String: String], timeout: Duration) async throws(LinkError) {
        if let error = ending.error { throw error }
        isBusy = true
        defer { isBusy = false }
        let made: LocalShell
        do { made = try LocalShell(environment: environment, loop: loop) } catch {
            throw .unreachable(address: "/bin/sh", detail: SystemError.text(error.code))
        }
        registration = loop.register(made.socket.raw, for: interest) { [weak self] ready in
            guard let self else { return }
            assumeIsolated { $0.socketReady(ready) }
        }
        shell = consume made
        let nonce = ShellProtocol.makeNonce()
        let greeting = ShellProtocol.definitions(program) + ShellProtocol.checkLine(nonce: nonce)
        _ = try await exchange(greeting, nonce, .shell, until: .now + timeout, timeout: timeout)
    }

    package func probe(
        _ request: ProbeRequest, until deadline: ContinuousClock.Instant
    ) async throws(LinkError) -> ProbeReply {
        if let error = ending.error { throw error }
        precondition(!isBusy, "a link is used by one caller at a time")
        isBusy = true
        defer { isBusy = false }
        let nonce = ShellProtocol.makeNonce()
        let line = ShellProtocol.line(request, nonce: nonce)
        do {
            return try await exchange(
                line, nonce, .probe, until: deadline, timeout: max(.zero, deadline - .now))
        } catch {
            finish(error)
            throw error
        }
    }

    package func untilClosed() async -> LinkError { await ending.wait() }

    package nonisolated func close(_ reason: LinkError) {
        loop.execute { self.assumeIsolated { $0.finish(reason) } }
    }

    private func finish(_ error: LinkError) {
        guard ending.error == nil else { return }
        if let registration { loop.deregister(registration) }
        registration = nil
        shell?.kill()
        shell = nil
        // Told last: who waits for the end finds nothing open.
        ending.end(error)
        signal.raise()
    }

    private func socketReady(_ ready: Readiness) {
        if isBusy { return signal.raise() }
        // Nobody waits: noise between requests stays in the socket, an end is an end.
        guard !ready.isDisjoint(with: [.peerClosed, .failed, .closed]) else { return }
        finish(.closedByPeer(.probe, detail: "the local shell ended"))
    }

    private func exchange(
        _ bytes: [UInt8], _ nonce: String, _ stage: LinkError.Stage, until deadline: ContinuousClock.Instant,
        timeout: Duration
    ) async throws(LinkError) -> ProbeReply {
        var rest = bytes[...]
        while !rest.isEmpty {
            switch shell?.socket.send(rest) ?? .ended {
            case .moved(let count): rest = rest.dropFirst(count)
            case .wouldBlock: try await wait(for: .write, stage, until: deadline, timeout: timeout)
            case .ended, .failed: throw ended(stage)
            }
        }
        var parser = ShellReplyParser(nonce: nonce)
        var buffer = [UInt8](repeating: 0, count: Self.chunkSize)
        while true {
            switch shell?.socket.receive(into: &buffer) ?? .ended {
            case .moved(let count):
                switch parser.consume(buffer[..<count]) {
                case .incomplete: break
                case .complete(let reply): return reply
                case .failed(let failure): throw .badReply(detail: failure.detail)
                }
            case .wouldBlock: try await wait(for: .read, stage, until: deadline, timeout: timeout)
            case .ended, .failed: throw ended(stage)
            }
        }
    }

    private func ended(_ stage: LinkError.Stage) -> LinkError {
        ending.error ?? .closedByPeer(stage, detail: "the local shell ended")
    }

    private func wait(
        for readiness: Readiness, _ stage: LinkError.Stage, until deadline: ContinuousClock.Instant,
        timeout: Duration
    ) async throws(LinkError) {
        watch(for: [readiness, .peerClosed])
        let wake = await signal.wait(until: deadline)
        watch(for: [.peerClosed])
        if let error = ending.error { throw error }
        switch wake {
        case .raised: return
        case .deadline: throw .timedOut(stage, after: timeout)
        case .cancelled: throw .cancelled
        }
    }

    private func watch(for wanted: Readiness) {
        guard let registration, wanted != interest else { return }
        interest = wanted
        loop.change(registration, to: wanted)
    }
}
