import CLinux

/// The present time of clocks that threads wait by, in microseconds.
enum SystemTime {
    /// CLOCK_MONOTONIC: stands still while the machine sleeps, as the time limits of calls should.
    static var monotonic: UInt64 { hosts_clock_monotonic() }

    /// The time limit of poll(2) that ends at an instant, rounded up; -1 for none.
    static func pollLimit(until microseconds: UInt64?) -> Int32 {
        guard let microseconds, microseconds != .max else { return -1 }
        let now = monotonic
        guard microseconds > now else { return 0 }
        return Int32(clamping: (microseconds - now + 999) / 1000)
    }
}

extension Duration {
    /// Whole microseconds, for calls of the system; nothing below zero.
    var microseconds: UInt64 {
        let (seconds, attoseconds) = components
        guard seconds >= 0, attoseconds >= 0 else { return 0 }
        let (whole, overflow) = UInt64(seconds).multipliedReportingOverflow(by: 1_000_000)
        return overflow ? .max : whole + UInt64(attoseconds / 1_000_000_000_000)
    }
}
