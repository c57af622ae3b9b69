/// Where on its host an agent runs: a tmux pane, or a plain terminal, or neither.
package struct Place: Hashable, Sendable {
    /// What people call it: `main:0.1` (session, window, pane) in tmux, else the tty, else `-`.
    package let label: String
    /// Path of the tmux server's socket; nil outside tmux.
    package let socket: String?
    /// tmux's own name of the pane, such as `%4`; nil outside tmux.
    package let pane: String?
    /// The controlling terminal, such as `pts/3`; nil if it has none.
    package let tty: String?

    package init(label: String, socket: String? = nil, pane: String? = nil, tty: String? = nil) {
        self.label = label
        self.socket = socket
        self.pane = pane
        self.tty = tty
    }
}

/// What an agent is doing.
package enum AgentState: Hashable, Sendable {
    /// A turn runs, or the agent waits for its own subagents.
    case busy
    /// The turn has ended; the composer is free.
    case idle
    /// The agent cannot go on without the person.
    case needsYou(NeedsYouReason)
    /// No agent process is left.
    case exited
    /// The process is stopped (Ctrl-Z).
    case stopped
    /// Nothing was recognised, or the state cannot be read.
    case unknown
}

extension AgentState {
    /// The word of the API: `busy idle needsYou exited stopped unknown`.
    package var word: String {
        switch self {
        case .busy: "busy"
        case .idle: "idle"
        case .needsYou: "needsYou"
        case .exited: "exited"
        case .stopped: "stopped"
        case .unknown: "unknown"
        }
    }

    package var reason: NeedsYouReason? {
        guard case .needsYou(let reason) = self else { return nil }
        return reason
    }
}

/// Why an agent needs the person.
package enum NeedsYouReason: String, Hashable, Sendable, CaseIterable {
    case permission, question, plan, trust, login
    case rateLimit = "rate-limit"
    case apiError = "api-error"
    case update, other
}

/// What is true of a session beside its state.
package enum SessionFlag: String, Hashable, Sendable, CaseIterable, Comparable {
    /// The turn has ended, but background work of the agent goes on.
    case background
    /// The last turn was ended by the person (Esc): a quiet end.
    case interrupted
    /// The busy row has not moved for long: the process hangs or is suspended.
    case stalled
    /// The rules of the agent do not fit it any more; its state may be wrong.
    case rulesStale = "rules-stale"

    /// Those that a screen or a file can prove; the others come of many looks.
    package static let ofRules: [SessionFlag] = [.background, .interrupted]

    package static func < (left: SessionFlag, right: SessionFlag) -> Bool { left.rawValue < right.rawValue }
}

/// One reason to believe a state.
///
/// Holds rule names and short facts, never screen text.
package struct Evidence: Hashable, Sendable {
    package enum Kind: String, Hashable, Sendable {
        case process, stateFile, title, dialog, statusRow, footer, turnLog, composer, previous, none
    }

    /// Whether it settles a turn end at once or wants a second sample.
    package enum Strength: String, Hashable, Sendable, Comparable {
        case weak, strong

        package static func < (left: Strength, right: Strength) -> Bool { left == .weak && right == .strong }
    }

    package let kind: Kind
    package let strength: Strength
    /// The rule that matched, or the fact that was read, such as `claude.spinner-row`.
    package let rule: String

    package init(kind: Kind, strength: Strength, rule: String) {
        self.kind = kind
        self.strength = strength
        self.rule = rule
    }
}

/// One agent as the last look at its host saw it.
package struct AgentSession: Hashable, Sendable {
    package let id: SessionID
    package let host: HostID
    package let agent: AgentName
    /// The agent's version, where the host tells it.
    package let version: String?
    package let place: Place
    package let pid: Int32
    package var state: AgentState
    package var flags: Set<SessionFlag>
    package var evidence: [Evidence]
    /// When this state was first observed.
    package var since: WallTime
    /// When the session was last observed.
    package var lastSeen: WallTime

    package init(
        id: SessionID, host: HostID, agent: AgentName, version: String? = nil, place: Place, pid: Int32,
        state: AgentState, flags: Set<SessionFlag> = [], evidence: [Evidence] = [], since: WallTime,
        lastSeen: WallTime
    ) {
        self.id = id
        self.host = host
        self.agent = agent
        self.version = version
        self.place = place
        self.pid = pid
        self.state = state
        self.flags = flags
        self.evidence = evidence
        self.since = since
        self.lastSeen = lastSeen
    }
}

/// One successful look at a host.
///
/// A cut, late or unmarked reply never becomes one.
package struct HostObservation: Hashable, Sendable {
    package let host: HostID
    /// The host's boot id, or the boot time where it has none.
    package let bootID: String
    package let time: WallTime
    /// Every agent found, sorted by id; one that has exited is listed once more, as `.exited`.
    package let sessions: [AgentSession]
    /// Short facts worth telling the person, such as a tmux server that did not answer in its time.
    package let warnings: [String]
    /// Rules that do not fit agents that run there, sorted by agent and version.
    package let staleRules: [StaleRules]
    /// A turn end waits for a second sample: the next probe may come early.
    package let wantsConfirmation: Bool

    package init(
        host: HostID, bootID: String, time: WallTime, sessions: [AgentSession], warnings: [String] = [],
        staleRules: [StaleRules] = [], wantsConfirmation: Bool = false
    ) {
        self.host = host
        self.bootID = bootID
        self.time = time
        self.sessions = sessions
        self.warnings = warnings
        self.staleRules = staleRules
        self.wantsConfirmation = wantsConfirmation
    }
}
