/// One sign that a look at an agent has found, and what became of it.
package struct WeighedEvidence: Hashable, Sendable {
    /// What the sign says by itself.
    package enum Meaning: Hashable, Sendable {
        case state(AgentState)
        /// Nothing about the turn: the state before it holds.
        case previous
        /// Nothing at all, such as a screen that no rule knows.
        case nothing
    }

    package enum Outcome: String, Hashable, Sendable, CaseIterable {
        /// It has decided what the look found, or agrees with what did.
        case applied
        /// A sign that counts more says something else.
        case outranked
        /// It could not be read: a pattern has met its limit, or the sign is of another process.
        case discarded
    }

    package let evidence: Evidence
    package let meaning: Meaning
    package let outcome: Outcome
    /// For how long what it was read from has been as it is, as far as the looks know.
    package let age: Duration

    package init(evidence: Evidence, meaning: Meaning, outcome: Outcome, age: Duration = .zero) {
        self.evidence = evidence
        self.meaning = meaning
        self.outcome = outcome
        self.age = age
    }
}

/// One look at one agent: what was seen, and what was published then.
///
/// Holds names of rules, never screen text.
package struct SessionLook: Hashable, Sendable {
    /// What the look did to the published state.
    package enum Effect: String, Hashable, Sendable, CaseIterable {
        /// It is the first one, or has changed the state.
        case changed
        /// It says what was published already.
        case confirmed
        /// A weak sign of rest after work: the next look must say the same.
        case awaitsConfirmation = "awaits-confirmation"
        /// A question that may be answered without the person: the next look must still see it.
        case dwells
        /// Nothing could be seen: the state before it holds.
        case unseen
        /// A screen without any sign: the state before it holds for one look.
        case unrecognised
        /// A viewer or a picker: the state before it holds for a while.
        case keptPrevious = "kept-previous"
    }

    package let time: WallTime
    /// In the order in which the signs were asked.
    package let evidence: [WeighedEvidence]
    package let effect: Effect
    /// What was published after the look.
    package let state: AgentState
    package let flags: Set<SessionFlag>

    package init(
        time: WallTime, evidence: [WeighedEvidence], effect: Effect, state: AgentState,
        flags: Set<SessionFlag> = []
    ) {
        self.time = time
        self.evidence = evidence
        self.effect = effect
        self.state = state
        self.flags = flags
    }
}

/// Why an agent is thought to be in its state: its last looks, oldest first.
package struct SessionExplanation: Hashable, Sendable {
    /// Most looks that are kept of one agent.
    package static let limit = 64

    package let session: SessionID
    package let looks: [SessionLook]

    package init(session: SessionID, looks: [SessionLook]) {
        self.session = session
        self.looks = looks
    }
}

/// Rules that no longer fit the agent that runs.
package struct StaleRules: Hashable, Sendable {
    package enum Cause: Hashable, Sendable {
        /// Its screen has changed in so many looks in a row, and no rule saw work or a need.
        case unreadWork(looks: Int)
        /// The version is none that the rules were made for.
        case version
    }

    package let agent: AgentName
    /// Where the host tells it.
    package let version: String?
    package let cause: Cause

    package init(agent: AgentName, version: String?, cause: Cause) {
        self.agent = agent
        self.version = version
        self.cause = cause
    }
}

extension StaleRules: Comparable {
    package static func < (left: StaleRules, right: StaleRules) -> Bool {
        (left.agent, left.version ?? "", left.cause.order) < (
            right.agent, right.version ?? "", right.cause.order
        )
    }
}

extension StaleRules.Cause {
    fileprivate var order: Int {
        switch self {
        case .unreadWork(let looks): looks
        case .version: 0
        }
    }
}
