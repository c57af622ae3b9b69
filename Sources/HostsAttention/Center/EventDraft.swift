import HostsModel
import HostsPolicy

/// An event that has no identifier yet, and whose delivery is not decided.
struct EventDraft {
    var kind: AttentionEvent.Kind
    var key: String
    var time: WallTime
    var host: HostID?
    var session: SessionID?
    var agent: AgentName?
    var place: String?
    var reason: String?
    var turn: String?
    var gap: Duration?
    var summary: String

    func event(_ id: EventID, _ delivery: DeliveryStatus) -> AttentionEvent {
        AttentionEvent(
            id: id, kind: kind, key: key, time: time, host: host, session: session, agent: agent,
            place: place,
            reason: reason, turn: turn, gap: gap, summary: summary, delivery: delivery)
    }

    static func key(of session: SessionID) -> String { "session:\(session)" }

    static func key(of host: HostID) -> String { "host:\(host)" }
}

extension EventDraft {
    /// What an edge says to people; `run` tells the turns of this run of the daemon from those of others.
    init(
        _ change: AttentionChange, of session: AgentSession, turn: Int, run: String, time: WallTime,
        gap: Duration?
    ) {
        let label = AgentLabel(session)
        switch change {
        case .started:
            kind = .agentStarted
            summary = EventSummary.started(label, gap: gap)
        case .turnEnded(let hasBackgroundWork):
            kind = .turnEnded
            summary =
                session.state == .exited
                ? EventSummary.turnCutOff(label, gap: gap)
                : EventSummary.turnEnded(label, hasBackgroundWork: hasBackgroundWork, gap: gap)
        case .needsYou(let word):
            kind = .needsYou
            reason = word
            summary = EventSummary.needsYou(label, NeedsYouReason(rawValue: word) ?? .other, gap: gap)
        case .needsCleared:
            kind = .needsCleared
            summary = EventSummary.needsCleared(label, gap: gap)
        case .exited:
            kind = .agentExited
            summary = EventSummary.exited(label, gap: gap)
        }
        key = Self.key(of: session.id)
        self.time = time
        host = session.host
        self.session = session.id
        agent = session.agent
        place = session.place.label
        self.turn = turn > 0 ? "\(session.id)#\(run).\(turn)" : nil
        self.gap = gap
    }

    /// The end of an alert of an earlier run, found at the first look of this one.
    init?(clearing alert: AttentionEvent, at time: WallTime) {
        guard let label = AgentLabel(alert) else { return nil }
        self.init(
            kind: .needsCleared, key: alert.key, time: time, host: alert.host, session: alert.session,
            agent: alert.agent, place: alert.place, turn: alert.turn,
            summary: EventSummary.needsCleared(label, gap: nil))
    }

    /// What a host's condition says to people.
    init(_ alert: HostWatch.Alert, of host: HostID, at time: WallTime) {
        switch alert {
        case .needsYou(let error):
            kind = .hostNeedsYou
            reason = error.code
            summary = EventSummary.hostNeedsYou(host, error)
        case .lost(let error):
            kind = .hostLost
            reason = error?.code
            summary = EventSummary.hostLost(host, error)
        case .recovered(let outage):
            kind = .hostRecovered
            summary = EventSummary.hostRecovered(host, after: outage)
        }
        key = Self.key(of: host)
        self.time = time
        self.host = host
    }
}
