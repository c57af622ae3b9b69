/// The version of every document; documents of one version only ever gain members.
package let apiSchema = 1

/// One host, as `GET /v1/hosts` lists it.
package struct HostView: Codable, Hashable, Sendable {
    package var name: String
    package var label: String
    /// `online checking connecting reconnecting asleep disabled needsYou dormant limited unsupported badRecord`.
    package var condition: String
    package var enabled: Bool
    /// Why the host is not online, in one line.
    @OrNull package var reason: String?
    /// The stable code of the reason, such as `ssh.hostkey.changed`.
    @OrNull package var code: String?
    /// What the person can do about it.
    @OrNull package var help: String?
    /// `libssh2`, `openssh` or `local`; null without a link.
    @OrNull package var link: String?
    /// How the link reaches the host, such as `dev@127.0.0.1:2201, key …`; null without a link.
    @OrNull package var linkDetail: String?
    /// Why the link is of this kind, where `transport = "auto"` chose another than libssh2; else null.
    @OrNull package var linkReason: String?
    package var generation: Int
    @OrNull package var lastObserved: APITime?
    /// Age of the last observation, in seconds.
    @OrNull package var ageSeconds: Double?
    /// Whether what is shown can no longer be known to be true.
    package var stale: Bool
    /// Which attempt of the schedule comes next; null outside a schedule.
    @OrNull package var attempt: Int?
    @OrNull package var nextAttempt: APITime?
    @OrNull package var bootID: String?
    package var tags: [String]
    package var sessions: SessionCounts
    /// Short facts of the last look worth knowing.
    package var warnings: [String]

    package init(
        name: String, label: String, condition: String, enabled: Bool, reason: String?, code: String?,
        help: String?,
        link: String?, linkDetail: String?, linkReason: String?, generation: Int, lastObserved: APITime?,
        ageSeconds: Double?, stale: Bool, attempt: Int?, nextAttempt: APITime?, bootID: String?,
        tags: [String], sessions: SessionCounts, warnings: [String]
    ) {
        self.name = name
        self.label = label
        self.condition = condition
        self.enabled = enabled
        self.reason = reason
        self.code = code
        self.help = help
        self.link = link
        self.linkDetail = linkDetail
        self.linkReason = linkReason
        self.generation = generation
        self.lastObserved = lastObserved
        self.ageSeconds = ageSeconds
        self.stale = stale
        self.attempt = attempt
        self.nextAttempt = nextAttempt
        self.bootID = bootID
        self.tags = tags
        self.sessions = sessions
        self.warnings = warnings
    }
}

/// How many agent sessions of a host are in which state.
package struct SessionCounts: Codable, Hashable, Sendable {
    package var busy: Int
    package var idle: Int
    package var needsYou: Int
    package var stopped: Int
    package var unknown: Int

    package init(busy: Int = 0, idle: Int = 0, needsYou: Int = 0, stopped: Int = 0, unknown: Int = 0) {
        self.busy = busy
        self.idle = idle
        self.needsYou = needsYou
        self.stopped = stopped
        self.unknown = unknown
    }
}

/// The fleet in four numbers.
///
/// Disabled hosts count only as `disabled` (seed 002).
package struct FleetSummary: Codable, Hashable, Sendable {
    /// Enabled hosts.
    package var hosts: Int
    package var online: Int
    /// Hosts and agent sessions that need the person.
    package var needsYou: Int
    package var disabled: Int

    package init(hosts: Int, online: Int, needsYou: Int, disabled: Int) {
        self.hosts = hosts
        self.online = online
        self.needsYou = needsYou
        self.disabled = disabled
    }
}

/// `GET /v1/hosts`.
package struct HostList: Codable, Hashable, Sendable {
    package var schema: Int
    package var hosts: [HostView]
    package var summary: FleetSummary

    package init(hosts: [HostView], summary: FleetSummary) {
        schema = apiSchema
        self.hosts = hosts
        self.summary = summary
    }
}

/// `GET /v1/hosts/NAME`: the host, its sessions, and where its record's values come from.
package struct HostDocument: Codable, Hashable, Sendable {
    package var schema: Int
    package var host: HostView
    package var sessions: [SessionView]
    package var record: [RecordValue]
    package var diagnostics: [DiagnosticView]

    package init(
        host: HostView, sessions: [SessionView], record: [RecordValue], diagnostics: [DiagnosticView]
    ) {
        schema = apiSchema
        self.host = host
        self.sessions = sessions
        self.record = record
        self.diagnostics = diagnostics
    }
}

/// One value of a host's record.
package struct RecordValue: Codable, Hashable, Sendable {
    package var key: String
    package var value: String
    /// `file:line:column`, or null for a default.
    @OrNull package var origin: String?

    package init(key: String, value: String, origin: String?) {
        self.key = key
        self.value = value
        self.origin = origin
    }
}
