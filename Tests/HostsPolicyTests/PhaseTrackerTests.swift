import HostsPolicy
import Testing

/// One hint, with the time at which it comes.
private enum Hint: Sendable {
    case announced(Bool, at: Double)
    case slept(Double, at: Double)
    case presence(Presence)
    case time(Double)
}

private struct Case: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let hints: [Hint]
    let changes: [PhaseTracker.Change]
    let phase: ActivityPhase

    init(
        _ name: String, _ hints: [Hint], _ changes: [PhaseTracker.Change], ends phase: ActivityPhase = .active
    ) {
        testDescription = name
        self.hints = hints
        self.changes = changes
        self.phase = phase
    }
}

private func changes(of tracker: inout PhaseTracker, _ hint: Hint) -> [PhaseTracker.Change] {
    switch hint {
    case .announced(let isBeginning, let now): tracker.sleepAnnounced(isBeginning: isBeginning, at: now)
    case .slept(let seconds, let now): tracker.slept(seconds, at: now)
    case .presence(let presence): tracker.presenceChanged(presence)
    case .time(let now): tracker.timeReached(now)
    }
}

private let asleep: [PhaseTracker.Change] = [.phase(.background), .willSleep]
private let awake: [PhaseTracker.Change] = [.woke(slept: nil), .phase(.active)]

@Suite struct PhaseTrackerTests {
    @Test(arguments: [
        Case("no hint at all is active", [], []),
        Case("a sleep and its end", [.announced(true, at: 1), .announced(false, at: 5)], asleep + awake),
        Case("a sleep that goes on", [.announced(true, at: 1)], asleep, ends: .background),
        Case(
            "two announcements of each are one sleep",
            [
                .announced(true, at: 1), .announced(true, at: 1), .announced(false, at: 5),
                .announced(false, at: 5),
            ], asleep + awake),
        Case("an end without a beginning is nothing", [.announced(false, at: 1)], []),
        Case(
            "the clocks end a sleep, and its end comes late",
            [.announced(true, at: 1), .slept(600, at: 602), .announced(false, at: 603)],
            asleep + [.woke(slept: 600), .phase(.active)]),
        Case(
            "a missing end is made up for after 30 s",
            [.announced(true, at: 1), .time(30.9), .time(31)], asleep + awake),
        Case(
            "a second announcement gets its own 30 s",
            [.announced(true, at: 1), .announced(true, at: 20), .time(31)], asleep, ends: .background),
        Case(
            "an end that comes after it was made up for is nothing",
            [.announced(true, at: 1), .time(31), .announced(false, at: 32)], asleep + awake),
        Case(
            "a sleep without a word of logind is told after the fact",
            [.slept(600, at: 700)], [.phase(.background), .woke(slept: 600), .phase(.active)]),
        Case(
            "its announcement that is read after the wake is no other sleep",
            [.slept(600, at: 700), .announced(true, at: 700.1), .announced(false, at: 700.1)],
            [.phase(.background), .woke(slept: 600), .phase(.active)]),
        Case(
            "an announcement that comes later is",
            [.slept(600, at: 700), .announced(true, at: 702.5)],
            [.phase(.background), .woke(slept: 600), .phase(.active)] + asleep, ends: .background),
        Case(
            "two missed sleeps are two",
            [.slept(600, at: 700), .slept(10, at: 720)],
            [
                .phase(.background), .woke(slept: 600), .phase(.active),
                .phase(.background), .woke(slept: 10), .phase(.active),
            ]),
        Case(
            "the length that is found right after the end belongs to the same sleep",
            [.announced(true, at: 1), .announced(false, at: 100), .slept(90, at: 103)], asleep + awake),
        Case(
            "it belongs to it once",
            [
                .announced(true, at: 1), .announced(false, at: 100), .slept(90, at: 101),
                .slept(3, at: 104),
            ], asleep + awake + [.phase(.background), .woke(slept: 3), .phase(.active)]),
        Case(
            "what is found later is another sleep",
            [.announced(true, at: 1), .announced(false, at: 100), .slept(90, at: 106)],
            asleep + awake + [.phase(.background), .woke(slept: 90), .phase(.active)]),
        Case("less than 2 s is no sleep", [.slept(1.9, at: 5)], []),
        Case(
            "what is no length is no sleep",
            [.slept(.nan, at: 5), .slept(.infinity, at: 5), .slept(-7, at: 5)], []),
        Case(
            "a time that is no number ends a sleep rather than keep it",
            [.announced(true, at: .nan), .time(.nan)], asleep + awake),
        Case("time alone does nothing", [.time(1e9)], []),
        Case(
            "a locked session is inactive, an unlocked one active",
            [.presence(.away(.locked)), .presence(.active)], [.phase(.inactive), .phase(.active)]),
        Case(
            "another reason to be away is no change",
            [.presence(.away(.idle)), .presence(.away(.locked))], [.phase(.inactive)], ends: .inactive),
        Case(
            "a login manager that goes leaves the phase active",
            [.presence(.away(.idle)), .presence(.unknown)], [.phase(.inactive), .phase(.active)]),
        Case(
            "what happens to the person in a sleep is told by the wake",
            [.announced(true, at: 1), .presence(.away(.locked)), .announced(false, at: 9)],
            asleep + [.woke(slept: nil), .phase(.inactive)], ends: .inactive),
        Case(
            "a missed sleep of a locked machine comes back locked",
            [.presence(.away(.locked)), .slept(60, at: 100)],
            [.phase(.inactive), .phase(.background), .woke(slept: 60), .phase(.inactive)], ends: .inactive),
    ])
    private func decision(_ c: Case) {
        var tracker = PhaseTracker()
        let told = c.hints.flatMap { changes(of: &tracker, $0) }
        #expect(told == c.changes)
        #expect(tracker.phase == c.phase)
    }

    @Test(arguments: AwayReason.allCases) func `every reason to be away is inactive`(_ reason: AwayReason) {
        var tracker = PhaseTracker()
        let told = tracker.presenceChanged(.away(reason))
        #expect(told == [.phase(.inactive)])
    }

    @Test func `the deadline is that of the announcement, and only in a sleep`() {
        var tracker = PhaseTracker()
        #expect(tracker.deadline == nil)
        _ = tracker.sleepAnnounced(isBeginning: true, at: 7)
        #expect(tracker.deadline == 7 + PhaseTracker.announcementLimit)
        _ = tracker.sleepAnnounced(isBeginning: false, at: 9)
        #expect(tracker.deadline == nil)
    }

    /// Whatever comes: each sleep has one beginning and one end, and the last phase told is the phase.
    @Test(arguments: 0..<200) func `any sequence of hints tells whole sleeps`(_ seed: UInt64) {
        var state = seed &* 0x9E37_79B9_7F4A_7C15 &+ 1
        func next(_ bound: UInt64) -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return (state >> 33) % bound
        }
        var tracker = PhaseTracker()
        var (told, now, isAsleep) = (ActivityPhase.active, 0.0, false)
        for _ in 0..<300 {
            now += Double(next(40))
            let hint: Hint
            switch next(5) {
            case 0: hint = .announced(true, at: now)
            case 1: hint = .announced(false, at: now)
            case 2: hint = .slept(Double(next(100)), at: now)
            case 3: hint = .presence(next(2) == 0 ? .active : .away(.idle))
            default: hint = .time(now)
            }
            for change in changes(of: &tracker, hint) {
                switch change {
                case .phase(let phase):
                    #expect(phase != told)
                    if phase == .background { isAsleep = true } else { #expect(!isAsleep) }
                    told = phase
                case .willSleep: #expect(isAsleep)
                case .woke:
                    #expect(isAsleep)
                    isAsleep = false
                }
            }
            #expect(told == tracker.phase)
        }
    }
}
