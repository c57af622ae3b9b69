/// What a tracker remembers of one agent.
struct AttentionRecord: Hashable, Sendable {
    /// A state that was evidence.
    enum State: Hashable, Sendable {
        case busy, idle
        case needsYou(reason: String)
    }

    /// The last state that was evidence; nil before the first.
    private(set) var state: State?
    /// The number of the last turn; 0 before the first.
    private(set) var turn = 0
    /// Whether its end has not been told yet.
    private(set) var isTurnOpen = false
    /// How many looks in a row did not list the agent.
    var absences = 0

    /// Makes the record of an agent that was not seen yet.
    init() {}

    /// Makes the record of an agent that was seen before.
    init(state: State?, turn: Int, isTurnOpen: Bool, absences: Int) {
        self.state = state
        self.turn = turn
        self.isTurnOpen = isTurnOpen
        self.absences = absences
    }

    /// Moves to the observed state and names what has changed, as if there was a baseline.
    mutating func take(_ observation: AttentionObservation) -> [AttentionChange] {
        switch observation.state {
        case .unknown, .stopped: []
        case .busy: becomeBusy()
        case .idle: becomeIdle(observation)
        case .needsYou(let reason): needPerson(reason)
        case .exited: exit(observation)
        }
    }

    private mutating func becomeBusy() -> [AttentionChange] {
        let cleared = clearance
        if !isTurnOpen { turn += 1 }
        isTurnOpen = true
        state = .busy
        return cleared
    }

    private mutating func becomeIdle(_ observation: AttentionObservation) -> [AttentionChange] {
        let cleared = clearance
        state = .idle
        if observation.isInterrupted { isTurnOpen = false }
        guard isTurnOpen, !observation.hasBackgroundWork || observation.isEndCertain else { return cleared }
        isTurnOpen = false
        return cleared + [.turnEnded(hasBackgroundWork: observation.hasBackgroundWork)]
    }

    private mutating func needPerson(_ reason: String) -> [AttentionChange] {
        guard state != .needsYou(reason: reason) else { return [] }
        state = .needsYou(reason: reason)
        isTurnOpen = false
        return [.needsYou(reason: reason)]
    }

    private mutating func exit(_ observation: AttentionObservation) -> [AttentionChange] {
        let cleared = clearance
        let ended: [AttentionChange] =
            isTurnOpen && !observation.isInterrupted ? [.turnEnded(hasBackgroundWork: false)] : []
        isTurnOpen = false
        return cleared + ended + [.exited]
    }

    private var clearance: [AttentionChange] {
        guard case .needsYou = state else { return [] }
        return [.needsCleared]
    }
}
