/// Why a call to the daemon gave no document.
package enum ClientError: Error, Hashable, Sendable {
    /// The path of the socket does not fit into a Unix socket address.
    case socketPathTooLong(path: String, limit: Int)
    /// Nobody listens: no socket was found, or nothing accepts at the one that was.
    case notRunning(tried: [String])
    /// The socket, or what was asked, is not for this user.
    case notPermitted(socket: String)
    /// The daemon did not answer in time; what it was asked may still happen.
    case timedOut(after: Duration)
    /// A stream was to end after so long, and has.
    case deadlinePassed(after: Duration)
    /// The daemon answered with an error; `body` is its document as it came.
    case refused(status: Int, ErrorDocument, body: [UInt8])
    /// The connection broke before the answer was complete.
    case connectionLost(detail: String)
    /// The daemon ended a stream, as it does when it stops or when a reader is too slow.
    case streamEnded
    /// A stream was silent for longer than two heartbeats.
    case heartbeatMissed(after: Duration)
    /// What answers is not hostsd, or its answer cannot be read.
    case badAnswer(detail: String)
    /// The answer is larger than `ClientLimits.response` or one line is larger than `ClientLimits.line`.
    case tooLarge(limit: Int)
    /// libcurl cannot be used.
    case unavailable(detail: String)
}
