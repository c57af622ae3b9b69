import Glibc
import HostsModel
import HostsPOSIX

/// Why an agent gave no answer.
enum AgentError: Error, Hashable, Sendable {
    case unreachable(detail: String)
    case malformed
    case deadline, cancelled
}

/// A conversation with one ssh-agent, on the event loop. A key may wait for a person to touch it, so every
/// question has a deadline.
actor AgentClient {
    nonisolated let path: String
    private nonisolated let loop: EventLoop
    private let signal: LoopSignal
    private var socket: SocketDescriptor?
    private var registration: EventLoop.Registration?

    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe loop.asUnownedSerialExecutor() }

    init(path: String, loop: EventLoop) {
        self.path = path
        self.loop = loop
        signal = LoopSignal(on: loop)
    }

    /// The keys that the agent offers; none when it is empty or locked.
    func identities(until deadline: ContinuousClock.Instant) async throws(AgentError) -> [AgentIdentity] {
        let reply = try await ask(AgentMessages.listRequest(), until: deadline)
        guard let identities = AgentMessages.identities(reply) else { throw .malformed }
        return identities
    }

    /// The bare signature, or nil when the agent or its person refuses.
    ///
    /// The callers tell nil as `LinkError.agentRefused`, and a deadline as `.touchWanted`: an agent that does not wait
    /// for its person answers at once.
    func sign(
        _ data: [UInt8], with key: PublicKey, until deadline: ContinuousClock.Instant
    ) async throws(AgentError) -> [UInt8]? {
        let reply = try await ask(AgentMessages.signRequest(key: key, data: data), until: deadline)
        switch AgentMessages.signature(reply, by: key, of: data) {
        case .signature(let signature): return signature
        case .refused: return nil
        case nil: throw .malformed
        }
    }

    /// Ends the conversation; a question under way ends with an error.
    nonisolated func close() {
        loop.execute { self.assumeIsolated { $0.disconnect() } }
    }

    private func disconnect() {
        if let registration { loop.deregister(registration) }
        registration = nil
        socket = nil
        signal.raise()
    }

    private func ask(_ message: [UInt8], until deadline: ContinuousClock.Instant) async throws(AgentError)
        -> [UInt8]
    {
        do {
            if socket == nil { try connect() }
            try await send(message[...], until: deadline)
            return try await receive(until: deadline)
        } catch {
            // What is left of a broken conversation would be taken for the next answer.
            disconnect()
            throw error
        }
    }

    private func connect() throws(AgentError) {
        guard let made = SocketDescriptor(family: AF_UNIX) else {
            throw .unreachable(detail: SystemError.text(errno))
        }
        guard let address = SocketAddress(unixPath: path) else {
            throw .unreachable(detail: "the path is longer than a socket's name can be")
        }
        // A Unix socket connects at once or not at all.
        let code = address.connect(made.raw)
        guard code == 0 else { throw .unreachable(detail: SystemError.text(code)) }
        let signal = signal
        registration = loop.register(made.raw, for: [.read]) { _ in signal.raise() }
        guard registration != nil else { throw .unreachable(detail: "no room to watch it") }
        socket = consume made
    }

    private func send(_ message: ArraySlice<UInt8>, until deadline: ContinuousClock.Instant)
        async throws(AgentError)
    {
        var rest = message
        while !rest.isEmpty {
            switch socket?.send(rest) ?? .ended {
            case .moved(let count): rest = rest.dropFirst(count)
            case .wouldBlock: try await wait(for: [.read, .write], until: deadline)
            case .ended: throw .unreachable(detail: "it closed the connection")
            case .failed(let code): throw .unreachable(detail: SystemError.text(code))
            }
        }
    }

    private func receive(until deadline: ContinuousClock.Instant) async throws(AgentError) -> [UInt8] {
        var reply: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            switch socket?.receive(into: &buffer) ?? .ended {
            case .moved(let count): reply += buffer[..<count]
            case .wouldBlock: try await wait(for: [.read], until: deadline)
            case .ended: throw .unreachable(detail: "it closed the connection")
            case .failed(let code): throw .unreachable(detail: SystemError.text(code))
            }
            var reader = SSHReader(reply)
            guard let length = reader.uint32() else { continue }
            guard length <= AgentMessages.replyLimit else { throw .malformed }
            let size = AgentMessages.headerSize + Int(length)
            guard reply.count <= size else { throw .malformed }
            if reply.count == size { return Array(reply.dropFirst(AgentMessages.headerSize)) }
        }
    }

    private func wait(for interest: Readiness, until deadline: ContinuousClock.Instant)
        async throws(AgentError)
    {
        if let registration { loop.change(registration, to: interest) }
        let wake = await signal.wait(until: deadline)
        if let registration { loop.change(registration, to: []) }
        switch wake {
        case .raised: break
        case .deadline: throw .deadline
        case .cancelled: throw .cancelled
        }
    }
}
