/// What an agent is doing, as far as attention is concerned.
public enum AttentionState: Hashable, Sendable {
    /// A turn runs.
    case busy
    /// The turn has ended; the agent waits for its next task.
    case idle
    /// The agent cannot go on without the person; `reason` is a stable word, such as `permission`.
    case needsYou(reason: String)
    /// The agent's process is gone.
    case exited
    /// The agent's process is stopped (Ctrl-Z): no evidence about its turn.
    case stopped
    /// Nothing was recognised: no evidence at all.
    case unknown
}

/// One look at one agent.
public struct AttentionObservation: Hashable, Sendable {
    /// What it is doing.
    public let state: AttentionState
    /// Whether work of the agent goes on in the background although it is idle.
    public let hasBackgroundWork: Bool
    /// Whether the end of the turn is the agent's own word (its state file): it counts in spite of background work.
    public let isEndCertain: Bool
    /// Whether the person ended the turn (Esc): they know.
    public let isInterrupted: Bool

    /// Makes an observation.
    ///
    /// - Parameters:
    ///   - state: What the agent is doing.
    ///   - hasBackgroundWork: Whether its work goes on in the background.
    ///   - isEndCertain: Whether an idle state is the agent's own word.
    ///   - isInterrupted: Whether the person ended the last turn.
    public init(
        _ state: AttentionState, hasBackgroundWork: Bool = false, isEndCertain: Bool = false,
        isInterrupted: Bool = false
    ) {
        self.state = state
        self.hasBackgroundWork = hasBackgroundWork
        self.isEndCertain = isEndCertain
        self.isInterrupted = isInterrupted
    }
}

/// What has changed about one agent.
public enum AttentionChange: Hashable, Sendable {
    /// The agent appeared on a host that was looked at before.
    case started
    /// A turn has ended, and nobody interrupted it.
    case turnEnded(hasBackgroundWork: Bool)
    /// The agent began to need the person, or needs them for another reason now.
    case needsYou(reason: String)
    /// The agent does not need the person any more.
    case needsCleared
    /// The agent's process is gone.
    case exited
}

/// A change of one agent that is worth knowing.
public struct AttentionEdge<ID: Hashable & Sendable>: Hashable, Sendable {
    /// The agent.
    public let id: ID
    /// What has changed.
    public let change: AttentionChange
    /// The number of the turn it belongs to, from 1 in the life of the tracker; 0 when none was seen.
    public let turn: Int

    /// Makes an edge.
    ///
    /// - Parameters:
    ///   - id: The agent.
    ///   - change: What has changed.
    ///   - turn: The number of the turn.
    public init(id: ID, change: AttentionChange, turn: Int) {
        self.id = id
        self.change = change
        self.turn = turn
    }
}
