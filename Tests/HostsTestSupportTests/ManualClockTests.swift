import HostsModel
import HostsTestSupport
import Testing

@Suite struct ManualClockTests {
    @Test func `a sleeper wakes when its deadline is reached, not before`() async throws {
        let clock = ManualClock()
        let start = clock.now
        async let woken: ContinuousClock.Instant = {
            try await clock.sleep(for: .seconds(10))
            return clock.now
        }()
        await clock.untilSleeping()
        clock.advance(by: .seconds(9))
        #expect(clock.sleeperCount == 1)
        clock.advance(by: .seconds(1))
        #expect(try await woken - start == .seconds(10))
    }

    @Test func `a deadline that has passed does not sleep`() async throws {
        let clock = ManualClock()
        try await clock.sleep(until: clock.now)
        #expect(clock.sleeperCount == 0)
    }

    @Test(arguments: 0..<100)
    func `cancelling wakes with an error, early or late`(round: Int) async {
        let clock = ManualClock()
        let task = Task { try await clock.sleep(for: .seconds(1)) }
        if round.isMultiple(of: 2) { await clock.untilSleeping() }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(clock.sleeperCount == 0)
    }

    @Test func `time moves to the next deadline`() async throws {
        let clock = ManualClock()
        async let first: Void = clock.sleep(for: .seconds(3))
        async let second: Void = clock.sleep(for: .seconds(7))
        await clock.untilSleeping(count: 2)
        #expect(clock.advanceToNextDeadline() == .seconds(3))
        try await first
        #expect(clock.advanceToNextDeadline() == .seconds(4))
        try await second
        #expect(clock.advanceToNextDeadline() == nil)
    }
}
