import HostsAPI
import HostsAttention
import HostsConfig
import HostsModel
import HostsPolicy

// What the engines know, in the words of the wire. One direction only.

extension HostView {
    /// Tells what a host shows; ages are counted to `now`.
    init(_ snapshot: HostSnapshot, now: WallTime) {
        let condition = snapshot.condition
        let error = condition.error ?? snapshot.lastError
        let host = snapshot.record.id
        let observation = snapshot.observation
        self.init(
            name: host.rawValue, label: snapshot.record.label, condition: condition.word,
            enabled: snapshot.record.isEnabled, reason: condition.reason(after: snapshot.lastError),
            code: condition.badRecordMessage == nil ? error?.code : "config.error",
            help: condition.help(for: host, error),
            link: snapshot.link?.kind.rawValue,
            linkDetail: snapshot.link.map { "\($0.detail), \($0.mode.rawValue)" },
            linkReason: snapshot.link?.reason,
            generation: snapshot.generation, lastObserved: observation.map { APITime($0.time) },
            ageSeconds: observation.map { max(0, now.duration(since: $0.time).seconds) },
            stale: snapshot.isStale,
            attempt: condition.attempt, nextAttempt: condition.nextAttempt.map { APITime($0) },
            bootID: observation?.bootID, tags: snapshot.record.tags,
            sessions: SessionCounts(observation?.sessions ?? []), warnings: observation?.warnings ?? [])
    }
}

extension HostCondition {
    /// What a host is or does, as the end of a sentence that begins with its name.
    var predicate: String {
        switch self {
        case .online: "is online"
        case .checking: "is late with its answer"
        case .connecting: "is being connected"
        case .reconnecting: "is being reconnected"
        case .asleep: "is asleep"
        case .disabled: "is disabled"
        case .needsYou: "needs you"
        case .dormant: "is dormant"
        case .limited: "refuses us for a while"
        case .unsupported: "is not supported"
        case .badRecord: "has a bad record"
        }
    }

    /// What the person can do about it, or nil where nothing is wrong or waiting is the answer.
    fileprivate func help(for host: HostID, _ error: LinkError?) -> String? {
        switch self {
        case .badRecord: "correct the file; it is read at once"
        case .dormant(let error): error.help(for: host) ?? "dial it now with: hostsctl resume \(host)"
        case .online, .checking, .connecting, .reconnecting, .asleep, .disabled, .needsYou, .limited,
            .unsupported:
            error?.help(for: host)
        }
    }

    /// Why a host is not online.
    ///
    /// - Parameter lastError: Why its last link or attempt has ended.
    /// - Returns: One line; nil where nothing is wrong.
    fileprivate func reason(after lastError: LinkError?) -> String? {
        if case .dormant(.cancelled) = self {
            let end = "its attempts were cancelled"
            return lastError.map { "\(end); the last error: \($0.message)" } ?? end
        }
        return badRecordMessage ?? (error ?? lastError)?.message
    }

    fileprivate var error: LinkError? {
        switch self {
        case .needsYou(let error), .dormant(let error), .limited(_, let error), .unsupported(let error): error
        case .online, .checking, .connecting, .reconnecting, .asleep, .disabled, .badRecord: nil
        }
    }

    /// Where the record is broken and how; nil when it is not.
    var badRecordMessage: String? {
        guard case .badRecord(let location, let message) = self else { return nil }
        return "\(location): \(message)"
    }

    fileprivate var attempt: Int? {
        guard case .reconnecting(let attempt, _) = self else { return nil }
        return attempt
    }

    fileprivate var nextAttempt: WallTime? {
        switch self {
        case .reconnecting(_, let at): at
        case .limited(let until, _): until
        case .online, .checking, .connecting, .asleep, .disabled, .needsYou, .dormant, .unsupported,
            .badRecord:
            nil
        }
    }
}

extension SessionCounts {
    init(_ sessions: [AgentSession]) {
        self.init()
        for session in sessions {
            switch session.state {
            case .busy: busy += 1
            case .idle: idle += 1
            case .needsYou: needsYou += 1
            case .stopped: stopped += 1
            case .unknown: unknown += 1
            case .exited: break
            }
        }
    }
}

extension FleetSummary {
    /// Disabled hosts are left out of every figure but their own (seed 002).
    init(_ snapshots: [HostSnapshot]) {
        self.init(hosts: 0, online: 0, needsYou: 0, disabled: 0)
        for snapshot in snapshots {
            guard snapshot.record.isEnabled else {
                disabled += 1
                continue
            }
            hosts += 1
            if snapshot.condition == .online { online += 1 }
            if case .needsYou = snapshot.condition { needsYou += 1 }
            needsYou += SessionCounts(snapshot.observation?.sessions ?? []).needsYou
        }
    }
}

extension FleetSummary {
    /// The line of `systemctl status`.
    func statusLine(configurationErrors: Int) -> String {
        "\(online)/\(hosts) online, \(needsYou) need you"
            + (disabled > 0 ? ", \(disabled) disabled" : "")
            + (configurationErrors > 0
                ? "; \(configurationErrors) configuration errors, see hostsctl status" : "")
    }
}

extension RecordValue {
    /// Every value of a record, in the order of the documentation, with the place it was written at.
    static func all(of record: HostRecord, origins: [String: SourceLocation]) -> [RecordValue] {
        let values = [
            ("ssh", record.destination), ("label", record.label), ("enabled", String(record.isEnabled)),
            ("background_keep_alive", String(record.backgroundKeepAlive)),
            ("session_restore", record.sessionRestore.rawValue), ("transport", record.transport.rawValue),
            ("tags", record.tags.joined(separator: ", ")),
        ]
        return values.map { RecordValue(key: $0.0, value: $0.1, origin: origins[$0.0]?.description) }
    }
}

extension SessionView {
    init(_ session: AgentSession, isStale: Bool, clock: TurnClockView?) {
        self.init(
            id: session.id.rawValue, host: session.host.rawValue, agent: session.agent.rawValue,
            version: session.version.map { SafeText.visible($0, limit: 40) },
            place: SafeText.visible(session.place.label), socket: session.place.socket, pid: Int(session.pid),
            state: session.state.word, reason: session.state.reason?.rawValue,
            flags: session.flags.sorted().map(\.rawValue),
            evidence: session.evidence.map { EvidenceView($0) },
            since: APITime(session.since), lastSeen: APITime(session.lastSeen), stale: isStale, clock: clock)
    }
}

extension EvidenceView {
    init(_ evidence: Evidence) {
        self.init(kind: evidence.kind.rawValue, strength: evidence.strength.rawValue, rule: evidence.rule)
    }
}

extension TurnClockView {
    init?(_ reading: TurnClockReading?) {
        guard let reading, let side = reading.side else { return nil }
        self.init(
            side: side.rawValue, running: reading.isRunning, agentSeconds: reading.totals.agentSeconds,
            personSeconds: reading.totals.personSeconds, outOfSyncSeconds: reading.totals.outOfSyncSeconds)
    }
}

extension EventView {
    init(_ event: AttentionEvent) {
        self.init(
            id: event.id.rawValue, kind: event.kind.rawValue, key: event.key, time: APITime(event.time),
            host: event.host?.rawValue, session: event.session?.rawValue, agent: event.agent?.rawValue,
            place: event.place, reason: event.reason, turn: event.turn, late: event.isLate,
            gapSeconds: event.gap?.seconds ?? 0, summary: event.summary, delivery: event.delivery.word,
            dropReason: event.delivery.dropReason?.rawValue)
    }
}

extension HookView {
    init(_ status: HookStatus) {
        self.init(
            name: status.name, usable: status.state == .ready, problem: status.problem,
            pending: status.pending,
            dead: status.dead)
    }
}

extension DiagnosticView {
    init(_ diagnostic: Diagnostic) {
        self.init(
            severity: diagnostic.severity.rawValue, file: diagnostic.location.file,
            line: diagnostic.location.line, column: diagnostic.location.column, message: diagnostic.text)
    }
}
