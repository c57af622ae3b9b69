import HostsModel

/// Where one task on the event loop waits to be told that it is worth another look.
///
/// A signal that is raised while nobody waits is kept for the next wait; several count as one.
final class LoopSignal: Sendable {
    /// Why a wait is over.
    enum Wake: Hashable, Sendable {
        case raised, deadline, cancelled
    }

    private struct Wait: Sendable {
        let id: Int
        var continuation: CheckedContinuation<Wake, Never>?
        /// Set when the end came before the continuation.
        var early: Wake?
    }

    private struct State: Sendable {
        var isRaised = false
        var wait: Wait?
        var lastID = 0

        mutating func begin() -> Int? {
            if isRaised {
                isRaised = false
                return nil
            }
            precondition(
                wait == nil, "one task at a time waits for a signal: its owner serves one caller at a time")
            lastID += 1
            wait = Wait(id: lastID)
            return lastID
        }

        /// Stores the continuation, or answers why the wait is over already.
        mutating func install(_ continuation: CheckedContinuation<Wake, Never>) -> Wake? {
            if let early = wait?.early {
                wait = nil
                return early
            }
            wait?.continuation = continuation
            return nil
        }

        /// Ends the wait `id`, or any wait for nil.
        mutating func end(_ id: Int?, _ wake: Wake) -> CheckedContinuation<Wake, Never>? {
            guard var current = wait, id == nil || id == current.id else {
                if id == nil { isRaised = true }
                return nil
            }
            if let continuation = current.continuation {
                wait = nil
                return continuation
            }
            if current.early == nil { current.early = wake }
            wait = current
            return nil
        }
    }

    private let state = Locked(State())
    private let loop: EventLoop

    init(on loop: EventLoop) {
        self.loop = loop
    }

    /// Ends the present wait, or the next one at once.
    ///
    /// Callable from any thread.
    func raise() {
        state.withLock { $0.end(nil, .raised) }?.resume(returning: .raised)
    }

    /// Waits on the loop's thread for a signal, the deadline, or the end of the task.
    ///
    /// A wait that begins when the task is cancelled or the deadline has passed is over at once, signal or not: a
    /// peer that never stops talking would otherwise be listened to for ever. A signal that ends a wait late still
    /// counts, so an answer that came while this process was stopped is read.
    ///
    /// `isolation` keeps the closures on the caller's actor: those of the standard library's functions would
    /// otherwise run on the global executor, with a change of threads each way (Swift 6.3).
    func wait(
        until deadline: ContinuousClock.Instant, isolation: isolated (any Actor)? = #isolation
    ) async -> Wake {
        guard !Task.isCancelled else { return .cancelled }
        guard ContinuousClock.now < deadline else { return .deadline }
        guard let id = state.withLock({ $0.begin() }) else { return .raised }
        let timer = loop.schedule(at: deadline) { [self] in end(id, .deadline) }
        let wake = await withTaskCancellationHandler(
            operation: {
                await withCheckedContinuation(isolation: isolation) { continuation in
                    guard let early = state.withLock({ $0.install(continuation) }) else { return }
                    continuation.resume(returning: early)
                }
            }, onCancel: { end(id, .cancelled) }, isolation: isolation)
        loop.cancel(timer)
        return wake
    }

    private func end(_ id: Int, _ wake: Wake) {
        state.withLock { $0.end(id, wake) }?.resume(returning: wake)
    }
}
