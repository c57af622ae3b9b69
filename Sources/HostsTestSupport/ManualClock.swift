import HostsModel

/// A clock that a test moves by hand.
///
/// Sleepers wake in the order of their deadlines, within the `advance` that reaches them.
package final class ManualClock: MonotonicClock {
    fileprivate struct Sleeper: Sendable {
        let deadline: ContinuousClock.Instant
        /// How long it meant to sleep.
        let duration: Duration
        let continuation: CheckedContinuation<Void, any Error>
    }

    fileprivate struct Watcher: Sendable {
        let count: Int
        /// Only sleepers count that meant to sleep for so long; nil: all do.
        let duration: Duration?
        let continuation: CheckedContinuation<Void, Never>
    }

    fileprivate struct State: Sendable {
        var now: ContinuousClock.Instant
        var nextID = 0
        var sleepers: [Int: Sleeper] = [:]
        var cancelled: Set<Int> = []
        var watchers: [Watcher] = []
    }

    /// Where the clock stood at first.
    package let start: ContinuousClock.Instant
    private let state: Locked<State>

    /// Makes a clock that stands at an arbitrary instant.
    package init() {
        start = ContinuousClock.now
        state = Locked(State(now: start))
    }

    package var now: ContinuousClock.Instant { state.withLock { $0.now } }

    /// How many tasks sleep now.
    package var sleeperCount: Int { state.withLock { $0.sleepers.count } }

    /// The deadline that comes first, if anybody sleeps.
    package var nextDeadline: ContinuousClock.Instant? {
        state.withLock { $0.sleepers.values.map(\.deadline).min() }
    }

    /// Moves time on and wakes whoever is due.
    package func advance(by duration: Duration) {
        let due = state.withLock { state in
            state.now = state.now.advanced(by: duration)
            return state.takeDue()
        }
        for sleeper in due { sleeper.continuation.resume() }
    }

    /// Moves time on to the next deadline.
    ///
    /// - Returns: How far; nil if nobody sleeps.
    @discardableResult
    package func advanceToNextDeadline() -> Duration? {
        guard let deadline = nextDeadline else { return nil }
        let step = max(.zero, deadline - now)
        advance(by: step)
        return step
    }

    /// Waits until enough tasks sleep.
    ///
    /// - Parameters:
    ///   - count: How many at least.
    ///   - duration: Only those count that meant to sleep for so long; nil: all do.
    package func untilSleeping(count: Int = 1, for duration: Duration? = nil) async {
        await withCheckedContinuation { continuation in
            let watcher = Watcher(count: count, duration: duration, continuation: continuation)
            let isReached = state.withLock { state in
                if state.isReached(watcher) { return true }
                state.watchers.append(watcher)
                return false
            }
            if isReached { continuation.resume() }
        }
    }

    package func sleep(until deadline: ContinuousClock.Instant) async throws {
        let id = state.withLock { state in
            state.nextID += 1
            return state.nextID
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let outcome = state.withLock { $0.add(continuation, until: deadline, id: id) }
                switch outcome {
                case .asleep(let watchers): for watcher in watchers { watcher.resume() }
                case .due: continuation.resume()
                case .cancelled: continuation.resume(throwing: CancellationError())
                }
            }
        } onCancel: {
            let sleeper = state.withLock { state in
                let sleeper = state.sleepers.removeValue(forKey: id)
                if sleeper == nil { state.cancelled.insert(id) }
                return sleeper
            }
            sleeper?.continuation.resume(throwing: CancellationError())
        }
        _ = state.withLock { $0.cancelled.remove(id) }
    }
}

extension ManualClock {
    fileprivate enum Outcome: Sendable {
        case asleep([CheckedContinuation<Void, Never>])
        case due
        case cancelled
    }
}

extension ManualClock.State {
    fileprivate func isReached(_ watcher: ManualClock.Watcher) -> Bool {
        let counted = sleepers.values.count {
            watcher.duration == nil || $0.duration == watcher.duration
        }
        return counted >= watcher.count
    }

    fileprivate mutating func add(
        _ continuation: CheckedContinuation<Void, any Error>, until deadline: ContinuousClock.Instant, id: Int
    ) -> ManualClock.Outcome {
        if cancelled.remove(id) != nil { return .cancelled }
        if deadline <= now { return .due }
        sleepers[id] = ManualClock.Sleeper(
            deadline: deadline, duration: deadline - now, continuation: continuation)
        let reached = watchers.filter(isReached)
        watchers.removeAll(where: isReached)
        return .asleep(reached.map(\.continuation))
    }

    fileprivate mutating func takeDue() -> [ManualClock.Sleeper] {
        let due = sleepers.filter { $0.value.deadline <= now }
        for id in due.keys { sleepers[id] = nil }
        return due.values.sorted { $0.deadline < $1.deadline }
    }
}
