import HostsModel

/// Callers who wait for the end of a look at a host.
///
/// The reference pattern: an id, then a continuation; one resume path per id; a cancellation that comes first is remembered.
final class LookWaiters: Sendable {
    private struct State: Sendable {
        var nextID = 0
        var waiting: [HostID: [Int: CheckedContinuation<Void, Never>]] = [:]
        var cancelled: Set<Int> = []
    }

    private let state = Locked(State())

    /// Runs `start`, then waits for `end(of:)` of that host or for the cancellation of the task.
    func wait(for host: HostID, isolation: isolated (any Actor)? = #isolation, start: () -> Void) async {
        let id = state.withLock { state in
            state.nextID += 1
            return state.nextID
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isCancelled = state.withLock { state in
                    if state.cancelled.remove(id) != nil { return true }
                    state.waiting[host, default: [:]][id] = continuation
                    return false
                }
                if isCancelled { continuation.resume() } else { start() }
            }
        } onCancel: {
            cancel(id, of: host)
        }
        _ = state.withLock { $0.cancelled.remove(id) }
    }

    /// Lets everybody go who waits for this host.
    func end(of host: HostID) {
        let ended = state.withLock { $0.waiting.removeValue(forKey: host) } ?? [:]
        for continuation in ended.values { continuation.resume() }
    }

    private func cancel(_ id: Int, of host: HostID) {
        let continuation = state.withLock { state in
            let continuation = state.waiting[host]?.removeValue(forKey: id)
            if continuation == nil { state.cancelled.insert(id) }
            return continuation
        }
        continuation?.resume()
    }
}
