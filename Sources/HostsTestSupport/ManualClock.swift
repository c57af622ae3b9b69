import HostsModel

/// A clock that a test moves by hand.
///
/// Sleepers wake in the order of their deadlines, within the `advance` that reaches them.
package final class ManualClock: MonotonicClock {
    fileprivate struct Sleeper: Sendable {
        let deadline: ContinuousClock.Instant
        let continuation: CheckedContinuation<Void, any Error>
    }

    fileprivate struct State: Sendable {
        var now: ContinuousClock.Instant
        var nextID = 0
        var sleepers: [Int: Sleeper] = [:]
        var cancelled: Set<Int> = []
        var watchers: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
    }

    private let state: Locked<State>

    /// Makes a clock that stands at an arbitrary instant.
    package init() {
        state = Locked(State(now: ContinuousClock.now))
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

    /// Waits until at least `count` tasks sleep.
    package func untilSleeping(count: Int = 1) async {
        await withCheckedContinuation { continuation in
            let isReached = state.withLock { state in
                if state.sleepers.count >= count { return true }
                state.watchers.append((count, continuation))
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
                let sleeper = Sleeper(deadline: deadline, continuation: continuation)
                let outcome = state.withLock { $0.add(sleeper, id: id) }
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
    fileprivate mutating func add(_ sleeper: ManualClock.Sleeper, id: Int) -> ManualClock.Outcome {
        if cancelled.remove(id) != nil { return .cancelled }
        if sleeper.deadline <= now { return .due }
        sleepers[id] = sleeper
        let reached = watchers.filter { $0.count <= sleepers.count }
        watchers.removeAll { $0.count <= sleepers.count }
        return .asleep(reached.map(\.continuation))
    }

    fileprivate mutating func takeDue() -> [ManualClock.Sleeper] {
        let due = sleepers.filter { $0.value.deadline <= now }
        for id in due.keys { sleepers[id] = nil }
        return due.values.sorted { $0.deadline < $1.deadline }
    }
}
