/// One agent session, as `GET /v1/sessions` lists it.
package struct SessionView: Codable, Hashable, Sendable {
    package var id: String
    package var host: String
    package var agent: String
    @OrNull package var version: String?
    /// `main:0.1` in tmux, else the terminal.
    package var place: String
    @OrNull package var socket: String?
    package var pid: Int
    /// `busy idle needsYou exited stopped unknown`.
    package var state: String
    /// `permission question plan trust login rate-limit api-error update other`; null unless `needsYou`.
    @OrNull package var reason: String?
    package var flags: [String]
    package var evidence: [EvidenceView]
    package var since: APITime
    package var lastSeen: APITime
    package var stale: Bool
    @OrNull package var clock: TurnClockView?

    package init(
        id: String, host: String, agent: String, version: String?, place: String, socket: String?, pid: Int,
        state: String, reason: String?, flags: [String], evidence: [EvidenceView], since: APITime,
        lastSeen: APITime, stale: Bool, clock: TurnClockView?
    ) {
        self.id = id
        self.host = host
        self.agent = agent
        self.version = version
        self.place = place
        self.socket = socket
        self.pid = pid
        self.state = state
        self.reason = reason
        self.flags = flags
        self.evidence = evidence
        self.since = since
        self.lastSeen = lastSeen
        self.stale = stale
        self.clock = clock
    }
}

extension SessionView {
    /// Whether some rule sees its state, and nothing speaks against the rules.
    package var isUnderstood: Bool { state != "unknown" && !flags.contains("rules-stale") }
}

/// One reason to believe the state of a session.
package struct EvidenceView: Codable, Hashable, Sendable {
    package var kind: String
    /// `weak` or `strong`.
    package var strength: String
    package var rule: String

    package init(kind: String, strength: String, rule: String) {
        self.kind = kind
        self.strength = strength
        self.rule = rule
    }
}

/// The two-sided turn clock of a session: `white` is the agent's side, `black` the person's.
package struct TurnClockView: Codable, Hashable, Sendable {
    package var side: String
    package var running: Bool
    package var agentSeconds: Double
    package var personSeconds: Double
    package var outOfSyncSeconds: Double

    package init(
        side: String, running: Bool, agentSeconds: Double, personSeconds: Double, outOfSyncSeconds: Double
    ) {
        self.side = side
        self.running = running
        self.agentSeconds = agentSeconds
        self.personSeconds = personSeconds
        self.outOfSyncSeconds = outOfSyncSeconds
    }
}

/// `GET /v1/sessions`.
package struct SessionList: Codable, Hashable, Sendable {
    package var schema: Int
    package var sessions: [SessionView]

    package init(sessions: [SessionView]) {
        schema = apiSchema
        self.sessions = sessions
    }
}

/// `GET /v1/sessions/ID`.
package struct SessionDocument: Codable, Hashable, Sendable {
    package var schema: Int
    package var session: SessionView

    package init(session: SessionView) {
        schema = apiSchema
        self.session = session
    }
}
