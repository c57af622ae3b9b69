import Glibc
package import HostsLog
package import HostsModel

/// Tells that something in a set of folders has changed, once it has settled.
///
/// Folders are watched, not files: editors and sync tools replace files. A folder that does not exist is watched
/// for through the nearest one above it, and one that is replaced is found again. Nothing is told about
/// what changed: whoever listens reads the folders anew and compares.
package final class FolderWatch: Sendable {
    /// How long nothing must happen before a change is told.
    package static let settleTime = Duration.milliseconds(300)
    /// A change is told after this time although others go on.
    package static let longestUnrest = Duration.seconds(3)

    /// Says "something has changed"; what is not fetched in time becomes one.
    package let changes: AsyncStream<Void>

    private let settled: AsyncStream<Void>.Continuation
    private let raw: AsyncStream<Void>
    private let clock: any MonotonicClock
    private let state: Locked<State>

    private struct State: Sendable {
        /// When something last happened.
        var lastEvent: ContinuousClock.Instant
        /// Closing it ends the thread.
        var stopDescriptor: Int32?
    }

    /// Begins to watch; what happens from now on is told when `run` runs.
    ///
    /// - Parameters:
    ///   - folders: Absolute paths; they need not exist.
    ///   - clock: Measures how long nothing has happened.
    ///   - log: Told, at `debug`, of folders that cannot be watched.
    /// - Throws: When the system gives no inotify instance, no descriptor or no thread.
    package init(folders: [String], clock: any MonotonicClock, log: Log) throws(SystemFailure) {
        (changes, settled) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
        let (raw, events) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        self.raw = raw
        self.clock = clock
        let (watcher, stop) = try InotifyLoop.make(folders: folders, log: log)
        let state = Locked(State(lastEvent: clock.now, stopDescriptor: stop))
        self.state = state
        do throws(SystemFailure) {
            try SystemFailure.startThread {
                watcher.run {
                    state.withLock { $0.lastEvent = clock.now }
                    events.yield()
                }
                events.finish()
            }
        } catch {
            watcher.close()
            // The stop descriptor is closed by `deinit`, which runs as the object is whole.
            throw error
        }
    }

    deinit {
        close()
    }

    /// Delivers changes until the task is cancelled; then the watch is closed.
    package func run() async {
        for await _ in raw {
            guard await untilSettled() else { break }
            settled.yield()
        }
        close()
        settled.finish()
    }

    /// Ends the watch; `changes` ends with it.
    package func close() {
        let stop = state.withLock { state in
            let stop = state.stopDescriptor
            state.stopDescriptor = nil
            return stop
        }
        if let stop { Glibc.close(stop) }
    }

    /// Waits until nothing has happened for a while; false when the task was cancelled.
    private func untilSettled() async -> Bool {
        let limit = clock.now.advanced(by: Self.longestUnrest)
        while true {
            let quiet = state.withLock { $0.lastEvent }.advanced(by: Self.settleTime)
            let deadline = min(quiet, limit)
            guard clock.now < deadline else { return true }
            do {
                try await clock.sleep(until: deadline)
            } catch {
                return false
            }
        }
    }
}
