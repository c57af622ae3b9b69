import HostsModel
import HostsPOSIX

/// Runs the jobs of one test on a thread outside the cooperative pool, so that the test may block.
///
/// The pool has as many threads as the machine has cores: a few tests that wait for a child or a socket there would
/// stop all others, and the timers of their time limits too.
package final class OwnThreadExecutor: TaskExecutor {
    /// As much as a thread of the pool has: tests are not shallow, least of all under a sanitizer.
    private static let stackBytes = 8 * 1024 * 1024

    private struct State: Sendable {
        var jobs: [UnownedJob] = []
        var hasThread = false
    }

    private let state = Locked(State())

    package init() {}

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let needsThread = state.withLock { state in
            state.jobs.append(job)
            defer { state.hasThread = true }
            return !state.hasThread
        }
        guard needsThread else { return }
        do {
            try DedicatedThread.start(stackBytes: Self.stackBytes) { [self] in
                while let job = next() { job.runSynchronously(on: asUnownedTaskExecutor()) }
            }
        } catch {
            preconditionFailure("a machine that runs the tests has room for one thread more: \(error)")
        }
    }

    /// The next job, or nil: the thread ends, and the next job starts another.
    private func next() -> UnownedJob? {
        state.withLock { state in
            guard state.jobs.isEmpty else { return state.jobs.removeFirst() }
            state.hasThread = false
            return nil
        }
    }
}
