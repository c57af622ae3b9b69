package import HostsModel

/// Something that a person may want to know, with everything that the API and a hook are told about it.
package struct AttentionEvent: Hashable, Sendable {
    package let id: EventID
    package let kind: Kind
    /// What it is about: later events on the same matter carry the same key.
    package let key: String
    package let time: WallTime
    package let host: HostID?
    package let session: SessionID?
    package let agent: AgentName?
    /// The label of the agent's place, such as `main:0.1`.
    package let place: String?
    /// Why the person is needed: the word of a `NeedsYouReason`, or the code of a `LinkError`.
    package let reason: String?
    /// The turn that it belongs to; no other turn ever has the same.
    package let turn: String?
    /// How long the host was out of sight before this was found; nil when the looks followed each other.
    package let gap: Duration?
    /// One line for people.
    package let summary: String
    package internal(set) var delivery: DeliveryStatus

    package init(
        id: EventID, kind: Kind, key: String, time: WallTime, host: HostID? = nil, session: SessionID? = nil,
        agent: AgentName? = nil, place: String? = nil, reason: String? = nil, turn: String? = nil,
        gap: Duration? = nil, summary: String, delivery: DeliveryStatus
    ) {
        self.id = id
        self.kind = kind
        self.key = key
        self.time = time
        self.host = host
        self.session = session
        self.agent = agent
        self.place = place
        self.reason = reason
        self.turn = turn
        self.gap = gap
        self.summary = summary
        self.delivery = delivery
    }

    /// Whether it was found after a gap in sight.
    package var isLate: Bool { gap != nil }

    /// What the `alert posted` and `alert dropped` lines name: the session, else the host, else the kind.
    package var subject: String { session?.rawValue ?? host?.rawValue ?? kind.rawValue }

    /// What an event tells.
    package enum Kind: String, Hashable, Sendable, CaseIterable {
        case turnEnded = "turn.ended"
        case needsYou = "needs.you"
        case needsCleared = "needs.cleared"
        case agentStarted = "agent.started"
        case agentExited = "agent.exited"
        case hostNeedsYou = "host.needs-you"
        case hostLost = "host.lost"
        case hostRecovered = "host.recovered"
        case hostOutOfSync = "host.out-of-sync"
        case rulesStale = "rules.stale"
        case configError = "config.error"
        case daemonStarted = "daemon.started"
        case daemonStopping = "daemon.stopping"

        /// Whether hooks are told; the others are recorded only.
        package var isDeliveredToHooks: Bool {
            switch self {
            case .agentStarted, .agentExited: false
            case .turnEnded, .needsYou, .needsCleared, .hostNeedsYou, .hostLost, .hostRecovered,
                .hostOutOfSync,
                .rulesStale, .configError, .daemonStarted, .daemonStopping:
                true
            }
        }

        /// Whether it says that a trouble is over: only who was told of the trouble is told of its end.
        package var isClearance: Bool { self == .needsCleared || self == .hostRecovered }

        /// Whether it stands until a clearance: it is a pending alert meanwhile.
        package var stands: Bool { self == .needsYou || self == .hostNeedsYou || self == .hostLost }

        /// `attention` asks for the person, `notice` tells them, `info` is for those who want to know everything.
        package var severity: String {
            switch self {
            case .needsYou, .hostNeedsYou, .configError, .rulesStale: "attention"
            case .turnEnded, .needsCleared, .hostLost, .hostRecovered: "notice"
            case .agentStarted, .agentExited, .hostOutOfSync, .daemonStarted, .daemonStopping: "info"
            }
        }
    }
}

/// What became of an event.
package enum DeliveryStatus: Hashable, Sendable {
    /// Some hook is still to be told.
    case pending
    /// At least one hook said that it was delivered.
    case delivered
    /// No hook could deliver it, and none tries any longer.
    case failed
    /// It was decided not to tell anyone.
    case dropped(DropReason)
    /// It is of a kind that hooks are not told of, or nobody was told of what it clears.
    case recorded

    /// Why an alert is not delivered; the closed set of the `alert dropped` lines.
    package enum DropReason: String, Hashable, Sendable, CaseIterable {
        case focused, locked, muted, disabled, duplicate, storm
        case noHook = "no-hook"
    }

    /// The word of the API: `pending delivered failed dropped recorded`.
    package var word: String {
        switch self {
        case .pending: "pending"
        case .delivered: "delivered"
        case .failed: "failed"
        case .dropped: "dropped"
        case .recorded: "recorded"
        }
    }

    /// Why it was dropped, if it was.
    package var dropReason: DropReason? {
        guard case .dropped(let reason) = self else { return nil }
        return reason
    }

    /// The status with these words, or nil if there is none.
    package init?(word: String, dropReason: String?) {
        switch word {
        case "pending": self = .pending
        case "delivered": self = .delivered
        case "failed": self = .failed
        case "recorded": self = .recorded
        case "dropped":
            guard let reason = dropReason.flatMap(DropReason.init(rawValue:)) else { return nil }
            self = .dropped(reason)
        default: return nil
        }
    }
}
