package import HostsModel

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

    /// What was read, and for how long it has been so.
    struct Aged<Reading: Hashable & Sendable>: Hashable, Sendable {
        let reading: Reading
        let age: Duration
    }

    var finding: Finding
    var strength: Evidence.Strength
    var flags: Set<SessionFlag>
    /// Every sign, in the order in which they count.
    var signs: [WeighedEvidence]
    /// The end of this busy time is no turn end.
    var isQuiet: Bool
    /// The need may go away by itself within a look.
    var isDwelling: Bool

    init(
        _ finding: Finding, strength: Evidence.Strength = .weak, flags: Set<SessionFlag> = [],
        signs: [WeighedEvidence] = [], isQuiet: Bool = false, isDwelling: Bool = false
    ) {
        self.finding = finding
        self.strength = strength
        self.flags = flags
        self.signs = signs
        self.isQuiet = isQuiet
        self.isDwelling = isDwelling
    }

    /// The signs that have decided, or agree with what did.
    var evidence: [Evidence] { signs.filter { $0.outcome == .applied }.map(\.evidence) }

    /// The process is stopped by job control.
    static let stopped = AgentSample(
        .stopped, strength: .strong, signs: [.process("process.stopped", .stopped)])

    /// Nothing could be seen, and why.
    static func unseen(_ rule: String) -> AgentSample {
        let nothing = Evidence(kind: .none, strength: .weak, rule: rule)
        return AgentSample(
            .unseen, signs: [WeighedEvidence(evidence: nothing, meaning: .nothing, outcome: .applied)])
    }

    /// Weighs the state file, the screen and the turn log.
    ///
    /// The file decides, but for what it cannot know: one that says idle does not rule out an error that stands on the
    /// screen, and the screen often knows better why the agent needs the person. The log fills the gap where the
    /// screen shows neither a need nor work.
    init(file: Aged<StateFileReading>?, screen: Aged<ScreenReading>?, log: Aged<TurnLogReading>? = nil) {
        self.init(screen: screen)
        if let log { weigh(log) }
        guard let file else { return }
        let seen = self
        let sign = WeighedEvidence(
            evidence: Evidence(kind: .stateFile, strength: .strong, rule: file.reading.rule),
            meaning: .state(file.reading.agentState), outcome: .applied, age: file.age)
        switch file.reading.state {
        case .busy:
            self.init(.busy, strength: .strong, isQuiet: seen.isQuiet)
        case .needsYou:
            self.init(
                .needsYou(Self.reason(file.reading.reason ?? .other, screen: screen?.reading)),
                strength: .strong)
        case .idle:
            if screen?.reading.standingReason != nil {
                signs.append(sign.with(.outranked))
                return
            }
            let isIdle = seen.finding == .idle
            self.init(.idle, strength: .strong, flags: file.reading.flags.union(isIdle ? seen.flags : []))
        }
        self = decided(by: sign, beside: seen)
    }

    /// The same by a sign that counts more than those of another sample: they agree with it, or are outranked.
    private func decided(by sign: WeighedEvidence, beside seen: AgentSample) -> AgentSample {
        let agrees = finding.isSameKind(as: seen.finding)
        var sample = self
        sample.signs =
            [sign] + seen.signs.filter { $0.meaning != .nothing }.map { $0.weighed(isAgreeing: agrees) }
        return sample
    }

    private init(screen: Aged<ScreenReading>?) {
        guard let screen else {
            self = .unseen("screen.none")
            return
        }
        let reading = screen.reading
        let finding: Finding =
            switch reading.meaning {
            case .busy: .busy
            case .idle: .idle
            case .needsYou(let reason): .needsYou(reason)
            case .previous: .previous
            case nil: .unknown
            }
        self.init(
            finding, strength: reading.strength, flags: reading.flags, signs: reading.signs(age: screen.age),
            isQuiet: reading.isQuiet, isDwelling: reading.isDwelling)
    }

    private mutating func weigh(_ log: Aged<TurnLogReading>) {
        let reading = log.reading
        let evidence = Evidence(
            kind: .turnLog, strength: reading.isLive ? .strong : .weak, rule: reading.rule)
        func sign(_ outcome: WeighedEvidence.Outcome) -> WeighedEvidence {
            WeighedEvidence(
                evidence: evidence, meaning: .state(reading.meaning.state), outcome: outcome, age: log.age)
        }
        func decide(_ sample: AgentSample) {
            self = sample.decided(by: sign(.applied), beside: self)
        }
        switch (reading.meaning, finding) {
        case (.needsYou, _) where !reading.isLive, (.busy, _) where !reading.isLive:
            signs.append(sign(finding == .busy && reading.meaning == .busy ? .applied : .discarded))
        case (.needsYou(let reason), .needsYou(let seen)):
            decide(AgentSample(.needsYou(seen == .other ? reason : seen), strength: .strong))
        case (.needsYou(let reason), _): decide(AgentSample(.needsYou(reason), strength: .strong))
        case (_, .needsYou), (.idle, .busy): signs.append(sign(.outranked))
        case (.busy, .busy): signs.append(sign(.applied))
        case (.busy, .idle) where strength == .strong: signs.append(sign(.outranked))
        case (.busy, _): decide(AgentSample(.busy, strength: .strong))
        case (.idle(let proof), .idle):
            signs.append(sign(.applied))
            guard reading.isLive else { return }
            strength = max(strength, proof)
            flags.formUnion(reading.flags)
        case (.idle(let proof), _):
            // It ended while it was watched, or long before: without a screen that says so it is only a weak sign.
            decide(
                AgentSample(.idle, strength: reading.isLive ? proof : .weak, flags: reading.flags))
        }
    }

    // "permission prompt" covers plans and workflows too.
    private static func reason(_ file: NeedsYouReason, screen: ScreenReading?) -> NeedsYouReason {
        guard let seen = screen?.needsYou, seen != .other else { return file }
        return seen
    }
}

extension AgentSample.Finding {
    /// Whether both say the same of the turn; the reasons for which the person is needed may differ.
    fileprivate func isSameKind(as other: Self) -> Bool {
        switch (self, other) {
        case (.needsYou, .needsYou): true
        default: self == other
        }
    }
}

extension WeighedEvidence {
    /// What the table of processes says: it always decides.
    static func process(_ rule: String, _ state: AgentState) -> WeighedEvidence {
        WeighedEvidence(
            evidence: Evidence(kind: .process, strength: .strong, rule: rule), meaning: .state(state),
            outcome: .applied)
    }

    fileprivate func with(_ outcome: Outcome) -> WeighedEvidence {
        WeighedEvidence(evidence: evidence, meaning: meaning, outcome: outcome, age: age)
    }

    /// Beside a sign that counts more.
    fileprivate func weighed(isAgreeing: Bool) -> WeighedEvidence {
        outcome == .applied && !isAgreeing ? with(.outranked) : self
    }
}

extension StateFileReading {
    fileprivate var agentState: AgentState {
        switch state {
        case .busy: .busy
        case .idle: .idle
        case .needsYou: .needsYou(reason ?? .other)
        }
    }
}

extension TurnLogRules.Meaning {
    fileprivate var state: AgentState {
        switch self {
        case .busy: .busy
        case .idle: .idle
        case .needsYou(let reason): .needsYou(reason)
        }
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

    /// Every rule that has matched or could not be decided, with what it says.
    package func signs(age: Duration) -> [WeighedEvidence] {
        var signs = matches.map {
            WeighedEvidence(
                evidence: $0.evidence, meaning: .init($0.meaning),
                outcome: $0.isOutranked ? .outranked : .applied, age: age)
        }
        signs += failedRules.map {
            WeighedEvidence(
                evidence: Evidence(kind: .none, strength: .weak, rule: $0), meaning: .nothing,
                outcome: .discarded, age: age)
        }
        guard meaning == nil else { return signs }
        let nothing = Evidence(kind: .none, strength: .weak, rule: "screen.no-rule")
        return [WeighedEvidence(evidence: nothing, meaning: .nothing, outcome: .applied, age: age)] + signs
    }
}

extension WeighedEvidence.Meaning {
    fileprivate init(_ meaning: ScreenRule.Meaning) {
        self = meaning.state.map { .state($0) } ?? .previous
    }
}
