import Glibc
import HostsModel
import HostsPOSIX

/// A serial executor on a thread of its own, for an actor whose calls block on the disk.
///
/// Jobs run in the order in which they come. The thread ends when the executor is released.
final class ThreadExecutor: SerialExecutor {
    private let queue = JobQueue()

    /// Starts the thread.
    ///
    /// - Throws: When no thread can be made.
    init() throws(SystemError) {
        let queue = queue
        try DedicatedThread.start { queue.run() }
    }

    deinit { queue.finish() }

    func enqueue(_ job: consuming ExecutorJob) {
        queue.append(UnownedJob(job), asUnownedSerialExecutor())
    }
}

/// The jobs that wait for the thread; apart from the executor, so that the thread does not keep that alive.
private final class JobQueue: @unchecked Sendable {
    private struct State {
        var jobs: [(UnownedJob, UnownedSerialExecutor)] = []
        var isFinished = false
    }

    // `state` is guarded by `mutex`; `ready` is signalled under it. A condition variable, because the thread sleeps.
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let ready = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private var state = State()

    init() {
        mutex.initialize(to: pthread_mutex_t())
        ready.initialize(to: pthread_cond_t())
        pthread_mutex_init(mutex, nil)
        pthread_cond_init(ready, nil)
    }

    deinit {
        pthread_cond_destroy(ready)
        pthread_mutex_destroy(mutex)
        ready.deallocate()
        mutex.deallocate()
    }

    func append(_ job: UnownedJob, _ executor: UnownedSerialExecutor) {
        pthread_mutex_lock(mutex)
        state.jobs.append((job, executor))
        pthread_cond_signal(ready)
        pthread_mutex_unlock(mutex)
    }

    func finish() {
        pthread_mutex_lock(mutex)
        state.isFinished = true
        pthread_cond_signal(ready)
        pthread_mutex_unlock(mutex)
    }

    /// Runs jobs until `finish`.
    func run() {
        while let jobs = next() {
            for (job, executor) in jobs { job.runSynchronously(on: executor) }
        }
    }

    private func next() -> [(UnownedJob, UnownedSerialExecutor)]? {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        while state.jobs.isEmpty, !state.isFinished { pthread_cond_wait(ready, mutex) }
        guard !state.jobs.isEmpty else { return nil }
        let jobs = state.jobs
        state.jobs = []
        return jobs
    }
}
