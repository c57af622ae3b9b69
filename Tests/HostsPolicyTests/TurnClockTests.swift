import HostsPolicy
import Testing

@Suite struct TurnClockTests {
    private func totals(_ agent: Double, _ person: Double, _ outOfSync: Double) -> TurnClock.Totals {
        var totals = TurnClock.Totals()
        totals.agentSeconds = agent
        totals.personSeconds = person
        totals.outOfSyncSeconds = outOfSync
        return totals
    }

    @Test func `a new clock stands at zero`() {
        let clock = TurnClock()
        #expect(clock.side == nil)
        #expect(!clock.isRunning)
        #expect(clock.totals(at: 1000) == totals(0, 0, 0))
    }

    @Test func `time counts for the side on the move`() {
        var clock = TurnClock()
        _ = clock.update(side: .white, isOutOfSync: false, at: 10)
        #expect(clock.isRunning && clock.side == .white)
        #expect(clock.totals(at: 12) == totals(2, 0, 0))
        _ = clock.update(side: .black, isOutOfSync: false, at: 15)
        #expect(clock.totals(at: 18) == totals(5, 3, 0))
    }

    @Test func `while out of sync it counts for neither side`() {
        var clock = TurnClock()
        _ = clock.update(side: .white, isOutOfSync: false, at: 0)
        let entered = clock.update(side: nil, isOutOfSync: true, at: 5)
        #expect(entered == .pauseClock)
        #expect(!clock.isRunning && clock.isOutOfSync && clock.side == .white)
        let stayed = clock.update(side: .black, isOutOfSync: true, at: 50)
        #expect(stayed == .none)
        #expect(clock.totals(at: 65) == totals(5, 0, 60))
    }

    @Test func `a turn that ended out of sight resumes on the person's side`() {
        var clock = TurnClock()
        _ = clock.update(side: .white, isOutOfSync: false, at: 0)
        _ = clock.update(side: nil, isOutOfSync: true, at: 5)
        let left = clock.update(side: .black, isOutOfSync: false, at: 65)
        #expect(left == .resumeClock(color: .black))
        #expect(clock.totals(at: 75) == totals(5, 10, 60))
    }

    @Test func `an agent that went out of sight and is gone stops the clock`() {
        var clock = TurnClock()
        _ = clock.update(side: .black, isOutOfSync: false, at: 0)
        _ = clock.update(side: nil, isOutOfSync: true, at: 1)
        _ = clock.update(side: nil, isOutOfSync: false, at: 3)
        #expect(!clock.isRunning && clock.side == nil)
        #expect(clock.totals(at: 100) == totals(0, 1, 2))
    }

    @Test func `a clock that never ran does not count the time out of sync`() {
        var clock = TurnClock()
        _ = clock.update(side: nil, isOutOfSync: true, at: 0)
        let left = clock.update(side: .white, isOutOfSync: false, at: 10)
        #expect(left == .none)
        #expect(clock.isRunning)
        #expect(clock.totals(at: 11) == totals(1, 0, 0))
    }

    @Test func `time that runs backwards or is no number counts as none`() {
        var clock = TurnClock()
        _ = clock.update(side: .white, isOutOfSync: false, at: 100)
        _ = clock.update(side: .white, isOutOfSync: false, at: 40)
        #expect(clock.totals(at: 100) == totals(0, 0, 0))
        _ = clock.update(side: .white, isOutOfSync: false, at: .nan)
        _ = clock.update(side: .white, isOutOfSync: false, at: .infinity)
        #expect(clock.totals(at: 101) == totals(1, 0, 0))
    }

    @Test(arguments: 0..<50)
    func `the three figures add up to the time since the clock was started`(round: Int) {
        var clock = TurnClock()
        var now = 0.0
        _ = clock.update(side: .white, isOutOfSync: false, at: now)
        for _ in 0..<200 {
            now += Double(Int.random(in: 0..<8))
            _ = clock.update(side: Bool.random() ? .white : .black, isOutOfSync: Bool.random(), at: now)
            let totals = clock.totals(at: now)
            #expect(totals.agentSeconds + totals.personSeconds + totals.outOfSyncSeconds == now)
        }
    }
}
