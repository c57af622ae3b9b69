/// A time in seconds; the same type as Foundation's, declared here because this module imports nothing.
public typealias TimeInterval = Double

/// The schedule for reconnecting after an unexpected drop of a link (seed 000).
///
/// A drop is unexpected when neither the person nor the program ended the link. How long to wait and when to stop are
/// a matter of patience, so both are parameters. The default waits 2, 4, 8, 8 and 8 s, then gives up.
///
/// The policy is total: no value of its parameters traps, and none makes a loop without a pause.
public struct BoardReconnectPolicy: Hashable, Sendable {
    /// Shortest wait, in seconds, that ever comes out; what is not a usable delay (negative, zero, not
    /// finite) becomes this, so that no schedule makes a hot loop.
    public static let minimumDelay: TimeInterval = 0.05

    /// Longest wait in seconds; more is cut to it, so that every delay converts to a `Duration`.
    public static let maximumDelay: TimeInterval = 86_400

    /// How many attempts there are; zero or less means none.
    public let maxAttempts: Int

    /// The waits before the attempts, in seconds; the last one repeats.
    public let delays: [TimeInterval]

    /// Makes a schedule.
    ///
    /// - Parameters:
    ///   - maxAttempts: The number of attempts before giving up.
    ///   - delays: The shape of the ramp in seconds. Empty means `minimumDelay` each time.
    public init(maxAttempts: Int = 5, delays: [TimeInterval] = [2, 4, 8]) {
        self.maxAttempts = maxAttempts
        self.delays = delays
    }

    /// The wait before an attempt.
    ///
    /// - Parameter attempt: Counts from 1.
    /// - Returns: The wait in seconds; nil outside `1...maxAttempts`.
    public func nextDelay(attempt: Int) -> TimeInterval? {
        guard attempt >= 1, attempt <= maxAttempts else { return nil }
        guard let last = delays.last else { return Self.minimumDelay }
        return Self.usable(attempt <= delays.count ? delays[attempt - 1] : last)
    }

    private static func usable(_ delay: TimeInterval) -> TimeInterval {
        guard !delay.isNaN else { return minimumDelay }
        return min(max(delay, minimumDelay), maximumDelay)
    }
}
