import HostsHub
import HostsModel

/// Waits until everything that the hub has told up to now is handled.
final class EventMarks: Sendable {
    private struct State: Sendable {
        var last = 0
        var waiting: [Int: AsyncStream<Void>.Continuation] = [:]
    }

    private let state = Locked(State())

    /// Takes note that a mark has come through, with all that was told before it.
    func reached(_ mark: Int) {
        let continuation = state.withLock { $0.waiting.removeValue(forKey: mark) }
        continuation?.finish()
    }

    /// Waits for what the hub has told so far to be handled, at most until `deadline`.
    func untilHandled(
        by hub: ConnectionHub, clock: any MonotonicClock, until deadline: ContinuousClock.Instant
    ) async {
        let (handled, continuation) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let mark = state.withLock { state in
            state.last += 1
            state.waiting[state.last] = continuation
            return state.last
        }
        await hub.mark(mark)
        _ = await clock.value(until: deadline) { for await _ in handled {} }
        state.withLock { $0.waiting[mark] = nil }
    }
}
