import HostsModel

/// What one look says about one agent, before the looks before it are taken into account.
struct AgentSample: Hashable, Sendable {
    enum Finding: Hashable, Sendable {
        case busy, idle, stopped, unknown
        case needsYou(NeedsYouReason)
        /// A screen that says nothing about the turn.
        case previous
        /// Nothing could be seen this time.
        case unseen
    }

    var finding: Finding
    var strength: Evidence.Strength
    var flags: Set<SessionFlag>
    var evidence: [Evidence]
    var isQuiet: Bool

    init(
        _ finding: Finding, strength: Evidence.Strength = .weak, flags: Set<SessionFlag> = [],
        evidence: [Evidence] = [], isQuiet: Bool = false
    ) {
        self.finding = finding
        self.strength = strength
        self.flags = flags
        self.evidence = evidence
        self.isQuiet = isQuiet
    }

    /// The process is stopped by job control.
    static let stopped = AgentSample(
        .stopped, strength: .strong,
        evidence: [Evidence(kind: .process, strength: .strong, rule: "process.stopped")])

    /// Nothing could be seen, and why.
    static func unseen(_ rule: String) -> AgentSample {
        AgentSample(.unseen, evidence: [Evidence(kind: .none, strength: .weak, rule: rule)])
    }

    /// Weighs the state file and the screen: the file decides, but for what it cannot know.
    ///
    /// A file that says idle does not rule out an error that stands on the screen, and the screen often
    /// knows better why the agent needs the person.
    init(file: StateFileReading?, screen: ScreenReading?) {
        guard let file else {
            self.init(screen: screen)
            return
        }
        let evidence = [Evidence(kind: .stateFile, strength: .strong, rule: file.rule)]
        let seen = screen?.evidence ?? []
        switch file.state {
        case .busy:
            self.init(
                .busy, strength: .strong, evidence: evidence + (screen?.meaning == .busy ? seen : []),
                isQuiet: screen?.isQuiet ?? false)
        case .needsYou:
            let reason = Self.reason(file.reason ?? .other, screen: screen)
            self.init(
                .needsYou(reason), strength: .strong,
                evidence: evidence + (screen?.needsYou == nil ? [] : seen))
        case .idle:
            if let reason = screen?.standingReason {
                self.init(.needsYou(reason), strength: .strong, evidence: seen)
                return
            }
            let isIdle = screen?.meaning == .idle
            self.init(
                .idle, strength: .strong, flags: file.flags.union(isIdle ? screen?.flags ?? [] : []),
                evidence: evidence + (isIdle ? seen : []))
        }
    }

    private init(screen: ScreenReading?) {
        guard let screen else {
            self = .unseen("screen.none")
            return
        }
        let finding: Finding =
            switch screen.meaning {
            case .busy: .busy
            case .idle: .idle
            case .needsYou(let reason): .needsYou(reason)
            case .previous: .previous
            case nil: .unknown
            }
        let nothing = Evidence(kind: .none, strength: .weak, rule: "screen.no-rule")
        self.init(
            finding, strength: screen.strength, flags: screen.flags,
            evidence: screen.evidence.isEmpty ? [nothing] : screen.evidence, isQuiet: screen.isQuiet)
    }

    // "permission prompt" covers plans and workflows too.
    private static func reason(_ file: NeedsYouReason, screen: ScreenReading?) -> NeedsYouReason {
        guard let seen = screen?.needsYou, seen != .other else { return file }
        return seen
    }
}

extension ScreenReading {
    /// The reason for which the screen needs the person.
    fileprivate var needsYou: NeedsYouReason? {
        guard case .needsYou(let reason) = meaning else { return nil }
        return reason
    }

    /// The same, if it is an error that stands there after the turn, and no dialog.
    fileprivate var standingReason: NeedsYouReason? {
        guard let needsYou, evidence.first?.kind == .statusRow else { return nil }
        return needsYou
    }
}
