/// A clock whose instants count through suspend; the only time that deadlines are made of.
///
/// The real one is `ContinuousClock` (`CLOCK_BOOTTIME` on Linux); tests move theirs by hand.
package protocol MonotonicClock: Sendable {
    /// The present instant.
    var now: ContinuousClock.Instant { get }

    /// Waits until `deadline`.
    ///
    /// - Throws: `CancellationError` when the task is cancelled first.
    func sleep(until deadline: ContinuousClock.Instant) async throws
}

extension MonotonicClock {
    /// Waits for `duration`, counted from now.
    ///
    /// - Throws: `CancellationError` when the task is cancelled first.
    package func sleep(for duration: Duration) async throws {
        try await sleep(until: now.advanced(by: duration))
    }

    /// Runs something, at most until a deadline.
    ///
    /// - Parameters:
    ///   - deadline: When it is cancelled; it is waited for then.
    ///   - operation: Ends soon after its task is cancelled.
    /// - Returns: What it gives; nil when the deadline came first, or the task was cancelled.
    package func value<Value: Sendable>(
        until deadline: ContinuousClock.Instant, of operation: @escaping @Sendable () async -> Value
    ) async -> Value? {
        await withTaskGroup(of: Value?.self) { group in
            group.addTask { await operation() }
            group.addTask {
                // Cancelled when the operation came first: that is the end of the wait, too.
                do { try await sleep(until: deadline) } catch { return nil }
                return nil
            }
            defer { group.cancelAll() }
            return await group.next() ?? nil
        }
    }
}

/// `CLOCK_BOOTTIME` through the standard library's `ContinuousClock`.
package struct SystemClock: MonotonicClock {
    private let clock = ContinuousClock()

    package init() {}

    package var now: ContinuousClock.Instant { clock.now }

    package func sleep(until deadline: ContinuousClock.Instant) async throws {
        try await clock.sleep(until: deadline)
    }
}

/// A point in civil time: milliseconds since 1970-01-01 00:00 UTC.
///
/// For people and records, never for deadlines.
package struct WallTime: Hashable, Comparable, Sendable {
    package let milliseconds: Int64

    package init(milliseconds: Int64) {
        self.milliseconds = milliseconds
    }

    package static func < (left: WallTime, right: WallTime) -> Bool { left.milliseconds < right.milliseconds }

    /// The time that passed from `other` to this; negative when the clock was set back.
    package func duration(since other: WallTime) -> Duration {
        .milliseconds(milliseconds.subtractingReportingOverflow(other.milliseconds).partialValue)
    }

    package func advanced(by duration: Duration) -> WallTime {
        WallTime(milliseconds: milliseconds &+ Int64(duration.seconds * 1000))
    }
}

/// Where civil time comes from.
package protocol WallClock: Sendable {
    /// The present time.
    var now: WallTime { get }
}

/// Where jitter comes from.
package protocol JitterSource: Sendable {
    /// A number in `0..<1`.
    func next() -> Double
}

/// Uniform jitter from the system's generator.
package struct SystemJitter: JitterSource {
    package init() {}

    package func next() -> Double { Double.random(in: 0..<1) }
}

extension Duration {
    /// The length in seconds, for a place that leaves the type system (JSON, logs, a policy of the seeds).
    package var seconds: Double {
        let parts = components
        return Double(parts.seconds) + Double(parts.attoseconds) * 1e-18
    }
}
