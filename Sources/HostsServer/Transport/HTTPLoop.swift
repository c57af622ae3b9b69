import CLinux
import Glibc
import HostsModel
import HostsPOSIX

/// The thread that runs libmicrohttpd, as the rest of the server sees it.
///
/// The library is used in its external mode: every call into it is made on this one thread, so nothing is ever
/// suspended and resumed at the same time. Requests leave through `exchanges`, commands come in through `send`.
final class HTTPLoop: Sendable {
    /// What the thread is told.
    enum Command: Sendable {
        case answer(Int, Answer)
        /// The body of the stream has something to send.
        case wake(Int)
        case stop
    }

    enum Answer: Sendable {
        case whole(HTTPResponse)
        case stream(StreamBody, StreamFormat, isIncomplete: Bool)
    }

    private struct End: Sendable {
        var failure: HTTPServerError?
        var hasEnded = false
        var waiter: CheckedContinuation<Void, Never>?
    }

    /// Requests in the order of their arrival; ends when the loop stops.
    let exchanges: AsyncStream<Exchange>
    private let source: AsyncStream<Exchange>.Continuation
    private let inbox = Locked<[Command]>([])
    private let end = Locked(End())
    let wakeup: Int32

    /// Makes a loop that does not run yet.
    ///
    /// - Throws: `.transport` when the process has no descriptor left.
    init() throws(HTTPServerError) {
        wakeup = hosts_eventfd_create()
        guard wakeup >= 0 else { throw .transport("eventfd: \(SystemError.text(errno))") }
        (exchanges, source) = AsyncStream.makeStream(
            bufferingPolicy: .bufferingOldest(Int(HTTPLimits.connections)))
    }

    deinit { close(wakeup) }

    /// Tells the thread something; from any thread.
    ///
    /// Nothing happens once it has ended.
    func send(_ command: Command) {
        inbox.withLock { $0.append(command) }
        hosts_eventfd_signal(wakeup)
    }

    /// Starts the thread.
    ///
    /// Called once.
    func start(_ socket: ControlSocket, version: String) throws(HTTPServerError) {
        let core = try HTTPLoopCore(loop: self, socket: socket, version: version)
        // A thread of its own: the library waits in poll(2), which must not hold a thread of the cooperative pool.
        do throws(SystemError) {
            try DedicatedThread.start { core.run() }
        } catch {
            throw .transport("pthread_create: \(error)")
        }
    }

    /// Waits until the thread has given everything back.
    ///
    /// Not ended by cancellation: nothing may outlive the server.
    ///
    /// - Returns: Why the loop ended by itself, or nil.
    func untilEnded() async -> HTTPServerError? {
        await withCheckedContinuation { continuation in
            let hasEnded = end.withLock { end in
                if !end.hasEnded { end.waiter = continuation }
                return end.hasEnded
            }
            if hasEnded { continuation.resume() }
        }
        return end.withLock(\.failure)
    }

    // MARK: The thread's side

    func takeCommands() -> [Command] {
        inbox.withLock { inbox in
            defer { inbox.removeAll() }
            return inbox
        }
    }

    /// Hands a request out; false when too many wait already.
    func hand(_ exchange: Exchange) -> Bool {
        guard case .enqueued = source.yield(exchange) else { return false }
        return true
    }

    func finishExchanges() {
        source.finish()
    }

    func ended(_ failure: HTTPServerError?) {
        source.finish()
        let waiter = end.withLock { end in
            end.failure = failure
            end.hasEnded = true
            defer { end.waiter = nil }
            return end.waiter
        }
        waiter?.resume()
    }
}

/// What the transport takes at most.
enum HTTPLimits {
    /// Connections at one time; more wait to be accepted.
    static let connections: UInt32 = 256
    /// Request line and header fields, with the room for the answer.
    static let connectionMemory = ByteCount.kibibytes(32)
    /// A connection that is silent for so long, and waits for nothing of ours, is closed.
    static let idle = Duration.seconds(60)
    /// How much of a body that is too large is read before the connection is cut, so that the client can be told.
    static let drain = ByteCount.mebibytes(8)
    /// How long a stop waits for the answers that are on their way.
    static let stopGrace = Duration.milliseconds(500)
}
