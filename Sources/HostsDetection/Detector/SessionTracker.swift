import HostsModel

/// What is published about one agent, and what must be remembered to publish it calmly.
///
/// Work and need are published at once; a turn end at once on strong evidence, else with the second look
/// that says the same. One look that saw nothing changes nothing.
struct SessionTracker: Hashable, Sendable {
    /// Looks without any sign after which the state is unknown.
    static let unknownLooks = 2
    /// Looks that say idle, weakly, after which a turn has ended.
    static let idleLooks = 2
    /// The same for an agent whose weak signs of work and rest take turns too often to be true.
    static let flappingIdleLooks = 4
    /// Most changes between work and rest in `flappingSpan` that are believed.
    static let flappingLimit = 3
    static let flappingSpan: Duration = .seconds(60)
    /// Looks that see a need which may go away by itself, after which it is told.
    static let dwellLooks = 2
    /// How long a busy screen may stand still.
    static let stallLimit: Duration = .seconds(30)

    private(set) var state: AgentState
    private(set) var flags: Set<SessionFlag> = []
    private(set) var evidence: [Evidence] = []
    private(set) var since: WallTime
    /// A turn end waits for the next look.
    private(set) var wantsConfirmation = false
    private var idleLooks = 0
    private var unknownLooks = 0
    private var dwellLooks = 0
    /// The last changes between work and rest, oldest first.
    private var changes: [WallTime] = []
    private var previousSince: WallTime?
    /// All work since the state became busy was start-up.
    private var isQuietTurn = false
    private var wasQuietEnd = false
    private var stillSince: WallTime?
    private let keepPrevious: Duration

    /// Begins with the first look: it is published as it is.
    init(first sample: AgentSample, at time: WallTime, keepPrevious: Duration) {
        self.keepPrevious = keepPrevious
        state = .unknown
        since = time
        evidence = sample.evidence
        publish(Self.state(of: sample.finding) ?? .unknown, sample, at: time)
    }

    /// Takes the next look into account.
    ///
    /// - Parameters:
    ///   - sample: What the look says.
    ///   - isStill: Nothing was written to the terminal since the look before.
    ///   - time: When it was.
    /// - Returns: What became of it.
    mutating func observe(_ sample: AgentSample, isStill: Bool, at time: WallTime) -> SessionLook.Effect {
        wantsConfirmation = false
        if sample.finding != .previous { previousSince = nil }
        if !sample.isDwelling { dwellLooks = 0 }
        let effect: SessionLook.Effect
        switch sample.finding {
        case .busy, .stopped:
            effect = publish(Self.state(of: sample.finding) ?? .unknown, sample, at: time)
        case .needsYou(let reason): effect = observeNeed(reason, sample, at: time)
        case .idle: effect = observeIdle(sample, at: time)
        case .unknown: effect = observeUnknown(sample, at: time)
        case .previous: effect = observePrevious(sample, at: time)
        case .unseen:
            evidence = sample.evidence
            effect = .unseen
        }
        updateStall(isStill: isStill, at: time)
        return effect
    }

    /// The agent's process has ended.
    ///
    /// - Returns: The look that has found it gone.
    mutating func exit(at time: WallTime) -> SessionLook {
        let gone = AgentSample(
            .stopped, strength: .strong, signs: [.process("process.gone", .exited)])
        wantsConfirmation = false
        let effect = publish(.exited, gone, at: time)
        return SessionLook(time: time, evidence: gone.signs, effect: effect, state: .exited)
    }

    private mutating func observeNeed(
        _ reason: NeedsYouReason, _ sample: AgentSample, at time: WallTime
    ) -> SessionLook.Effect {
        guard sample.isDwelling, state.reason == nil else {
            return publish(.needsYou(reason), sample, at: time)
        }
        dwellLooks += 1
        guard dwellLooks < Self.dwellLooks else { return publish(.needsYou(reason), sample, at: time) }
        wantsConfirmation = true
        return .dwells
    }

    private mutating func observeIdle(_ sample: AgentSample, at time: WallTime) -> SessionLook.Effect {
        unknownLooks = 0
        idleLooks += 1
        let wanted = isFlapping(at: time) ? Self.flappingIdleLooks : Self.idleLooks
        guard state == .busy, sample.strength == .weak, idleLooks < wanted else {
            return publish(.idle, sample, at: time)
        }
        wantsConfirmation = true
        return .awaitsConfirmation
    }

    private mutating func observeUnknown(_ sample: AgentSample, at time: WallTime) -> SessionLook.Effect {
        idleLooks = 0
        unknownLooks += 1
        guard unknownLooks < Self.unknownLooks else { return publish(.unknown, sample, at: time) }
        evidence = sample.evidence
        return .unrecognised
    }

    private mutating func observePrevious(_ sample: AgentSample, at time: WallTime) -> SessionLook.Effect {
        let began = previousSince ?? time
        previousSince = began
        unknownLooks = 0
        idleLooks = 0
        guard time.duration(since: began) <= keepPrevious else { return publish(.unknown, sample, at: time) }
        evidence = sample.evidence
        return .keptPrevious
    }

    private func isFlapping(at time: WallTime) -> Bool {
        changes.count { time.duration(since: $0) <= Self.flappingSpan } > Self.flappingLimit
    }

    @discardableResult
    private mutating func publish(
        _ next: AgentState, _ sample: AgentSample, at time: WallTime
    ) -> SessionLook.Effect {
        if next == .busy {
            isQuietTurn = sample.isQuiet && (state != .busy || isQuietTurn)
            wasQuietEnd = false
        } else if next == .idle {
            if state == .busy { wasQuietEnd = isQuietTurn }
        } else {
            wasQuietEnd = false
        }
        if next != .idle { idleLooks = 0 }
        if next != .unknown { unknownLooks = 0 }
        let isChange = next != state
        if isChange {
            if [state, next].contains(.busy), [state, next].contains(.idle) {
                changes = changes.suffix(Self.flappingLimit) + [time]
            }
            state = next
            since = time
            stillSince = nil
        }
        flags = next == .idle ? sample.flags : []
        // The end of start-up is no turn end: as quiet as one that the person has made.
        if next == .idle, wasQuietEnd { flags.insert(.interrupted) }
        evidence = sample.evidence
        return isChange ? .changed : .confirmed
    }

    private mutating func updateStall(isStill: Bool, at time: WallTime) {
        guard state == .busy, isStill, !evidence.contains(where: { $0.kind == .stateFile }) else {
            stillSince = nil
            flags.remove(.stalled)
            return
        }
        let began = stillSince ?? time
        stillSince = began
        if time.duration(since: began) >= Self.stallLimit { flags.insert(.stalled) }
    }

    private static func state(of finding: AgentSample.Finding) -> AgentState? {
        switch finding {
        case .busy: .busy
        case .idle: .idle
        case .stopped: .stopped
        case .unknown: .unknown
        case .needsYou(let reason): .needsYou(reason)
        case .previous, .unseen: nil
        }
    }
}
