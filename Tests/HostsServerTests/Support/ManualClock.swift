import HostsModel

/// A clock that the test moves.
final class ManualClock: MonotonicClock {
    private struct Sleeper: Sendable {
        let id: Int
        let deadline: ContinuousClock.Instant
        /// How long it meant to sleep.
        let duration: Duration
        let continuation: CheckedContinuation<Bool, Never>
    }

    private struct Waiter: Sendable {
        let count: Int
        let duration: Duration
        let continuation: CheckedContinuation<Void, Never>
    }

    private struct State: Sendable {
        var now = ContinuousClock.now
        var lastID = 0
        var sleepers: [Sleeper] = []
        var cancelled: Set<Int> = []
        var waiters: [Waiter] = []

        func isDue(_ waiter: Waiter) -> Bool {
            sleepers.count { $0.duration == waiter.duration } >= waiter.count
        }

        mutating func takeWaiters() -> [CheckedContinuation<Void, Never>] {
            let due = waiters.filter(isDue).map(\.continuation)
            waiters.removeAll(where: isDue)
            return due
        }
    }

    private let state = Locked(State())

    var now: ContinuousClock.Instant { state.withLock(\.now) }

    func sleep(until deadline: ContinuousClock.Instant) async throws {
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        let isOver = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let (result, waiters) = state.withLock {
                    state -> (Bool?, [CheckedContinuation<Void, Never>]) in
                    if state.cancelled.remove(id) != nil { return (false, []) }
                    if deadline <= state.now { return (true, []) }
                    state.sleepers.append(
                        Sleeper(
                            id: id, deadline: deadline, duration: state.now.duration(to: deadline),
                            continuation: continuation))
                    return (nil, state.takeWaiters())
                }
                if let result { continuation.resume(returning: result) }
                for waiter in waiters { waiter.resume() }
            }
        } onCancel: {
            let sleeper = state.withLock { state -> Sleeper? in
                guard let index = state.sleepers.firstIndex(where: { $0.id == id }) else {
                    state.cancelled.insert(id)
                    return nil
                }
                return state.sleepers.remove(at: index)
            }
            sleeper?.continuation.resume(returning: false)
        }
        guard isOver else { throw CancellationError() }
    }

    /// Moves the time on and wakes whoever is due.
    func advance(by duration: Duration) {
        let due = state.withLock { state in
            state.now = state.now.advanced(by: duration)
            let due = state.sleepers.filter { $0.deadline <= state.now }
            state.sleepers.removeAll { $0.deadline <= state.now }
            return due
        }
        for sleeper in due { sleeper.continuation.resume(returning: true) }
    }

    /// Waits until so many tasks sleep that wanted to sleep for so long.
    func untilSleeping(_ count: Int, for duration: Duration) async {
        await withCheckedContinuation { continuation in
            let isDue = state.withLock { state in
                let waiter = Waiter(count: count, duration: duration, continuation: continuation)
                if state.isDue(waiter) { return true }
                state.waiters.append(waiter)
                return false
            }
            if isDue { continuation.resume() }
        }
    }
}

/// Civil time that stands still.
struct FixedWallClock: WallClock {
    var now: WallTime { WallTime(milliseconds: 1_796_068_800_123) }
}
