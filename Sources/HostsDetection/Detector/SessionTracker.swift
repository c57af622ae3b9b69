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

    /// Takes the next look into account; `isStill` if nothing was written to the terminal since the one
    /// before.
    mutating func observe(_ sample: AgentSample, isStill: Bool, at time: WallTime) {
        wantsConfirmation = false
        if sample.finding != .previous { previousSince = nil }
        switch sample.finding {
        case .busy, .stopped, .needsYou: publish(Self.state(of: sample.finding) ?? .unknown, sample, at: time)
        case .idle: observeIdle(sample, at: time)
        case .unknown: observeUnknown(sample, at: time)
        case .previous: observePrevious(sample, at: time)
        case .unseen: evidence = sample.evidence
        }
        updateStall(isStill: isStill, at: time)
    }

    /// The agent's process has ended.
    mutating func exit(at time: WallTime) {
        let gone = Evidence(kind: .process, strength: .strong, rule: "process.gone")
        wantsConfirmation = false
        publish(.exited, AgentSample(.stopped, strength: .strong, evidence: [gone]), at: time)
    }

    private mutating func observeIdle(_ sample: AgentSample, at time: WallTime) {
        unknownLooks = 0
        idleLooks += 1
        guard state == .busy, sample.strength == .weak, idleLooks < Self.idleLooks else {
            publish(.idle, sample, at: time)
            return
        }
        wantsConfirmation = true
    }

    private mutating func observeUnknown(_ sample: AgentSample, at time: WallTime) {
        idleLooks = 0
        unknownLooks += 1
        guard unknownLooks < Self.unknownLooks else {
            publish(.unknown, sample, at: time)
            return
        }
        evidence = sample.evidence
    }

    private mutating func observePrevious(_ sample: AgentSample, at time: WallTime) {
        let began = previousSince ?? time
        previousSince = began
        unknownLooks = 0
        idleLooks = 0
        guard time.duration(since: began) <= keepPrevious else {
            publish(.unknown, sample, at: time)
            return
        }
        evidence = sample.evidence
    }

    private mutating func publish(_ next: AgentState, _ sample: AgentSample, at time: WallTime) {
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
        if next != state {
            state = next
            since = time
            stillSince = nil
        }
        flags = next == .idle ? sample.flags : []
        // The end of start-up is no turn end: as quiet as one that the person has made.
        if next == .idle, wasQuietEnd { flags.insert(.interrupted) }
        evidence = sample.evidence
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
