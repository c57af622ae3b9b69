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
