import HostsModel

/// Decides how long a stream is waited for, and when it is given up.
struct StreamPatience {
    let limits: ClientLimits
    /// When the request was sent.
    let begin: ContinuousClock.Instant
    /// When it ends, even if it lives.
    let deadline: ContinuousClock.Instant?

    /// How long to wait for the next byte.
    ///
    /// - Parameters:
    ///   - now: The present.
    ///   - lastActivity: When the last byte came; a heartbeat is one.
    ///   - isAnswered: Whether the head of the answer has come.
    /// - Returns: More than nothing.
    /// - Throws: `.timedOut`, `.heartbeatMissed` or `.deadlinePassed` when the stream is over.
    func wait(
        now: ContinuousClock.Instant, lastActivity: ContinuousClock.Instant, isAnswered: Bool
    ) throws(ClientError) -> Duration {
        let patience = isAnswered ? limits.silence : limits.call
        let left = now.duration(to: max(lastActivity, begin).advanced(by: patience))
        guard left > .zero else {
            throw isAnswered ? .heartbeatMissed(after: patience) : .timedOut(after: patience)
        }
        guard let deadline else { return left }
        guard now < deadline else { throw .deadlinePassed(after: begin.duration(to: deadline)) }
        return min(left, now.duration(to: deadline))
    }
}
