package import HostsModel
package import HostsPolicy

/// From what the hub tells to drafts of events.
extension AttentionCenter {
    func observe(_ observation: HostObservation, gap told: Duration?) {
        var gap = told
        // The hub of this run has seen no earlier look: the gap is that of the restart.
        let isTakenOver = unseenSinceStart.remove(observation.host) != nil
        if isTakenOver, gap == nil, let last = lastSeen[observation.host] {
            gap = environment.clock.now - last
        }
        lastSeen[observation.host] = environment.clock.now
        let isFirst = trackers[observation.host] == nil
        var tracker = trackers[observation.host] ?? AttentionTracker()
        let sessions = Dictionary(
            observation.sessions.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
        let edges = tracker.update(sessions.mapValues(AttentionObservation.init))
        trackers[observation.host] = tracker
        var drafts = isFirst || isTakenOver ? overdueClearances(observation) : []
        // Of agents that are there, the baselines of the last run tell more.
        if isTakenOver { drafts.removeAll { draft in sessions.keys.contains { $0 == draft.session } } }
        for (id, session) in sessions.sorted(by: { $0.key < $1.key }) {
            for edge in edges where edge.id == id {
                drafts.append(
                    EventDraft(
                        edge.change, of: session, turn: edge.turn, run: run, time: observation.time, gap: gap)
                )
            }
            move(session)
        }
        drafts += staleRules(observation)
        clocks = clocks.filter { $0.key.host != observation.host || tracker.ids.contains($0.key) }
        raise(drafts)
    }

    /// Rules that do not fit, told once for each host, agent and version.
    private func staleRules(_ observation: HostObservation) -> [EventDraft] {
        let host = observation.host
        return observation.staleRules.compactMap { stale in
            let prefix = "rules:\(host):\(stale.agent):"
            let key = prefix + SafeText.visible(stale.version ?? "", limit: 40)
            guard !toldStaleRules.contains(key) else { return nil }
            // A host that makes up a version for each look must not fill the store.
            guard toldStaleRules.count(where: { $0.hasPrefix(prefix) }) < Self.staleVersionLimit else {
                return nil
            }
            toldStaleRules.insert(key)
            return EventDraft(
                kind: .rulesStale, key: key, time: observation.time, host: host, agent: stale.agent,
                summary: EventSummary.rulesStale(stale, on: host))
        }
    }

    /// Most versions of one agent on one host that are told of.
    private static let staleVersionLimit = 32

    func change(_ host: HostID, to condition: HostCondition, at time: WallTime) {
        var watch = watches[host] ?? HostWatch()
        let alert = watch.change(to: condition, now: environment.clock.now)
        watches[host] = watch
        if let alert { raise([EventDraft(alert, of: host, at: time)]) }
        // It may be that only time must pass now.
        wake.set()
    }

    func loseSight(of host: HostID, at time: WallTime) {
        for id in clocks.keys where id.host == host {
            _ = clocks[id]?.update(side: nil, isOutOfSync: true, at: seconds)
        }
        raise([
            EventDraft(
                kind: .hostOutOfSync, key: EventDraft.key(of: host), time: time, host: host,
                summary: EventSummary.hostOutOfSync(host))
        ])
    }

    func forget(_ host: HostID) {
        trackers[host] = nil
        lastSeen[host] = nil
        unseenSinceStart.remove(host)
        watches[host] = nil
        clocks = clocks.filter { $0.key.host != host }
        let keys = standing.filter { $0.value.contains { $0.host == host } }.map(\.key)
        for key in keys { endStanding(key) }
    }

    /// Hosts that have been away for too long by now.
    func loseOverdueHosts() {
        for host in watches.keys.sorted() {
            guard let alert = watches[host]?.advance(to: environment.clock.now) else { continue }
            raise([EventDraft(alert, of: host, at: environment.wall.now)])
        }
    }

    /// The time of the turn clocks: seconds since this center was made, suspend included.
    var seconds: Double { (environment.clock.now - started).seconds }

    /// Alerts of an earlier run whose need is over at the first look of this one.
    private func overdueClearances(_ observation: HostObservation) -> [EventDraft] {
        let alerts = standing.values.compactMap(\.last).filter {
            $0.host == observation.host && $0.kind == .needsYou
        }
        return alerts.sorted { $0.id < $1.id }.compactMap { alert in
            switch observation.sessions.first(where: { $0.id == alert.session })?.state {
            case .needsYou, .unknown, .stopped: nil
            case .busy, .idle, .exited, nil: EventDraft(clearing: alert, at: observation.time)
            }
        }
    }

    private func move(_ session: AgentSession) {
        var clock = clocks[session.id] ?? TurnClock()
        let side: PieceColor? =
            switch session.state {
            case .busy: .white
            case .idle, .needsYou: .black
            case .exited: nil
            // No evidence: the side stays on the move.
            case .stopped, .unknown: clock.side
            }
        _ = clock.update(side: side, isOutOfSync: false, at: seconds)
        clocks[session.id] = clock
    }
}

extension AttentionObservation {
    /// What attention takes from a session.
    package init(_ session: AgentSession) {
        let state: AttentionState =
            switch session.state {
            case .busy: .busy
            case .idle: .idle
            case .needsYou(let reason): .needsYou(reason: reason.rawValue)
            case .exited: .exited
            case .stopped: .stopped
            case .unknown: .unknown
            }
        self.init(
            state, hasBackgroundWork: session.flags.contains(.background),
            isEndCertain: session.evidence.contains { $0.kind == .stateFile },
            isInterrupted: session.flags.contains(.interrupted))
    }
}
