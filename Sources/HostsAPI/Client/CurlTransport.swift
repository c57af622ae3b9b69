import CCurl
import Glibc
import HostsModel

/// Speaks to the daemon through libcurl over its Unix socket.
///
/// Calls share one connection. Not for use by several threads at a time.
package final class CurlTransport: DaemonTransport {
    /// The daemon refuses requests that name another.
    private static let origin = "http://localhost"

    private let socket: String
    private let limits: ClientLimits
    private let userAgent: String
    private let calls: CurlHandle

    /// Prepares for calls; nothing is sent yet.
    ///
    /// - Parameters:
    ///   - socket: Path of the daemon's socket, at most `SocketLocator.pathLimit` bytes.
    ///   - userAgent: Who calls, such as `hostsctl/0.1.0`.
    ///   - limits: How long to wait and how much to take.
    /// - Throws: `.socketPathTooLong` or `.unavailable`.
    package init(socket: String, userAgent: String, limits: ClientLimits = ClientLimits()) throws(ClientError)
    {
        guard socket.utf8.count <= SocketLocator.pathLimit else {
            throw .socketPathTooLong(path: socket, limit: SocketLocator.pathLimit)
        }
        guard let calls = CurlHandle(headers: ["Accept: application/json", "Content-Type: application/json"])
        else {
            throw .unavailable(detail: "libcurl cannot be initialised")
        }
        self.socket = socket
        self.limits = limits
        self.userAgent = userAgent
        self.calls = calls
    }

    package func answer(to request: APIRequest, within timeout: Duration) throws(ClientError) -> DaemonAnswer
    {
        let receiver = CurlReceiver(limits: limits, wantsLines: false, now: .now)
        try prepare(calls, request, receiver)
        defer { calls.finish() }
        // libcurl reads the body where it is.
        defer { withExtendedLifetime(request) {} }
        let deadline = ContinuousClock.now.advanced(by: timeout)
        while true {
            if let result = calls.advance() {
                try check(result, calls, receiver)
                return DaemonAnswer(status: calls.status, body: receiver.body)
            }
            let left = ContinuousClock.now.duration(to: deadline)
            guard left > .zero else { throw .timedOut(after: timeout) }
            calls.wait(milliseconds: Self.milliseconds(left))
        }
    }

    package func stream(
        _ request: APIRequest, after id: String?, until deadline: ContinuousClock.Instant?,
        line: ([UInt8]) -> Bool
    ) throws(ClientError) -> StreamOutcome {
        var headers = ["Accept: application/x-ndjson"]
        if request.method == .post { headers.append("Content-Type: application/json") }
        if let id { headers.append("Last-Event-ID: " + SafeText.visible(id)) }
        guard let handle = CurlHandle(headers: headers) else {
            throw .unavailable(detail: "libcurl cannot be initialised")
        }
        return try follow(request, on: handle, until: deadline, line: line)
    }

    private func follow(
        _ request: APIRequest, on handle: borrowing CurlHandle, until deadline: ContinuousClock.Instant?,
        line: ([UInt8]) -> Bool
    ) throws(ClientError) -> StreamOutcome {
        let begin = ContinuousClock.now
        let receiver = CurlReceiver(limits: limits, wantsLines: true, now: begin)
        let patience = StreamPatience(limits: limits, begin: begin, deadline: deadline)
        try prepare(handle, request, receiver)
        defer { handle.finish() }
        while true {
            let result = handle.advance()
            for text in receiver.takeLines() where !text.isEmpty {
                guard line(text) else { return .stopped }
            }
            if let result {
                try check(result, handle, receiver)
                return handle.status == 200
                    ? .finished : .refused(DaemonAnswer(status: handle.status, body: receiver.body))
            }
            let left = try patience.wait(
                now: .now, lastActivity: receiver.lastActivity, isAnswered: handle.status != 0)
            handle.wait(milliseconds: Self.milliseconds(left))
        }
    }

    private func prepare(
        _ handle: borrowing CurlHandle, _ request: APIRequest, _ receiver: CurlReceiver
    ) throws(ClientError) {
        let connect = Int(limits.connect.seconds * 1000)
        var done = handle.set(CURLOPT_URL, Self.origin + request.target)
        done = done && handle.set(CURLOPT_UNIX_SOCKET_PATH, socket)
        done = done && handle.set(CURLOPT_NOSIGNAL, 1)
        done = done && handle.set(CURLOPT_CONNECTTIMEOUT_MS, connect)
        done = done && handle.set(CURLOPT_PROXY, "")
        done = done && handle.set(CURLOPT_USERAGENT, userAgent)
        done = done && handle.set(CURLOPT_PATH_AS_IS, 1)
        switch request.method {
        case .get, .delete:
            done = done && handle.set(CURLOPT_HTTPGET, 1)
        case .post, .patch:
            done = done && handle.set(CURLOPT_POST, 1)
            done = done && handle.setBody(request.body)
        }
        // Each time, for the handle remembers it.
        done = done && handle.set(CURLOPT_CUSTOMREQUEST, request.method.rawValue)
        done = done && handle.useHeaders()
        done = done && handle.deliver(to: receiver)
        done = done && handle.start()
        guard done else { throw .unavailable(detail: "libcurl refuses an option") }
    }

    /// Translates libcurl's result; returns when there is a whole answer.
    private func check(
        _ result: CURLcode, _ handle: borrowing CurlHandle, _ receiver: CurlReceiver
    ) throws(ClientError) {
        if let failure = receiver.failure { throw failure }
        switch result {
        case CURLE_OK:
            guard receiver.hasWholeHead else {
                throw .connectionLost(detail: "the head of the answer is cut")
            }
        case CURLE_COULDNT_CONNECT:
            switch handle.systemError {
            case EACCES, EPERM: throw .notPermitted(socket: socket)
            default: throw .notRunning(tried: [socket])
            }
        case CURLE_OPERATION_TIMEDOUT: throw .timedOut(after: limits.connect)
        case CURLE_UNSUPPORTED_PROTOCOL, CURLE_WEIRD_SERVER_REPLY, CURLE_HTTP2, CURLE_BAD_CONTENT_ENCODING:
            throw .badAnswer(detail: CurlHandle.text(of: result))
        default: throw .connectionLost(detail: CurlHandle.text(of: result))
        }
    }

    /// At least 1, so that the last fraction of a millisecond is waited for and not spun through.
    private static func milliseconds(_ duration: Duration) -> Int32 {
        Int32(min(max(duration.seconds * 1000, 1), 60_000))
    }
}
