package import HostsModel

/// When each host is looked at: all share one interval, each has a fixed place in it.
///
/// The places of a small fleet lie close together, so that a laptop wakes rarely; a large fleet is spread over the
/// whole interval, so that neither the network nor a bastion is hit in bursts.
package struct FeedSchedule: Hashable, Sendable {
    /// Room that one host takes in the interval.
    package static let spacing: Duration = .milliseconds(20)

    /// The time from one look to the next.
    package let interval: Duration
    private let origin: ContinuousClock.Instant
    private let window: Duration

    /// Makes a schedule.
    ///
    /// - Parameters:
    ///   - interval: The time from one look at a host to the next; at least 100 ms.
    ///   - origin: When the first interval began.
    ///   - hosts: How many hosts share it.
    package init(interval: Duration, origin: ContinuousClock.Instant, hosts: Int) {
        self.interval = max(interval, .milliseconds(100))
        self.origin = origin
        window = min(self.interval, Self.spacing * max(hosts, 1))
    }

    /// The first tick of a host that is later than `now`.
    package func nextTick(of host: HostID, after now: ContinuousClock.Instant) -> ContinuousClock.Instant {
        var digest = StableDigest()
        digest.combine(host.rawValue)
        // 16 bits place a host finely enough: an interval of 5 s in steps of 76 µs.
        let offset = window * Double(digest.value % 65_536) / 65_536
        let first = origin.advanced(by: offset)
        guard now >= first else { return first }
        let passed = ((now - first) / interval).rounded(.down)
        let tick = first.advanced(by: interval * (passed + 1))
        return tick > now ? tick : tick.advanced(by: interval)
    }
}
