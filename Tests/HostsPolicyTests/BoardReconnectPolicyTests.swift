import HostsPolicy
import Testing

@Suite struct BoardReconnectPolicyTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let policy: BoardReconnectPolicy
        /// The answers for the attempts from 1 on.
        let delays: [TimeInterval?]

        init(_ name: String, _ policy: BoardReconnectPolicy, _ delays: [TimeInterval?]) {
            testDescription = name
            self.policy = policy
            self.delays = delays
        }
    }

    @Test(arguments: [
        Case(
            "the default waits 2 s, 4 s, then 8 s three times", BoardReconnectPolicy(),
            [2, 4, 8, 8, 8, nil, nil]),
        Case(
            "`delays` sets the shape of the ramp", BoardReconnectPolicy(delays: [0.5, 1]),
            [0.5, 1, 1, 1, 1, nil]),
        Case(
            "`maxAttempts` sets how many there are", BoardReconnectPolicy(maxAttempts: 2, delays: [0.5]),
            [0.5, 0.5, nil]),
        Case("a schedule longer than the attempts is cut", BoardReconnectPolicy(maxAttempts: 1), [2, nil]),
        Case("no attempts means none", BoardReconnectPolicy(maxAttempts: 0), [nil, nil]),
        Case("a negative number of attempts means none", BoardReconnectPolicy(maxAttempts: -3), [nil, nil]),
        Case(
            "an empty schedule pauses all the same", BoardReconnectPolicy(maxAttempts: 2, delays: []),
            [0.05, 0.05, nil]),
        Case(
            "what is not a usable delay becomes the least one",
            BoardReconnectPolicy(delays: [0, -1, .nan, -.infinity, .leastNonzeroMagnitude]),
            [0.05, 0.05, 0.05, 0.05, 0.05, nil]),
        Case(
            "an endless delay becomes a day",
            BoardReconnectPolicy(maxAttempts: 2, delays: [.infinity, 1e300]),
            [86_400, 86_400, nil]),
    ])
    func schedule(_ c: Case) {
        for (index, delay) in c.delays.enumerated() {
            #expect(c.policy.nextDelay(attempt: index + 1) == delay, "attempt \(index + 1)")
        }
    }

    @Test(arguments: [Int.min, -1, 0, 6, Int.max])
    func `an attempt outside the range gives up`(attempt: Int) {
        #expect(BoardReconnectPolicy().nextDelay(attempt: attempt) == nil)
    }

    @Test(arguments: [Int.min, -1, 0, 1, 2, 1000, Int.max])
    func `every answer is nil or a pause that a duration can hold`(maxAttempts: Int) {
        let numbers: [TimeInterval] = [
            -.infinity, -1e300, -1, -0.0, 0, .leastNonzeroMagnitude, 1, 1e9, 1e300, .infinity, .nan,
            .signalingNaN,
        ]
        for delays in numbers.map({ [$0] }) + [[], numbers] {
            let policy = BoardReconnectPolicy(maxAttempts: maxAttempts, delays: delays)
            for attempt in [Int.min, -1, 0, 1, 2, 3, 12, 13, 1000, Int.max - 1, Int.max] {
                guard let delay = policy.nextDelay(attempt: attempt) else {
                    #expect(attempt < 1 || attempt > maxAttempts)
                    continue
                }
                #expect((1...max(maxAttempts, 1)).contains(attempt))
                #expect(
                    delay >= BoardReconnectPolicy.minimumDelay && delay <= BoardReconnectPolicy.maximumDelay)
                #expect(Duration.seconds(delay) > .zero)
            }
        }
    }

    @Test func `the parameters can be read back`() {
        let policy = BoardReconnectPolicy(maxAttempts: 7, delays: [1, 2])
        #expect(policy.maxAttempts == 7)
        #expect(policy.delays == [1, 2])
        #expect(BoardReconnectPolicy().maxAttempts == 5)
        #expect(BoardReconnectPolicy().delays == [2, 4, 8])
    }

    /// The loop of the seed, with a transport that never comes back.
    @Test func `the seed's example tries five times and then disconnects`() async throws {
        let policy = BoardReconnectPolicy()
        var transport = Transport()
        for attempt in 1... {
            guard let delay = policy.nextDelay(attempt: attempt) else {
                transport.state = .disconnected
                break
            }
            transport.state = .reconnecting(attempt: attempt)
            try await Task.sleep(for: .seconds(delay * 0))
            transport.attemptReconnect(after: delay)
        }
        #expect(transport.state == .disconnected)
        #expect(transport.waits == [2, 4, 8, 8, 8])
    }

    private struct Transport {
        enum State: Equatable {
            case connected, disconnected
            case reconnecting(attempt: Int)
        }

        var state = State.connected
        var waits: [TimeInterval] = []

        mutating func attemptReconnect(after delay: TimeInterval) { waits.append(delay) }
    }
}
