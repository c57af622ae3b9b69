import HostsModel

/// "Something has changed": wakes one waiter; a signal without one is kept for the next.
final class WakeSignal: Sendable {
    private enum State {
        case clear
        /// Signalled, and nobody has waited since.
        case set
        case waiting(CheckedContinuation<Void, Never>)
    }

    private let state = Locked(State.clear)

    /// Wakes the waiter, or the next one.
    func set() {
        resume { $0 = .set }
    }

    /// Waits for a signal, or until the task is cancelled.
    func wait() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isDue = state.withLock { state in
                    if case .set = state {
                        state = .clear
                        return true
                    }
                    // A cancellation that came first has found nobody to wake.
                    if Task.isCancelled { return true }
                    state = .waiting(continuation)
                    return false
                }
                if isDue { continuation.resume() }
            }
        } onCancel: {
            resume { _ in }
        }
    }

    private func resume(otherwise change: (inout State) -> Void) {
        let waiter: CheckedContinuation<Void, Never>? = state.withLock { state in
            guard case .waiting(let waiter) = state else {
                change(&state)
                return nil
            }
            state = .clear
            return waiter
        }
        waiter?.resume()
    }
}

extension MonotonicClock {
    /// Waits for a signal, at most until `deadline`; nil waits for as long as it takes.
    func wait(for signal: WakeSignal, until deadline: ContinuousClock.Instant?) async {
        guard let deadline else { return await signal.wait() }
        _ = await value(until: deadline) { await signal.wait() }
    }
}
