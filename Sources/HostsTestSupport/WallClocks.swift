package import HostsModel

/// Civil time that stands still.
package struct FixedWallClock: WallClock {
    package let now: WallTime

    /// Makes a clock that shows 2026-11-30T20:00:00.123Z, or another time.
    package init(_ now: WallTime = WallTime(milliseconds: 1_796_068_800_123)) {
        self.now = now
    }
}

/// Civil time that goes with a manual clock; begins at 2026-11-30T20:00:00Z.
package struct ManualWallClock: WallClock {
    private let clock: ManualClock

    /// Makes a clock that is moved by moving `clock`.
    package init(_ clock: ManualClock) {
        self.clock = clock
    }

    package var now: WallTime {
        WallTime(milliseconds: 1_796_068_800_000).advanced(by: clock.now - clock.start)
    }
}
