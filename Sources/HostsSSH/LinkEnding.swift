import HostsModel

/// Remembers why a link ended, and tells whoever waits for it.
final class LinkEnding: Sendable {
    private struct State: Sendable {
        var error: LinkError?
        var nextID = 0
        var waiters: [Int: CheckedContinuation<LinkError, Never>] = [:]
        var cancelled: Set<Int> = []
    }

    private let state = Locked(State())

    /// Why it ended; nil while it lives.
    var error: LinkError? { state.withLock { $0.error } }

    /// Ends it; only the first reason counts.
    func end(_ error: LinkError) {
        let waiters = state.withLock { state -> [CheckedContinuation<LinkError, Never>] in
            guard state.error == nil else { return [] }
            state.error = error
            defer { state.waiters = [:] }
            return Array(state.waiters.values)
        }
        for waiter in waiters { waiter.resume(returning: error) }
    }

    /// Waits for the end; `.cancelled` when the waiting task is cancelled first.
    func wait() async -> LinkError {
        let id = state.withLock { state in
            state.nextID += 1
            return state.nextID
        }
        let error = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let early = state.withLock { state -> LinkError? in
                    if let error = state.error { return error }
                    if state.cancelled.contains(id) { return .cancelled }
                    state.waiters[id] = continuation
                    return nil
                }
                if let early { continuation.resume(returning: early) }
            }
        } onCancel: {
            let waiter = state.withLock { state in
                state.cancelled.insert(id)
                return state.waiters.removeValue(forKey: id)
            }
            waiter?.resume(returning: .cancelled)
        }
        _ = state.withLock { $0.cancelled.remove(id) }
        return error
    }
}
