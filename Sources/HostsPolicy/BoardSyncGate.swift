/// A side of a two-sided clock (seed 000).
///
/// hostsd's turn clock gives `white` to the agent (it is working) and `black` to the person (the turn has ended, or the
/// agent needs them).
public enum PieceColor: String, Hashable, Sendable, CaseIterable {
    /// The agent's side.
    case white
    /// The person's side.
    case black
}

/// Decides when a clock pauses and resumes while what is shown may differ from what is (seed 000).
///
/// Feed it every change of (out of sync, clock running, side on the move). Entering pauses a running clock and
/// raises the one-shot haptic flag; leaving resumes a clock that was paused, on the side that is on the move
/// **then**: a move made while out of sync counts.
public struct BoardSyncGate: Hashable, Sendable {
    /// What the owner of the clock must do.
    public enum Action: Equatable, Sendable {
        /// Nothing.
        case none
        /// Stop the clock.
        case pauseClock
        /// Start the clock again.
        ///
        /// `color` is the side on the move in the position observed now, not the clock's cached one.
        case resumeClock(color: PieceColor)
    }

    /// Whether the clock ran when sync was lost, so that it must be resumed; false while in sync.
    public private(set) var clockWasRunningBeforeDesync: Bool

    /// The side that was on the move when sync was lost; kept after the return, `white` before the first loss.
    public private(set) var pausedActiveColor: PieceColor

    /// Whether the last update said "out of sync".
    public private(set) var isDesynced: Bool

    /// Whether the entry has not been shown to the person yet; see ``acknowledgeHaptic()``.
    public private(set) var shouldFireHaptic: Bool

    /// Makes a gate that is in sync.
    public init() {
        clockWasRunningBeforeDesync = false
        pausedActiveColor = .white
        isDesynced = false
        shouldFireHaptic = false
    }

    /// Takes the present facts and says what the clock must do.
    ///
    /// - Parameters:
    ///   - isOutOfSync: Whether what is shown can no longer be known to be true.
    ///   - clockIsRunning: Whether the clock runs now.
    ///   - currentActiveColor: The side on the move in the present position.
    /// - Returns: What the owner of the clock must do.
    public mutating func update(
        isOutOfSync: Bool, clockIsRunning: Bool, currentActiveColor: PieceColor
    ) -> Action {
        switch (isDesynced, isOutOfSync) {
        case (false, true):
            return enter(clockIsRunning: clockIsRunning, activeColor: currentActiveColor)
        case (true, false):
            return leave(activeColor: currentActiveColor)
        case (false, false), (true, true):
            return .none
        }
    }

    /// Takes note that the entry has been shown, so that it is not shown again.
    public mutating func acknowledgeHaptic() {
        shouldFireHaptic = false
    }

    private mutating func enter(clockIsRunning: Bool, activeColor: PieceColor) -> Action {
        isDesynced = true
        shouldFireHaptic = true
        clockWasRunningBeforeDesync = clockIsRunning
        pausedActiveColor = activeColor
        return clockIsRunning ? .pauseClock : .none
    }

    private mutating func leave(activeColor: PieceColor) -> Action {
        let mustResume = clockWasRunningBeforeDesync
        isDesynced = false
        // An entry that nobody has seen is over: showing it now would tell of something that is past.
        shouldFireHaptic = false
        clockWasRunningBeforeDesync = false
        return mustResume ? .resumeClock(color: activeColor) : .none
    }
}
