import HostsHub
import HostsModel

/// The states that something comes to, found by asking again and again; for one listener.
///
/// The asking begins at once and ends when nobody listens any more, or when there is no state left.
struct LatestStates<State: Sendable & Hashable>: Sendable {
    /// How many states wait for a listener that is slow; of more, the newest are kept.
    static var backlog: Int { 16 }

    /// Each state that differs from the one before.
    let states: AsyncStream<State>

    /// Begins to ask.
    ///
    /// - Parameters:
    ///   - known: A state that is known already; nil: the first one is told.
    ///   - interval: Between two questions.
    ///   - clock: What the time passes on.
    ///   - hints: Each is a reason to ask at once, and goes into every question until the next; none if nil.
    ///   - gist: What of a state counts.
    ///   - end: Is called once, after the last question.
    ///   - ask: The question; nil ends it.
    init(
        after known: State? = nil, every interval: Duration, on clock: any MonotonicClock,
        hints: AsyncStream<HubLifecycle>? = nil, gist: @escaping @Sendable (State) -> State = { $0 },
        until end: @escaping @Sendable () async -> Void,
        ask: @escaping @Sendable (HubLifecycle?) async -> State?
    ) {
        let (states, continuation) = AsyncStream<State>.makeStream(
            bufferingPolicy: .bufferingNewest(Self.backlog))
        self.states = states
        let asking = Task {
            await Self.reasons(every: interval, on: clock, hints) { reasons in
                var last = known.map(gist)
                var hint: HubLifecycle?
                for await reason in reasons {
                    hint = reason ?? hint
                    guard let state = await ask(hint), !Task.isCancelled else { return }
                    let new = gist(state)
                    if new != last { continuation.yield(state) }
                    last = new
                }
            }
            continuation.finish()
            await end()
        }
        // Also called when the listener is dropped without having listened.
        continuation.onTermination = { _ in asking.cancel() }
    }

    /// Gives one stream of the hints and of the passing of time, for as long as it is read.
    private static func reasons(
        every interval: Duration, on clock: any MonotonicClock, _ hints: AsyncStream<HubLifecycle>?,
        _ read: @escaping @Sendable (AsyncStream<HubLifecycle?>) async -> Void
    ) async {
        let (reasons, sink) = AsyncStream<HubLifecycle?>.makeStream(
            bufferingPolicy: .bufferingNewest(backlog))
        await withTaskGroup(of: Bool.self) { group in
            group.addTask {
                await read(reasons)
                return true
            }
            if let hints {
                group.addTask {
                    for await hint in hints { sink.yield(hint) }
                    return false
                }
            }
            group.addTask {
                sink.yield(nil)
                do {
                    while true {
                        try await clock.sleep(for: interval)
                        sink.yield(nil)
                    }
                } catch {
                    return false  // cancelled: nobody listens
                }
            }
            while let isRead = await group.next(), !isRead {}
            group.cancelAll()
        }
    }
}
