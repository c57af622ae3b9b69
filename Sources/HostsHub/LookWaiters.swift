import HostsModel

/// Callers who wait for the end of a look at a host.
///
/// A caller takes a place before it causes the look, and then waits: nothing of the caller's runs in here, so there is no
/// question on which executor it does. An end or a cancellation that comes before the wait is remembered.
final class LookWaiters: Sendable {
    /// The right to be told of the end of the next look at a host.
    struct Place: Hashable, Sendable {
        fileprivate let host: HostID
        fileprivate let id: Int
    }

    private struct State: Sendable {
        var nextID = 0
        /// Every place that was not told yet, with its continuation once its owner waits.
        var open: [HostID: [Int: CheckedContinuation<Void, Never>?]] = [:]

        /// Stores the continuation; false when there is nothing to wait for any more.
        mutating func install(_ continuation: CheckedContinuation<Void, Never>, at place: Place) -> Bool {
            guard open[place.host]?[place.id] != nil else { return false }
            open[place.host]?[place.id] = .some(continuation)
            return true
        }
    }

    private let state = Locked(State())

    /// Takes a place, which must then be waited at.
    func place(for host: HostID) -> Place {
        state.withLock { state in
            state.nextID += 1
            state.open[host, default: [:]][state.nextID] = .some(nil)
            return Place(host: host, id: state.nextID)
        }
    }

    /// Waits until a look at the host has ended since the place was taken, or the task is cancelled.
    func wait(at place: Place) async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isInstalled = state.withLock { $0.install(continuation, at: place) }
                if !isInstalled { continuation.resume() }
            }
        } onCancel: {
            let continuation = state.withLock { $0.open[place.host]?.removeValue(forKey: place.id) }
            continuation??.resume()
        }
    }

    /// Lets everybody go who waits for this host.
    func end(of host: HostID) {
        let ended = state.withLock { $0.open.removeValue(forKey: host) } ?? [:]
        for continuation in ended.values { continuation?.resume() }
    }
}
