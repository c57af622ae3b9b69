import HostsModel

/// A clock that a test moves by hand.
final class ManualClock: MonotonicClock {
    private struct Sleeper {
        let deadline: ContinuousClock.Instant
        let continuation: CheckedContinuation<Bool, Never>
    }

    private struct State {
        var now: ContinuousClock.Instant
        var sleepers: [Int: Sleeper] = [:]
        var next = 0
    }

    let start = ContinuousClock.now
    private let state: Locked<State>

    init() {
        state = Locked(State(now: start))
    }

    var now: ContinuousClock.Instant { state.withLock { $0.now } }

    func sleep(until deadline: ContinuousClock.Instant) async throws {
        let id = state.withLock { state in
            state.next += 1
            return state.next
        }
        let isOver = await withTaskCancellationHandler {
            await withCheckedContinuation { (continuation: CheckedContinuation<Bool, Never>) in
                let answer: Bool? = state.withLock { state in
                    if Task.isCancelled { return false }
                    if deadline <= state.now { return true }
                    state.sleepers[id] = Sleeper(deadline: deadline, continuation: continuation)
                    return nil
                }
                if let answer { continuation.resume(returning: answer) }
            }
        } onCancel: {
            let sleeper = state.withLock { $0.sleepers.removeValue(forKey: id) }
            sleeper?.continuation.resume(returning: false)
        }
        guard isOver else { throw CancellationError() }
    }

    func advance(by duration: Duration) {
        let due = state.withLock { state in
            state.now += duration
            let due = state.sleepers.filter { $0.value.deadline <= state.now }
            for id in due.keys { state.sleepers[id] = nil }
            return due.values.map(\.continuation)
        }
        for continuation in due { continuation.resume(returning: true) }
    }
}

/// Civil time that goes with a manual clock; begins at 2026-11-30T20:00:00Z.
struct ManualWall: WallClock {
    let clock: ManualClock

    var now: WallTime {
        WallTime(milliseconds: 1_796_068_800_000).advanced(by: clock.now - clock.start)
    }
}

struct NoJitter: JitterSource {
    func next() -> Double { 0 }
}
