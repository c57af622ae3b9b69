import Glibc
import HostsModel
import HostsPOSIX

/// A process that becomes a shell: what is started, and what its end means.
protocol ShellProcess: Sendable {
    var command: LinkChild.Command { get }

    /// What it means that it cannot be started.
    func cannotStart(_ error: SystemError) -> LinkError

    /// What its end means.
    func failure(_ end: ShellEnd) -> LinkError
}

/// What is known when a shell's process has ended.
struct ShellEnd: Hashable, Sendable {
    /// Whether the link was being opened, or serves probes.
    let stage: LinkError.Stage
    /// Nil when the process goes on without its socket.
    let ending: LinkChild.Ending?
    /// The last bytes of its standard error.
    let said: [UInt8]
    /// What it printed in place of a reply.
    let noise: String
    /// Since it was started.
    let elapsed: Duration
}

/// A link over a child process that is a shell, here or on the host: one shell serves every probe.
actor ShellLink<Shell: ShellProcess>: ProbeLink {
    /// Read from the socket at one go, in bytes.
    private static var chunkSize: Int { 16 * 1024 }
    /// How long a process that has closed its socket gets to say why.
    private static var lastWordsTimeout: Duration { .seconds(1) }

    nonisolated let token: Int
    nonisolated let summary: LinkSummary
    private nonisolated let loop: EventLoop
    private nonisolated let ending = LinkEnding()
    private let signal: LoopSignal
    private let program: ShellProgram
    private var shell: Shell?
    private var child: LinkChild?
    private var socket: SocketDescriptor?
    private var startedAt = ContinuousClock.now
    private var registration: EventLoop.Registration?
    private var interest: Readiness = [.peerClosed]
    private var isBusy = false
    /// Whether the shell has answered once.
    private var isOpen = false
    /// Whether the process itself is gone; what it has started may hold its socket open.
    private var hasChildEnded = false
    /// Whether the end is known, and the reason still has to come.
    private var isEnding = false
    /// What was printed in place of the reply that is waited for.
    private var noise = ""

    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe loop.asUnownedSerialExecutor() }

    init(summary: LinkSummary, token: Int, program: ShellProgram, loop: EventLoop) {
        self.summary = summary
        self.token = token
        self.program = program
        self.loop = loop
        signal = LoopSignal(on: loop)
    }

    // MARK: Life

    /// Starts the shell and has it answer once.
    ///
    /// - Throws: The caller then closes the link.
    func open(_ shell: Shell, timeout: Duration) async throws(LinkError) {
        if let error = ending.error { throw error }
        isBusy = true
        defer { isBusy = false }
        startedAt = .now
        do { try start(shell) } catch { throw shell.cannotStart(error) }
        let nonce = ShellProtocol.makeNonce()
        let greeting = ShellProtocol.definitions(program) + ShellProtocol.checkLine(nonce: nonce)
        do throws(LinkError) {
            _ = try await exchange(greeting, nonce, until: startedAt + timeout, timeout: timeout)
        } catch .badReply(let said) {
            throw .noPOSIXShell(detail: said)
        } catch .timedOut(_, _) where !noise.isEmpty {
            // It talks, but it does not do what a POSIX shell does.
            throw .noPOSIXShell(detail: noise)
        }
        isOpen = true
    }

    private func start(_ shell: Shell) throws(SystemError) {
        let started = try LinkChild.start(shell.command, on: loop)
        let child = started.child
        registration = loop.register(started.socket.raw, for: interest) { [weak self] ready in
            guard let self else { return }
            assumeIsolated { $0.socketReady(ready) }
        }
        guard registration != nil else {
            child.end()
            throw SystemError(code: ENOSPC)
        }
        self.shell = shell
        self.child = child
        socket = started.takeSocket()
        child.whenEnded { [weak self] in
            guard let self else { return }
            assumeIsolated { $0.childEnded() }
        }
    }

    func untilClosed() async -> LinkError { await ending.wait() }

    nonisolated func close(_ reason: LinkError) {
        loop.execute { self.assumeIsolated { $0.finish(reason) } }
    }

    private func finish(_ error: LinkError) {
        guard ending.error == nil else { return }
        stopWatching()
        // The socket first: a well-behaved process ends by itself.
        socket = nil
        child?.end()
        child = nil
        // Told last: who waits for the end finds nothing open.
        ending.end(error)
        signal.raise()
    }

    private func stopWatching() {
        if let registration { loop.deregister(registration) }
        registration = nil
    }

    // MARK: Its end

    private func socketReady(_ ready: Readiness) {
        if isBusy { return signal.raise() }
        // Nobody waits: noise between requests stays in the socket, an end is an end.
        guard !ready.isDisjoint(with: [.peerClosed, .failed, .closed]) else { return }
        beginEnding()
    }

    private func childEnded() {
        hasChildEnded = true
        // Whoever waits reads first what it has left in the socket.
        if isBusy { signal.raise() } else { beginEnding() }
    }

    /// Waits for the end of the process, which says why its socket ended, and then ends the link.
    private func beginEnding() {
        stopWatching()
        guard !isEnding, let child else { return }
        isEnding = true
        child.whenEnded(within: Self.lastWordsTimeout) { [weak self] in
            guard let self else { return }
            assumeIsolated { $0.finishEnded() }
        }
    }

    private func finishEnded() {
        guard let shell, let child else { return }
        let end = ShellEnd(
            stage: isOpen ? .probe : .shell, ending: child.ending, said: child.errorTail, noise: noise,
            elapsed: .now - startedAt)
        finish(shell.failure(end))
    }

    // MARK: Probing

    func probe(
        _ request: ProbeRequest, until deadline: ContinuousClock.Instant
    ) async throws(LinkError) -> ProbeReply {
        if let error = ending.error { throw error }
        precondition(!isBusy, "a link is used by one caller at a time")
        isBusy = true
        defer { isBusy = false }
        let nonce = ShellProtocol.makeNonce()
        let line = ShellProtocol.line(request, nonce: nonce)
        do throws(LinkError) {
            guard line.count <= ShellProtocol.requestLimit.bytes else {
                throw .badReply(detail: "the request is longer than \(ShellProtocol.requestLimit)")
            }
            return try await exchange(line, nonce, until: deadline, timeout: max(.zero, deadline - .now))
        } catch {
            finish(error)
            throw error
        }
    }

    /// Writes and then reads until the reply is whole.
    private func exchange(
        _ bytes: [UInt8], _ nonce: String, until deadline: ContinuousClock.Instant, timeout: Duration
    ) async throws(LinkError) -> ProbeReply {
        noise = ""
        try await send(bytes, until: deadline, timeout: timeout)
        var parser = ShellReplyParser(nonce: nonce)
        var buffer = [UInt8](repeating: 0, count: Self.chunkSize)
        while true {
            switch socket?.receive(into: &buffer) ?? .ended {
            case .moved(let count):
                let outcome = parser.consume(buffer[..<count])
                noise = parser.noise
                switch outcome {
                case .incomplete: break
                case .complete(let reply): return reply
                case .failed(let failure): throw .badReply(detail: failure.detail)
                }
            case .wouldBlock where !hasChildEnded:
                try await wait(for: .read, until: deadline, timeout: timeout)
            case .wouldBlock, .ended, .failed: throw await ended(until: deadline, timeout: timeout)
            }
        }
    }

    /// Writes; when the shell takes no more because it has ended, what it has printed is still read.
    private func send(
        _ bytes: [UInt8], until deadline: ContinuousClock.Instant, timeout: Duration
    ) async throws(LinkError) {
        var rest = bytes[...]
        while !rest.isEmpty {
            switch socket?.send(rest) ?? .ended {
            case .moved(let count): rest = rest.dropFirst(count)
            case .wouldBlock where !hasChildEnded:
                try await wait(for: .write, until: deadline, timeout: timeout)
            case .wouldBlock, .ended, .failed: return
            }
        }
    }

    /// Why the process has ended, once that is known.
    private func ended(until deadline: ContinuousClock.Instant, timeout: Duration) async -> LinkError {
        beginEnding()
        do throws(LinkError) {
            while ending.error == nil { try await wait(for: [], until: deadline, timeout: timeout) }
        } catch {
            return error
        }
        return ending.error ?? .cancelled
    }

    private func wait(
        for readiness: Readiness, until deadline: ContinuousClock.Instant, timeout: Duration
    ) async throws(LinkError) {
        watch(for: readiness.union(.peerClosed))
        let wake = await signal.wait(until: deadline)
        watch(for: [.peerClosed])
        if let error = ending.error { throw error }
        switch wake {
        case .raised: return
        case .deadline: throw .timedOut(isOpen ? .probe : .shell, after: timeout)
        case .cancelled: throw .cancelled
        }
    }

    private func watch(for wanted: Readiness) {
        guard let registration, wanted != interest else { return }
        interest = wanted
        loop.change(registration, to: wanted)
    }
}
