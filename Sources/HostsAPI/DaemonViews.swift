/// `GET /v1/status`: the daemon and the fleet at one glance.
package struct StatusDocument: Codable, Hashable, Sendable {
    package var schema: Int
    package var version: String
    package var pid: Int
    package var started: APITime
    package var summary: FleetSummary
    /// `active inactive background`.
    package var phase: String
    /// Whether the delay before sleep is held, for hosts that have opted in.
    package var holdsSleepDelay: Bool
    package var configurationDirectory: String
    package var socket: String
    package var hooks: [HookView]
    /// What is wrong with the configuration now.
    package var diagnostics: [DiagnosticView]
    /// What is wrong otherwise, such as the database; one line each.
    package var problems: [String]

    package init(
        version: String, pid: Int, started: APITime, summary: FleetSummary, phase: String,
        holdsSleepDelay: Bool, configurationDirectory: String, socket: String, hooks: [HookView],
        diagnostics: [DiagnosticView],
        problems: [String]
    ) {
        schema = apiSchema
        self.version = version
        self.pid = pid
        self.started = started
        self.summary = summary
        self.phase = phase
        self.holdsSleepDelay = holdsSleepDelay
        self.configurationDirectory = configurationDirectory
        self.socket = socket
        self.hooks = hooks
        self.diagnostics = diagnostics
        self.problems = problems
    }
}

/// One notifier hook.
package struct HookView: Codable, Hashable, Sendable {
    package var name: String
    package var usable: Bool
    /// Why it is not usable, and what to do.
    @OrNull package var problem: String?
    package var pending: Int
    package var dead: Int

    package init(name: String, usable: Bool, problem: String?, pending: Int, dead: Int) {
        self.name = name
        self.usable = usable
        self.problem = problem
        self.pending = pending
        self.dead = dead
    }
}

/// Something wrong in a file, and where.
package struct DiagnosticView: Codable, Hashable, Sendable {
    /// `error`, `warning` or `info`.
    package var severity: String
    package var file: String
    /// Counts from 1; 0 when the whole file is meant.
    package var line: Int
    package var column: Int
    package var message: String

    package init(severity: String, file: String, line: Int, column: Int, message: String) {
        self.severity = severity
        self.file = file
        self.line = line
        self.column = column
        self.message = message
    }
}

/// The answer to `POST /v1/reload`.
package struct ReloadDocument: Codable, Hashable, Sendable {
    package var schema: Int
    package var hosts: Int
    package var added: [String]
    package var changed: [String]
    package var removed: [String]
    package var diagnostics: [DiagnosticView]

    package init(
        hosts: Int, added: [String], changed: [String], removed: [String], diagnostics: [DiagnosticView]
    ) {
        schema = apiSchema
        self.hosts = hosts
        self.added = added
        self.changed = changed
        self.removed = removed
        self.diagnostics = diagnostics
    }
}

/// The answer to an action on a host: `enable disable probe resume cancel`, and to `add` and `set`.
package struct ActionDocument: Codable, Hashable, Sendable {
    package var schema: Int
    package var host: HostView
    /// Whether anything changed: false for enabling what is enabled.
    package var changed: Bool
    /// One line for people.
    package var message: String

    package init(host: HostView, changed: Bool, message: String) {
        schema = apiSchema
        self.host = host
        self.changed = changed
        self.message = message
    }
}

/// The answer to `POST /v1/hosts/NAME/check`: a connection made for the question and closed again.
package struct CheckDocument: Codable, Hashable, Sendable {
    package var schema: Int
    package var host: String
    package var passed: Bool
    /// How the host was reached; null if it was not.
    @OrNull package var linkDetail: String?
    @OrNull package var code: String?
    @OrNull package var reason: String?
    @OrNull package var help: String?
    package var connectSeconds: Double
    /// The first probe; null if it did not come to one.
    @OrNull package var probeSeconds: Double?
    @OrNull package var sessions: Int?

    package init(
        host: String, passed: Bool, linkDetail: String?, code: String?, reason: String?, help: String?,
        connectSeconds: Double, probeSeconds: Double?, sessions: Int?
    ) {
        schema = apiSchema
        self.host = host
        self.passed = passed
        self.linkDetail = linkDetail
        self.code = code
        self.reason = reason
        self.help = help
        self.connectSeconds = connectSeconds
        self.probeSeconds = probeSeconds
        self.sessions = sessions
    }
}

/// Any error: status 4xx or 5xx and this.
package struct ErrorDocument: Codable, Hashable, Sendable, Error {
    package struct Detail: Codable, Hashable, Sendable {
        /// Stable, such as `host.disabled`.
        package var code: String
        package var message: String
        /// The command that helps.
        @OrNull package var help: String?
    }

    package var schema: Int
    package var error: Detail

    package init(code: String, message: String, help: String?) {
        schema = apiSchema
        error = Detail(code: code, message: message, help: help)
    }
}
