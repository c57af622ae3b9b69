/// One complete answer.
package struct DaemonAnswer: Hashable, Sendable {
    package let status: Int
    package let body: [UInt8]

    package init(status: Int, body: [UInt8]) {
        self.status = status
        self.body = body
    }
}

/// How a stream ended without an error of the transport.
package enum StreamOutcome: Hashable, Sendable {
    /// The reader wanted no more.
    case stopped
    /// The daemon finished it.
    case finished
    /// There was no stream: the daemon answered with an error.
    case refused(DaemonAnswer)
}

/// Carries requests to the daemon.
///
/// Calls block the thread: for a command line program, never for the daemon.
package protocol DaemonTransport: AnyObject {
    /// Makes one call and waits for the whole answer.
    ///
    /// - Throws: `.timedOut` when `timeout` passes first.
    func answer(to request: APIRequest, within timeout: Duration) throws(ClientError) -> DaemonAnswer

    /// Reads a stream of JSON lines until one side ends it.
    ///
    /// - Parameters:
    ///   - request: What to follow.
    ///   - id: Sent as `Last-Event-ID`: the stream goes on after this one.
    ///   - deadline: When to give up at last; nil for never.
    ///   - line: Is given each line that is not blank; answers whether to go on.
    /// - Returns: How the stream ended.
    /// - Throws: `.connectionLost`, `.heartbeatMissed` or `.timedOut` when it broke; `.deadlinePassed`; `.tooLarge`
    ///   for a line.
    func stream(
        _ request: APIRequest, after id: String?, until deadline: ContinuousClock.Instant?,
        line: ([UInt8]) -> Bool
    ) throws(ClientError) -> StreamOutcome
}
