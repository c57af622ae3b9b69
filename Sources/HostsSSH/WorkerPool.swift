import HostsModel
import HostsPOSIX

/// Threads for calls that block: name look-ups and small files.
///
/// They end when there is nothing to do.
final class WorkerPool: Sendable {
    /// Most threads at once.
    ///
    /// Each may hang in a name look-up for as long as the resolver likes.
    static let threadLimit = 32
    /// Most calls that wait for a thread.
    static let backlogLimit = 16_384

    typealias Work = @Sendable () -> Void

    /// Why there is no result.
    enum Interruption: Error, Hashable, Sendable {
        case deadline, cancelled
        /// Too many calls wait, or no thread could be made.
        case exhausted
    }

    private struct State: Sendable {
        var threads = 0
        /// Oldest first from `next` on.
        var backlog: [Work] = []
        var next = 0

        mutating func take() -> Work? {
            guard next < backlog.count else {
                threads -= 1
                return nil
            }
            let work = backlog[next]
            next += 1
            if next == backlog.count {
                backlog = []
                next = 0
            }
            return work
        }
    }

    private enum Admission: Sendable {
        case started, queued, refused
    }

    private let state = Locked(State())

    /// Runs a blocking call on a thread and waits for its result on the loop.
    ///
    /// At the deadline or when the task is cancelled the caller is let go; the call runs on and its result is
    /// dropped.
    func result<Value: Sendable>(
        on loop: EventLoop, until deadline: ContinuousClock.Instant, _ body: @escaping @Sendable () -> Value
    ) async -> Result<Value, Interruption> {
        let signal = LoopSignal(on: loop)
        let box = Locked<Value?>(nil)
        let isAccepted = submit {
            let value = body()
            box.withLock { $0 = value }
            signal.raise()
        }
        guard isAccepted else { return .failure(.exhausted) }
        switch await signal.wait(until: deadline) {
        case .raised:
            guard let value = box.withLock({ $0 }) else {
                preconditionFailure("the signal is raised after the value was stored")
            }
            return .success(value)
        case .deadline: return .failure(.deadline)
        case .cancelled: return .failure(.cancelled)
        }
    }

    private func submit(_ work: @escaping Work) -> Bool {
        let admission = state.withLock { state -> Admission in
            if state.threads < Self.threadLimit {
                state.threads += 1
                return .started
            }
            guard state.backlog.count - state.next < Self.backlogLimit else { return .refused }
            state.backlog.append(work)
            return .queued
        }
        switch admission {
        case .queued: return true
        case .refused: return false
        case .started:
            do throws(SystemError) {
                try DedicatedThread.start { [self] in
                    work()
                    while let next = state.withLock({ $0.take() }) { next() }
                }
                return true
            } catch {
                state.withLock { $0.threads -= 1 }
                return false
            }
        }
    }
}
