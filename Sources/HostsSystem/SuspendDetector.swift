package import HostsPolicy

/// What three clocks show at one moment, in seconds; only differences count.
package struct ClockReadings: Hashable, Sendable {
    /// CLOCK_BOOTTIME: counts while the machine sleeps.
    package var boot: TimeInterval
    /// CLOCK_MONOTONIC: does not.
    package var monotonic: TimeInterval
    /// CLOCK_REALTIME: is set by people and NTP.
    package var wall: TimeInterval

    package init(boot: TimeInterval, monotonic: TimeInterval, wall: TimeInterval) {
        self.boot = boot
        self.monotonic = monotonic
        self.wall = wall
    }
}

/// Finds sleeps by comparing clocks: the second source, for machines without a login manager.
///
/// - BOOTTIME counts through a sleep and MONOTONIC does not: when their difference grows by 2 s or more, the machine
///   has slept for so long. No setting of the wall clock can look like that.
/// - On some machines MONOTONIC goes on in s2idle, and a process that is stopped sees no growth either. Then much more
///   time has passed between two comparisons than between two ticks: nothing ran, which is a sleep to us.
/// - The wall clock against MONOTONIC is the third hint: in a virtual machine that is paused all other clocks stand,
///   and it is set afterwards. As NTP and people set it too, it says nothing alone.
package struct SuspendDetector: Hashable, Sendable {
    /// What a comparison has found.
    package enum Finding: Hashable, Sendable {
        /// A sleep of so many seconds.
        case slept(TimeInterval)
        /// The wall clock was set by so many seconds, forward or back.
        case wallClockSet(by: TimeInterval)
    }

    /// Shortest sleep, and shortest step of the wall clock, in seconds.
    package static let shortest: TimeInterval = PhaseTracker.shortestSleep
    /// Seconds between two comparisons after which nothing has run; four times the interval of `SuspendClock`.
    package static let longestGap: TimeInterval = 60
    /// Seconds for which growth below `shortest` is kept, as a kernel may count one sleep in two parts.
    package static let partsWindow: TimeInterval = 60

    private var last: ClockReadings
    /// BOOTTIME minus MONOTONIC when the growth was last taken account of.
    private var base: TimeInterval
    /// When `base` was set, on MONOTONIC.
    private var baseSetAt: TimeInterval

    /// Begins with the present readings.
    package init(_ readings: ClockReadings) {
        last = readings
        base = readings.boot - readings.monotonic
        baseSetAt = readings.monotonic
    }

    /// Compares the clocks with what they showed before.
    ///
    /// - Parameter now: What they show now; readings that are no numbers change nothing.
    /// - Returns: What was found; a sleep goes before the step of the wall clock that may come with it.
    package mutating func compare(_ now: ClockReadings) -> Finding? {
        guard now.boot.isFinite, now.monotonic.isFinite, now.wall.isFinite else { return nil }
        let before = last
        last = now
        let offset = now.boot - now.monotonic
        let growth = offset - base
        let elapsed = now.monotonic - before.monotonic
        if growth >= Self.shortest {
            rebase(offset, at: now.monotonic)
            return .slept(growth)
        }
        if now.monotonic - baseSetAt >= Self.partsWindow {
            // The difference never shrinks: less of it means that the clocks were read too far apart.
            rebase(max(offset, base), at: now.monotonic)
        }
        if elapsed >= Self.longestGap { return .slept(elapsed) }
        let step = (now.wall - before.wall) - (now.boot - before.boot)
        return abs(step) >= Self.shortest ? .wallClockSet(by: step) : nil
    }

    private mutating func rebase(_ offset: TimeInterval, at monotonic: TimeInterval) {
        base = offset
        baseSetAt = monotonic
    }
}
