import HostsModel
import HostsTestSupport
import Testing

@testable import HostsDaemon

@Suite(.timeLimit(.minutes(1))) struct LatestStatesTests {
    /// What is asked, and whether it has ended.
    private final class Source: Sendable {
        let clock = ManualClock()
        let answers: Locked<[Int?]>
        let ended: AsyncStream<Void>
        private let end: AsyncStream<Void>.Continuation

        init(_ answers: [Int?]) {
            self.answers = Locked(answers)
            (ended, end) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
        }

        func states(after known: Int? = nil) -> AsyncStream<Int> {
            LatestStates(
                after: known, every: .seconds(1), on: clock, gist: { $0 / 10 },
                until: { [self] in end.finish() },
                ask: { [self] _ in answers.withLock { $0.count > 1 ? $0.removeFirst() : $0[0] } }
            ).states
        }

        func tick() async {
            await clock.untilSleeping(for: .seconds(1))
            clock.advance(by: .seconds(1))
        }
    }

    @Test func `each state that differs in what counts is told once, until there is none`() async {
        let source = Source([10, 11, 20, 21, 10, nil])
        var states: [Int] = []
        async let ticking: Void = { for _ in 0..<5 { await source.tick() } }()
        for await state in source.states() { states.append(state) }
        #expect(states == [10, 20, 10])
        for await _ in source.ended {}
        await ticking
    }

    @Test func `a state that is known is not told`() async {
        let source = Source([12, 20, nil])
        async let ticking: Void = { for _ in 0..<2 { await source.tick() } }()
        var states: [Int] = []
        for await state in source.states(after: 10) { states.append(state) }
        #expect(states == [20])
        await ticking
    }

    @Test func `nobody who listens ends it, even one who never has`() async {
        let source = Source([10])
        do {
            _ = source.states()
        }
        for await _ in source.ended {}
        let other = Source([10])
        for await _ in other.states() { break }
        for await _ in other.ended {}
    }
}
