package import HostsModel

/// One sign of a look, and what became of it.
package struct SignView: Codable, Hashable, Sendable {
    package var kind: String
    /// `weak` or `strong`.
    package var strength: String
    /// The rule that matched, or the fact that was read.
    package var rule: String
    /// What it says by itself: a state, `previous`, or `nothing`.
    package var says: String
    /// Only with `needsYou`.
    @OrNull package var reason: String?
    /// `applied outranked discarded`.
    package var outcome: String
    /// For how long what it was read from has been as it is.
    package var ageSeconds: Double

    package init(
        kind: String, strength: String, rule: String, says: String, reason: String?, outcome: String,
        ageSeconds: Double
    ) {
        self.kind = kind
        self.strength = strength
        self.rule = rule
        self.says = says
        self.reason = reason
        self.outcome = outcome
        self.ageSeconds = ageSeconds
    }

    /// Tells a sign in the words of the wire.
    package init(_ sign: WeighedEvidence) {
        let says: String
        switch sign.meaning {
        case .state(let state): says = state.word
        case .previous: says = "previous"
        case .nothing: says = "nothing"
        }
        var reason: String?
        if case .state(let state) = sign.meaning { reason = state.reason?.rawValue }
        self.init(
            kind: sign.evidence.kind.rawValue, strength: sign.evidence.strength.rawValue,
            rule: sign.evidence.rule, says: says, reason: reason, outcome: sign.outcome.rawValue,
            ageSeconds: sign.age.seconds)
    }
}

/// One look at an agent, and what was published then.
package struct LookView: Codable, Hashable, Sendable {
    package var time: APITime
    /// `changed confirmed awaits-confirmation dwells unseen unrecognised kept-previous`.
    package var effect: String
    /// What was published after it.
    package var state: String
    @OrNull package var reason: String?
    package var flags: [String]
    package var evidence: [SignView]

    package init(
        time: APITime, effect: String, state: String, reason: String?, flags: [String], evidence: [SignView]
    ) {
        self.time = time
        self.effect = effect
        self.state = state
        self.reason = reason
        self.flags = flags
        self.evidence = evidence
    }

    /// Tells a look in the words of the wire.
    package init(_ look: SessionLook) {
        self.init(
            time: APITime(look.time), effect: look.effect.rawValue, state: look.state.word,
            reason: look.state.reason?.rawValue, flags: look.flags.sorted().map(\.rawValue),
            evidence: look.evidence.map { SignView($0) })
    }
}

/// `GET /v1/sessions/ID/explain`.
package struct ExplainDocument: Codable, Hashable, Sendable {
    package var schema: Int
    /// The id of the session, which may be gone.
    package var session: String
    /// The session as it is; null when it is gone.
    @OrNull package var now: SessionView?
    /// The last looks, oldest first.
    package var looks: [LookView]

    package init(session: String, now: SessionView?, looks: [LookView]) {
        schema = apiSchema
        self.session = session
        self.now = now
        self.looks = looks
    }
}

/// What the rules of an agent see on one captured screen; `hostsctl explain --screen` prints it.
package struct ScreenDocument: Codable, Hashable, Sendable {
    package var schema: Int
    /// `busy idle needsYou unknown`, or `previous` for a screen that says nothing about the turn.
    package var state: String
    @OrNull package var reason: String?
    package var flags: [String]
    package var evidence: [SignView]

    package init(state: String, reason: String?, flags: [String], evidence: [SignView]) {
        schema = apiSchema
        self.state = state
        self.reason = reason
        self.flags = flags
        self.evidence = evidence
    }
}
