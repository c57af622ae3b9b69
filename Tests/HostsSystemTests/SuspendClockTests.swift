import HostsModel
import HostsSystem
import Testing

private struct Case: Sendable, CustomTestStringConvertible {
    /// How far each clock goes from one comparison to the next.
    struct Step: Sendable {
        let boot: Double
        let monotonic: Double
        let wall: Double
    }

    let testDescription: String
    let steps: [Step]
    let findings: [SuspendDetector.Finding?]

    init(
        _ name: String, _ steps: [(boot: Double, monotonic: Double, wall: Double)],
        _ findings: [SuspendDetector.Finding?]
    ) {
        testDescription = name
        self.steps = steps.map { Step(boot: $0.boot, monotonic: $0.monotonic, wall: $0.wall) }
        self.findings = findings
    }
}

@Suite struct SuspendDetectorTests {
    @Test(arguments: [
        Case(
            "clocks that go together", [(15, 15, 15), (15, 15, 15.1), (0.25, 0.25, 0.25)], [nil, nil, nil]),
        Case("a sleep of an hour", [(3615, 15, 3615)], [.slept(3600)]),
        Case("a sleep is told once", [(3615, 15, 3615), (15, 15, 15)], [.slept(3600), nil]),
        Case("two sleeps are two", [(35, 15, 35), (25, 15, 25)], [.slept(20), .slept(10)]),
        Case("2 s is a sleep, less is none", [(17, 15, 17), (16.5, 15, 16.5)], [.slept(2), nil]),
        Case("growth in two halves is one sleep", [(16.5, 15, 16.5), (1.5, 0.5, 1.5)], [nil, .slept(2.5)]),
        Case(
            "small growth that is far apart never adds up",
            [(16.5, 15, 16.5), (30, 30, 30), (15, 15, 15), (15, 15, 15), (16.5, 15, 16.5)],
            [nil, nil, nil, nil, nil]),
        Case(
            "NTP sets the clock by an hour, there and back", [(15, 15, 3615), (15, 15, -3585)],
            [.wallClockSet(by: 3600), .wallClockSet(by: -3600)]),
        Case("NTP slews the clock", [(15, 15, 15.5), (15, 15, 15.5)], [nil, nil]),
        Case("a sleep goes before the step that comes with it", [(115, 15, 4000)], [.slept(100)]),
        Case(
            "a virtual machine that was paused, and its clock set afterwards",
            [(15, 15, 15), (1, 1, 601)], [nil, .wallClockSet(by: 600)]),
        Case("s2idle where MONOTONIC goes on", [(3600, 3600, 3600)], [.slept(3600)]),
        Case("a busy machine is no sleep", [(59, 59, 59)], [nil]),
        Case("a clock that goes back is no sleep", [(10, 15, 10), (15, 15, 15)], [nil, nil]),
        Case(
            "clocks that were read too far apart are no sleep, then or later",
            [(12, 15, 12), (18, 15, 18), (47, 50, 47), (18, 15, 18)], [nil, nil, nil, nil]),
        Case(
            "readings that are no numbers change nothing", [(.nan, 15, 15), (.infinity, 15, 15)], [nil, nil]),
    ])
    private func finding(_ c: Case) {
        let start = ClockReadings(boot: 1000, monotonic: 900, wall: 1.7e9)
        var detector = SuspendDetector(start)
        var readings = start
        for (step, expected) in zip(c.steps, c.findings) {
            var next = readings
            next.boot += step.boot
            next.monotonic += step.monotonic
            next.wall += step.wall
            if next.boot.isFinite { readings = next }
            let finding = detector.compare(next)
            #expect(rounded(finding) == rounded(expected))
        }
    }

    /// The wall clock is far from zero, where a double has no microseconds.
    private func rounded(_ finding: SuspendDetector.Finding?) -> SuspendDetector.Finding? {
        switch finding {
        case .slept(let seconds): .slept((seconds * 1000).rounded())
        case .wallClockSet(let seconds): .wallClockSet(by: (seconds * 1000).rounded())
        case nil: nil
        }
    }
}

@Suite(.timeLimit(.minutes(5))) struct SuspendClockTests {
    /// Clocks that are moved by hand.
    private final class Clocks: Sendable {
        private let now = Locked(ClockReadings(boot: 100, monotonic: 50, wall: 1000))

        var readings: ClockReadings { now.withLock { $0 } }

        func sleep(_ seconds: Double) {
            now.withLock { readings in
                readings.boot += seconds
                readings.wall += seconds
            }
        }
    }

    @Test func `who asks first is told of the sleep, and nobody else`() throws {
        let clocks = Clocks()
        let clock = try SuspendClock(readings: { clocks.readings })
        #expect(clock.compare() == nil)
        clocks.sleep(30)
        #expect(clock.compare() == .slept(30))
        #expect(clock.compare() == nil)
        clock.close()
    }

    @Test func `the clocks of the system go together, and what is closed ends its stream`() async throws {
        for _ in 0..<20 {
            let clock = try SuspendClock()
            #expect(clock.compare() == nil)
            clock.close()
            var findings = clock.findings.makeAsyncIterator()
            while await findings.next() != nil {}
        }
    }
}
