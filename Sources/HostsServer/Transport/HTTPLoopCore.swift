import CLinux
import CMicroHTTPD
import Glibc
import HostsAPI
import HostsModel
import HostsPOSIX

/// What belongs to the loop's thread: the daemon of libmicrohttpd and the requests on their way.
///
/// Not `Sendable`: made by `HTTPLoop.start`, then touched by its thread alone.
///
/// Rules of the library (0.9.75) that hold here: a stop with a suspended connection aborts the process, so a stop
/// resumes every one first and from then on none is suspended; a reader that has nothing suspends, or it would be asked
/// for ever; a suspended connection is not timed out, and its client's end is seen only at the next write.
final class HTTPLoopCore {
    /// A request from its first line to its last byte out.
    final class Live {
        enum Phase {
            /// Being received. Can go to: `waiting`, `answered`.
            case receiving
            /// Suspended until its answer comes. Can go to: `ready`.
            case waiting
            /// Resumed; the answer is queued when the library asks. Can go to: `answered`, `streaming`.
            case ready(HTTPLoop.Answer)
            case answered
            case streaming(StreamBody)
        }

        let connection: OpaquePointer
        var request: HTTPRequest
        var phase = Phase.receiving
        /// A stream that has nothing to send is suspended.
        var isSuspended = false
        private(set) var bodyBytes = 0
        /// What has come of the body; nil before anything has, and once it is too large.
        private var body: SecretBytes.Builder?

        init(connection: OpaquePointer, request: HTTPRequest) {
            self.connection = connection
            self.request = request
        }

        /// Takes a part of the body; keeps it as long as all of it is small enough.
        func receive(_ part: UnsafeRawBufferPointer) {
            let limit = HTTPRequest.bodyLimit.bytes
            if bodyBytes == 0, part.count <= limit { body = SecretBytes.Builder(capacity: limit) }
            bodyBytes += part.count
            if body?.append(part) == false { body = nil }
        }

        /// Gives the body away.
        func takeBody() -> SecretBytes? {
            defer { body = nil }
            return body?.finish()
        }
    }

    let loop: HTTPLoop
    let version: String
    private let socket: ControlSocket
    private var daemon: OpaquePointer?
    /// The requests of which the library knows; its pointer value for each is the key.
    var live: [Int: Live] = [:]
    /// Request targets that were announced and not yet asked for, by connection.
    var targets: [OpaquePointer: String] = [:]
    private var lastID = 0
    private(set) var isStopping = false

    init(loop: HTTPLoop, socket: ControlSocket, version: String) throws(HTTPServerError) {
        self.loop = loop
        self.socket = socket
        self.version = version
        // The library closes the descriptor that it is given.
        let listener = fcntl(socket.listener, F_DUPFD_CLOEXEC, 3)
        guard listener >= 0 else { throw .transport("dup: \(SystemError.text(errno))") }
        let limits = hosts_http_limits(
            connections: HTTPLimits.connections, connection_memory: HTTPLimits.connectionMemory.bytes,
            idle_seconds: UInt32(HTTPLimits.idle.components.seconds))
        daemon = hosts_http_start(
            listener, limits, HTTPCallbacks.table(for: Unmanaged.passUnretained(self).toOpaque()))
        guard daemon != nil else {
            close(listener)
            throw .transport("MHD_start_daemon failed")
        }
    }

    /// Gives the daemon back when the thread could not be started.
    deinit {
        if daemon != nil { MHD_stop_daemon(daemon) }
    }

    func newID() -> Int {
        lastID += 1
        return lastID
    }

    /// Runs until it is told to stop.
    func run() {
        var stopDeadline: ContinuousClock.Instant?
        var failure: HTTPServerError?
        while true {
            for command in loop.takeCommands() { carryOut(command) }
            guard MHD_run(daemon) == .YES else {
                failure = .transport("MHD_run failed")
                break
            }
            if isStopping {
                // Real time, as poll(2) has no other.
                let deadline = stopDeadline ?? ContinuousClock.now.advanced(by: HTTPLimits.stopGrace)
                stopDeadline = deadline
                if live.isEmpty || ContinuousClock.now >= deadline { break }
            }
            let code = wait()
            guard code == 0 else {
                failure = .transport("poll: \(SystemError.text(code))")
                break
            }
        }
        beginStop()
        MHD_run(daemon)  // moves the resumed connections back among the others
        MHD_stop_daemon(daemon)
        daemon = nil
        loop.ended(failure)
    }

    /// Waits until the library or a command has something to do.
    ///
    /// - Returns: 0, or the errno value of what went wrong.
    private func wait() -> Int32 {
        var entries = [
            pollfd(fd: hosts_http_epoll_descriptor(daemon), events: Int16(POLLIN), revents: 0),
            pollfd(fd: loop.wakeup, events: Int16(POLLIN), revents: 0),
        ]
        if poll(&entries, nfds_t(entries.count), timeout()) < 0 { return errno == EINTR ? 0 : errno }
        if entries[1].revents != 0 { hosts_eventfd_clear(loop.wakeup) }
        return 0
    }

    /// In milliseconds; -1 for no limit.
    private func timeout() -> Int32 {
        var milliseconds: UInt64 = 0
        let limit: Int32 = isStopping ? 20 : -1
        guard MHD_get_timeout(daemon, &milliseconds) == .YES else { return limit }
        let wanted = Int32(clamping: milliseconds)
        return limit < 0 ? wanted : min(wanted, limit)
    }

    private func carryOut(_ command: HTTPLoop.Command) {
        switch command {
        case .answer(let id, let answer):
            guard let request = live[id], case .waiting = request.phase else {
                if case .stream(let body, _, _) = answer { body.close() }
                return
            }
            request.phase = .ready(answer)
            resume(request)
        case .wake(let id):
            guard let request = live[id] else { return }
            resume(request)
        case .stop: beginStop()
        }
    }

    /// Stops accepting and ends everything that is on its way.
    ///
    /// From here on nothing is suspended any more.
    private func beginStop() {
        guard !isStopping else { return }
        isStopping = true
        let listener = MHD_quiesce_daemon(daemon)
        if listener >= 0 { close(listener) }
        socket.removePath()
        loop.finishExchanges()
        for request in live.values {
            switch request.phase {
            case .waiting: request.phase = .ready(.whole(HTTPResponse(error: .stopping)))
            case .ready(.stream(let body, _, _)), .streaming(let body): body.end(.stopping)
            case .receiving, .ready(.whole), .answered: break
            }
            resume(request)
        }
    }

    func suspend(_ request: Live) {
        precondition(!isStopping, "a connection that is suspended while the daemon stops aborts the process")
        request.isSuspended = true
        MHD_suspend_connection(request.connection)
    }

    private func resume(_ request: Live) {
        guard request.isSuspended else { return }
        request.isSuspended = false
        MHD_resume_connection(request.connection)
    }
}
