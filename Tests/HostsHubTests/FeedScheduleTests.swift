import HostsHub
import HostsModel
import Testing

@Suite struct FeedScheduleTests {
    private let origin = ContinuousClock.now

    @Test func `the next tick is later than now and at most one interval away`() throws {
        for hosts in [1, 3, 250, 10_000] {
            let schedule = FeedSchedule(interval: .seconds(5), origin: origin, hosts: hosts)
            for index in 0..<200 {
                let host = try #require(HostID(rawValue: "host\(index)"))
                var now = origin
                for step in 0..<20 {
                    let tick = schedule.nextTick(of: host, after: now)
                    #expect(tick > now)
                    #expect(tick - now <= .seconds(5))
                    now = step.isMultiple(of: 2) ? tick : now.advanced(by: .milliseconds(step * 311))
                }
            }
        }
    }

    @Test func `a small fleet is looked at in one burst, a large one all over the interval`() throws {
        func spread(hosts: Int) throws -> Duration {
            let schedule = FeedSchedule(interval: .seconds(5), origin: origin, hosts: hosts)
            let ticks = try (0..<hosts).map { index in
                schedule.nextTick(of: try #require(HostID(rawValue: "h\(index)")), after: origin)
            }
            let first = try #require(ticks.min())
            let last = try #require(ticks.max())
            return last - first
        }
        #expect(try spread(hosts: 10) <= FeedSchedule.spacing * 10)
        #expect(try spread(hosts: 1000) > .seconds(4))
    }
}
