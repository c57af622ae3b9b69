import Glibc
import HostsAPI
import HostsCommand
import HostsModel
import HostsPOSIX

/// A window that is open for as long as this process reads a stream, on a thread of its own.
///
/// A daemon that goes away is tried again, less and less often, until the process ends.
final class StreamedWindow: AttachWindow {
    /// How much news waits; of more, the newest are kept.
    private static let backlog = 64
    /// Between two attempts; the last one repeats.
    private static let pauses: [Duration] = [
        .milliseconds(200), .milliseconds(500), .seconds(1), .seconds(2), .seconds(5), .seconds(15),
    ]

    private let socket: String
    private let state = Locked(State())

    private struct State: Sendable {
        var first: Result<AttachDocument, ClientError>?
        var news: [WindowNews] = []

        mutating func add(_ item: WindowNews) {
            if news.count == StreamedWindow.backlog { news.removeFirst() }
            news.append(item)
        }
    }

    init(socket: String) {
        self.socket = socket
    }

    func open(_ request: APIRequest, within timeout: Duration) throws(ClientError) -> AttachDocument {
        let (socket, state) = (socket, state)
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw .unavailable(detail: "no pipe can be made") }
        let (answered, tell) = (ends[0], ends[1])
        // Both are closed before any program is started.
        defer { close(answered) }
        // The end of the pipe is the thread's from here on.
        let work: @Sendable () -> Void = { Self.hold(request, socket, state, tell) }
        do throws(SystemError) {
            try DedicatedThread.start(work)
        } catch {
            close(tell)
            throw .unavailable(detail: "no thread can be made: \(error)")
        }
        var wanted = pollfd(fd: answered, events: Int16(POLLIN), revents: 0)
        let deadline = ContinuousClock.now.advanced(by: timeout)
        while true {
            let left = max(0, ContinuousClock.now.duration(to: deadline).seconds * 1000)
            // POLLHUP: the thread has closed its end.
            if poll(&wanted, 1, Int32(min(left, 60_000)) + 1) > 0 { break }
            guard left > 0 else { throw .timedOut(after: timeout) }
        }
        guard let first = state.withLock({ $0.first }) else {
            throw .connectionLost(detail: "the window was not opened")
        }
        return try first.get()
    }

    func news() -> [WindowNews] {
        state.withLock { state in
            defer { state.news.removeAll(keepingCapacity: true) }
            return state.news
        }
    }

    /// Reads streams, one after the other, until the first one fails before it has begun.
    ///
    /// - Parameters:
    ///   - request: For the window.
    ///   - socket: The daemon's.
    ///   - state: What is told to the main thread.
    ///   - answered: A descriptor that is closed when there is a first answer.
    private static func hold(
        _ request: APIRequest, _ socket: String, _ state: Locked<State>, _ answered: Int32
    ) {
        var failures = 0
        var isOpen = false
        while true {
            do throws(ClientError) {
                try read(request, socket) { line in
                    failures = 0
                    switch line {
                    case .attach(let document):
                        guard !isOpen else { break }
                        isOpen = true
                        state.withLock { $0.first = .success(document) }
                        close(answered)
                    case .phase(let document):
                        let now = ForegroundTerminal.seconds(CLOCK_BOOTTIME)
                        state.withLock { $0.add(.phase(document, at: now)) }
                    }
                }
            } catch {
                guard isOpen else {
                    state.withLock { $0.first = .failure(error) }
                    close(answered)
                    return
                }
            }
            let now = ForegroundTerminal.seconds(CLOCK_BOOTTIME)
            state.withLock { $0.add(.lost(at: now)) }
            SystemWorld.pause(pauses[min(failures, pauses.count - 1)])
            failures += 1
        }
    }

    /// Reads one stream to its end.
    ///
    /// - Throws: Why it is none, or has ended.
    private static func read(
        _ request: APIRequest, _ socket: String, line: (AttachLine) -> Void
    ) throws(ClientError) {
        let transport = try CurlTransport(socket: socket, userAgent: "hostsctl/" + hostsctlVersion)
        var failure: ClientError?
        let outcome = try transport.stream(request, after: nil, until: nil) { text in
            do throws(ClientError) {
                // The last word of a daemon that stops is an error, and no line of a window.
                line(try DaemonClient.decode(AttachLine.self, from: text))
                return true
            } catch {
                failure = error
                return false
            }
        }
        if let failure { throw failure }
        guard case .refused(let answer) = outcome else { throw .streamEnded }
        let document = try DaemonClient.decode(ErrorDocument.self, from: answer.body)
        throw .refused(status: answer.status, document, body: answer.body)
    }
}
