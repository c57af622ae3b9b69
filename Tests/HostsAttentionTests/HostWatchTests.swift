import HostsModel
import Testing

@testable import HostsAttention

@Suite struct HostWatchTests {
    private static let refused = LinkError.connectionRefused(address: "x")
    private static let locked = LinkError.agentHasNoKeys(path: "/a")
    private static let wanted = LinkError.keyMissing(path: "/k")
    private static let soon = WallTime(milliseconds: 0)

    /// Seconds since the start, the condition then (nil: only time passes), and the alert that follows.
    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let steps: [(Int, HostCondition?, HostWatch.Alert?)]

        init(_ name: String, _ steps: (Int, HostCondition?, HostWatch.Alert?)...) {
            testDescription = name
            self.steps = steps
        }
    }

    private static func retrying(_ attempt: Int) -> HostCondition {
        .reconnecting(attempt: attempt, at: soon)
    }

    @Test(arguments: [
        Case("a short outage is not told", (0, .online, nil), (1, retrying(1), nil), (9, .online, nil)),
        Case(
            "a host that uses up its schedule is lost, and back again", (0, .online, nil),
            (1, retrying(1), nil),
            (40, .dormant(refused), .lost(refused)), (50, .dormant(refused), nil),
            (101, .online, .recovered(outage: .seconds(100)))),
        Case(
            "a host that never was online is not lost", (0, .connecting, nil), (40, .dormant(refused), nil),
            (50, .online, nil)),
        Case(
            "a long outage with three attempts is a loss", (0, .online, nil), (1, retrying(1), nil),
            (30, retrying(3), nil), (90, nil, nil), (91, nil, .lost(nil)), (200, nil, nil)),
        Case(
            "a long outage of few attempts is none", (0, .online, nil), (1, retrying(2), nil), (500, nil, nil)
        ),
        Case(
            "a server that refuses for long is a loss", (0, .online, nil),
            (1, .limited(until: soon, refused), nil), (91, nil, .lost(nil))),
        Case(
            "a need is told once for each reason", (0, .needsYou(locked), .needsYou(locked)),
            (5, .needsYou(locked), nil), (9, .needsYou(wanted), .needsYou(wanted)),
            (10, .online, .recovered(outage: .seconds(10)))),
        Case("a host that cannot be served needs the person", (0, .unsupported(refused), .needsYou(refused))),
        Case(
            "a lost host can come to need the person", (0, .online, nil),
            (1, .dormant(refused), .lost(refused)), (2, .needsYou(locked), .needsYou(locked))),
        Case(
            "sleep is no loss, and its time does not count", (0, .online, nil), (1, retrying(3), nil),
            (2, .asleep, nil), (500, nil, nil), (501, retrying(3), nil), (502, nil, nil)),
        Case(
            "who cancels the attempts knows that the host is away", (0, .online, nil), (1, retrying(3), nil),
            (2, .dormant(.cancelled), nil), (500, nil, nil), (501, .connecting, nil), (502, .online, nil)),
        Case(
            "a late probe is no outage", (0, .online, nil), (1, .checking, nil), (500, nil, nil),
            (501, .online, nil)),
        Case(
            "a host that was disabled begins anew", (0, .online, nil), (1, .dormant(refused), .lost(refused)),
            (2, .disabled, nil), (3, .connecting, nil), (4, .online, nil)),
    ])
    func steps(_ c: Case) {
        let start = ContinuousClock.now
        var watch = HostWatch()
        for (seconds, condition, expected) in c.steps {
            let now = start + .seconds(seconds)
            let alert = condition.map { watch.change(to: $0, now: now) } ?? watch.advance(to: now)
            #expect(alert == expected, "after \(seconds) s")
        }
    }
}
