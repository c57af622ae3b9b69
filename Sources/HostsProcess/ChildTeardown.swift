/// When a child is asked to end, when it is made to, and when nobody waits for it any longer.
struct ChildTeardown {
    /// From SIGTERM to SIGKILL after the deadline.
    static let grace = Duration.seconds(2)
    /// The same after a cancellation: the daemon itself may be about to end.
    static let cancellationGrace = Duration.milliseconds(500)
    /// From SIGKILL to giving up: a process in uninterruptible sleep does not die at once.
    static let settlement = Duration.seconds(5)

    /// Why it is stopped.
    enum Cause {
        case deadline, cancellation
    }

    /// What is to be done now.
    enum Action: Equatable {
        case wait(until: ContinuousClock.Instant)
        case terminate
        case kill
        case abandon
    }

    private enum State {
        /// It runs. Can become `terminating`.
        case running
        /// SIGTERM was sent. Can become `killed`.
        case terminating(killAt: ContinuousClock.Instant)
        /// SIGKILL was sent.
        case killed(abandonAt: ContinuousClock.Instant)
    }

    private let deadline: ContinuousClock.Instant
    private var state = State.running
    /// Set when the child was told to end.
    private(set) var cause: Cause?

    init(deadline: ContinuousClock.Instant) {
        self.deadline = deadline
    }

    /// Decides on the time and whether the waiting task was cancelled.
    mutating func advance(now: ContinuousClock.Instant, isCancelled: Bool) -> Action {
        switch state {
        case .running:
            guard isCancelled || now >= deadline else { return .wait(until: deadline) }
            cause = isCancelled ? .cancellation : .deadline
            state = .terminating(killAt: now + (isCancelled ? Self.cancellationGrace : Self.grace))
            return .terminate
        case .terminating(let killAt):
            if isCancelled, cause == .deadline {
                cause = .cancellation
                state = .terminating(killAt: min(killAt, now + Self.cancellationGrace))
                return .wait(until: min(killAt, now + Self.cancellationGrace))
            }
            guard now >= killAt else { return .wait(until: killAt) }
            state = .killed(abandonAt: now + Self.settlement)
            return .kill
        case .killed(let abandonAt):
            return now >= abandonAt ? .abandon : .wait(until: abandonAt)
        }
    }
}
