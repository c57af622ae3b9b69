/// A two-sided clock, like a chess clock, for one agent: how long it worked, and how long it waited for the person.
///
/// `white` is the agent's side (it works), `black` the person's (the turn has ended, or the agent needs them). Its gate is
/// a ``BoardSyncGate``: while what is shown can no longer be known to be true, the clock pauses and the time counts
/// for neither side; afterwards it runs for the side that is on the move in the position observed *then*.
///
/// Time is passed in: seconds on any clock that does not run backwards. A step back counts as no time, and so does a
/// number that is not finite.
public struct TurnClock: Hashable, Sendable {
    /// The three figures of the clock.
    public struct Totals: Hashable, Sendable {
        /// How long the agent was on the move, in seconds.
        public var agentSeconds: TimeInterval = 0
        /// How long the person was on the move, in seconds.
        public var personSeconds: TimeInterval = 0
        /// How long nobody could know who was, in seconds.
        public var outOfSyncSeconds: TimeInterval = 0

        /// Makes totals of zero.
        public init() {}
    }

    private enum Hand: Hashable, Sendable {
        /// No side is on the move: before the first known state, and after the exit. Can become `running`.
        case stopped
        /// Time counts for a side. Can become `paused` or `stopped`.
        case running(PieceColor)
        /// Out of sync. Can become `running` or `stopped`.
        case paused
    }

    private var gate = BoardSyncGate()
    private var hand = Hand.stopped
    private var settled = Totals()
    private var settledAt: TimeInterval?

    /// Makes a clock that stands at zero.
    public init() {}

    /// Makes a clock that goes on where another one ended; it is out of sync until the agent is seen.
    ///
    /// - Parameters:
    ///   - totals: What the other one showed; a figure that is not a number, or less than zero, counts as zero.
    ///   - side: The side that was on the move then; nil for a clock that stood.
    ///   - now: The time in seconds.
    public init(continuing totals: Totals, side: PieceColor?, at now: TimeInterval) {
        func usable(_ seconds: TimeInterval) -> TimeInterval { seconds.isFinite ? max(seconds, 0) : 0 }
        settled.agentSeconds = usable(totals.agentSeconds)
        settled.personSeconds = usable(totals.personSeconds)
        settled.outOfSyncSeconds = usable(totals.outOfSyncSeconds)
        guard side != nil else { return }
        _ = update(side: side, isOutOfSync: false, at: now)
        _ = update(side: nil, isOutOfSync: true, at: now)
    }

    /// The side on the move; the one before the pause while out of sync, nil while the clock stands.
    public var side: PieceColor? {
        switch hand {
        case .stopped: nil
        case .running(let side): side
        case .paused: gate.pausedActiveColor
        }
    }

    /// Whether time counts for a side now.
    public var isRunning: Bool {
        switch hand {
        case .running: true
        case .stopped, .paused: false
        }
    }

    /// Whether the clock's position can no longer be known to be true.
    public var isOutOfSync: Bool { gate.isDesynced }

    /// Takes the present facts.
    ///
    /// - Parameters:
    ///   - side: The side on the move in the position observed now; nil when the agent is gone. Ignored while
    ///     out of sync, because nothing is observed then.
    ///   - isOutOfSync: Whether what is shown can no longer be known to be true.
    ///   - now: The time in seconds.
    /// - Returns: What the gate made of it; the clock has done so already.
    public mutating func update(side: PieceColor?, isOutOfSync: Bool, at now: TimeInterval)
        -> BoardSyncGate.Action
    {
        settle(at: now)
        let action = gate.update(
            isOutOfSync: isOutOfSync, clockIsRunning: isRunning,
            currentActiveColor: isOutOfSync ? self.side ?? .white : side ?? .white)
        switch action {
        case .pauseClock: hand = .paused
        case .resumeClock(let color): hand = .running(color)
        case .none: break
        }
        // The gate does not start a clock that stood, nor stop one whose game is over.
        if !isOutOfSync { hand = side.map { .running($0) } ?? .stopped }
        return action
    }

    /// The figures at a time, the running part included.
    public func totals(at now: TimeInterval) -> Totals {
        var copy = self
        copy.settle(at: now)
        return copy.settled
    }

    private mutating func settle(at now: TimeInterval) {
        guard now.isFinite else { return }
        let elapsed = settledAt.map { max(now - $0, 0) } ?? 0
        settledAt = max(settledAt ?? now, now)
        switch hand {
        case .stopped: break
        case .running(.white): settled.agentSeconds += elapsed
        case .running(.black): settled.personSeconds += elapsed
        case .paused: settled.outOfSyncSeconds += elapsed
        }
    }
}
