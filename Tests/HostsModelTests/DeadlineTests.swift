import HostsModel
import HostsTestSupport
import Testing

/// What is waited for at most until a deadline.
@Suite struct DeadlineTests {
    @Test func `what comes first counts`() async {
        let clock = ManualClock()
        let deadline = clock.now.advanced(by: .seconds(5))
        #expect(await clock.value(until: deadline) { 7 } == 7)
        let (never, end) = AsyncStream<Void>.makeStream()
        async let late = clock.value(until: deadline) {
            for await _ in never {}
            return 8
        }
        await clock.untilSleeping(count: 1)
        clock.advance(by: .seconds(5))
        #expect(await late == nil)
        end.finish()
    }
}
