import HostsModel

/// Timers by time; the one that is due first comes out first.
///
/// A value: it waits for nothing.
struct TimerQueue: Sendable {
    struct Timer: Hashable, Sendable {
        let host: HostID
        let id: Int
        let instant: ContinuousClock.Instant
    }

    /// Latest first, so that the next one is taken from the end.
    private var timers: [Timer] = []

    var next: ContinuousClock.Instant? { timers.last?.instant }

    mutating func insert(_ timer: Timer) {
        var low = 0
        var high = timers.count
        while low < high {
            let middle = (low + high) / 2
            if timers[middle].instant > timer.instant { low = middle + 1 } else { high = middle }
        }
        timers.insert(timer, at: low)
    }

    /// Removes and answers every timer that is due.
    mutating func takeDue(now: ContinuousClock.Instant) -> [Timer] {
        var due: [Timer] = []
        while let timer = timers.last, timer.instant <= now {
            due.append(timer)
            timers.removeLast()
        }
        return due
    }
}
