import HostsModel

/// What follows the end of a hook: the table of exit codes, the waits and the time to live.
struct DeliveryPolicy: Sendable {
    /// The waits after exit 75; the last one repeats until the time to live is over.
    static let retryDelays: [Duration] = [
        .seconds(5), .seconds(30), .seconds(120), .seconds(600), .seconds(3600),
    ]
    /// The waits after a failure: it is retried twice.
    static let failureDelays: [Duration] = [.seconds(5), .seconds(30)]
    /// The part of a wait that jitter may add.
    static let jitterShare = 0.2
    /// The longest wait that can come out, jitter included.
    static let longestWait = Duration.seconds(3600 * (1 + jitterShare))
    /// How long an event is worth telling.
    static let timeToLive = Duration.seconds(24 * 3600)

    /// The next step of one delivery.
    enum Step: Equatable {
        case delivered
        case retry(after: Duration)
        /// Wait until the hooks are read anew.
        case disableHook
        case fail
        case die
    }

    /// Decides what follows an attempt.
    ///
    /// - Parameters:
    ///   - result: How the hook ended.
    ///   - delivery: With this attempt counted.
    ///   - now: Civil time.
    ///   - jitter: A number in `0..<1`.
    /// - Returns: The next step.
    static func step(after result: HookResult, _ delivery: Delivery, now: WallTime, jitter: Double) -> Step {
        switch result {
        case .delivered: return .delivered
        case .misconfigured: return .disableHook
        case .retryLater:
            let index = min(delivery.attempts - delivery.failures, retryDelays.count) - 1
            return retry(retryDelays[max(index, 0)], delivery, now, jitter)
        case .failed:
            guard delivery.failures <= failureDelays.count else { return .fail }
            return retry(failureDelays[max(delivery.failures, 1) - 1], delivery, now, jitter)
        }
    }

    static func isExpired(_ delivery: Delivery, now: WallTime) -> Bool {
        now.duration(since: delivery.created) >= timeToLive
    }

    private static func retry(_ delay: Duration, _ delivery: Delivery, _ now: WallTime, _ jitter: Double)
        -> Step
    {
        let wait = delay + delay * (jitterShare * min(max(jitter, 0), 1))
        return isExpired(delivery, now: now.advanced(by: wait)) ? .die : .retry(after: wait)
    }
}
