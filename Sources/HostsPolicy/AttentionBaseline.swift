/// What a tracker knows of one agent, as a plain value: for a daemon that is restarted on purpose (seed 002).
public struct AttentionBaseline: Hashable, Sendable {
    /// The last state that was evidence, one of `busy`, `idle` and `needsYou`; nil before the first.
    public let state: AttentionState?
    /// The number of the last turn; 0 before the first.
    public let turn: Int
    /// Whether the end of that turn has not been told yet.
    public let isTurnOpen: Bool
    /// How many looks in a row did not list the agent.
    public let absences: Int

    /// Makes a baseline; what no tracker can have is brought into range.
    ///
    /// - Parameters:
    ///   - state: The last state that was evidence; any other counts as none.
    ///   - turn: The number of the last turn.
    ///   - isTurnOpen: Whether its end has not been told yet.
    ///   - absences: How many looks in a row did not list the agent.
    public init(state: AttentionState?, turn: Int, isTurnOpen: Bool, absences: Int) {
        switch state {
        case .busy, .idle, .needsYou: self.state = state
        case .exited, .stopped, .unknown, nil: self.state = nil
        }
        self.turn = max(turn, 0)
        self.isTurnOpen = isTurnOpen && self.turn > 0
        self.absences = max(absences, 0)
    }
}

extension AttentionTracker {
    /// Makes a tracker that goes on where another one ended.
    ///
    /// - Parameter baselines: Of an earlier tracker of the same host, which had looked at it.
    public init(continuing baselines: [ID: AttentionBaseline]) {
        self.init(records: baselines.mapValues(AttentionRecord.init), hasLooked: true)
    }

    /// What it knows, for a tracker that goes on from here; nil before its first look.
    public var baselines: [ID: AttentionBaseline]? {
        hasLooked ? records.mapValues(\.baseline) : nil
    }
}

extension AttentionRecord {
    init(_ baseline: AttentionBaseline) {
        let state: State? =
            switch baseline.state {
            case .busy: .busy
            case .idle: .idle
            case .needsYou(let reason): .needsYou(reason: reason)
            case .exited, .stopped, .unknown, nil: nil
            }
        self.init(
            state: state, turn: baseline.turn, isTurnOpen: baseline.isTurnOpen, absences: baseline.absences)
    }

    var baseline: AttentionBaseline {
        let state: AttentionState? =
            switch state {
            case .busy: .busy
            case .idle: .idle
            case .needsYou(let reason): .needsYou(reason: reason)
            case nil: nil
            }
        return AttentionBaseline(state: state, turn: turn, isTurnOpen: isTurnOpen, absences: absences)
    }
}
