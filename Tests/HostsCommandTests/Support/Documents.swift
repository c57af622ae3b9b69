import HostsAPI
import HostsModel

/// A fleet with everything in it that can be shown.
enum Documents {
    static func time(_ secondsAgo: Double) -> APITime {
        APITime(WallTime(milliseconds: Stage.now.milliseconds - Int64(secondsAgo * 1000)))
    }

    static func host(
        _ name: String, _ condition: String, seen: Double?, label: String? = nil, reason: String? = nil,
        code: String? = nil, help: String? = nil, link: String? = nil, linkReason: String? = nil,
        attempt: Int? = nil,
        next: Double? = nil,
        sessions: SessionCounts = SessionCounts(), warnings: [String] = []
    ) -> HostView {
        HostView(
            name: name, label: label ?? name, condition: condition, enabled: condition != "disabled",
            reason: reason,
            code: code, help: help, link: link,
            linkDetail: link.map { _ in "dev@127.0.0.1:2201, key ~/.ssh/id_ed25519" },
            linkReason: linkReason, generation: 3, lastObserved: seen.map(time), ageSeconds: seen,
            stale: condition != "online",
            attempt: attempt, nextAttempt: next.map { time(-$0) },
            bootID: seen == nil ? nil : "5f0c2a52-7a40-4a3e-9d0c-0a1b2c3d4e5f", tags: ["ml", "office"],
            sessions: sessions, warnings: warnings)
    }

    static func session(
        _ host: String, _ agent: String, _ place: String, _ state: String, reason: String? = nil,
        since: Double,
        seen: Double = 2, stale: Bool = false, flags: [String] = []
    ) -> SessionView {
        let pid = 4230 + Int(since)
        return SessionView(
            id: "\(host)/\(pid)-1f0c9a7be2d35c61", host: host, agent: agent, version: "2.1.284", place: place,
            socket: "/tmp/tmux-1000/default", pid: pid, state: state, reason: reason, flags: flags,
            evidence: [EvidenceView(kind: "dialog", strength: "strong", rule: "\(agent).permission-dialog")],
            since: time(since), lastSeen: time(seen), stale: stale,
            clock: TurnClockView(
                side: state == "busy" ? "white" : "black", running: !stale, agentSeconds: 723,
                personSeconds: 45,
                outOfSyncSeconds: 0))
    }

    static let devbox = host(
        "devbox", "online", seen: 2, label: "Dev box", link: "openssh",
        linkReason: "the host is reached by ProxyJump",
        sessions: SessionCounts(busy: 2, idle: 1, needsYou: 1))
    static let gpu = host(
        "gpu1", "needsYou", seen: 7500,
        reason:
            "the host key of gpu1 has changed: ~/.ssh/known_hosts has SHA256:aaaa, the server shows SHA256:bbbb",
        code: "ssh.hostkey.changed",
        help:
            "if the change is expected: ssh-keygen -f ~/.ssh/known_hosts -R 'gpu1', then: hostsctl trust gpu1",
        sessions: SessionCounts(idle: 1))
    static let build = host(
        "build", "reconnecting", seen: 41, reason: "10.0.0.7 cannot be reached: No route to host",
        code: "connect.unreachable", attempt: 2, next: 4, sessions: SessionCounts(busy: 1))
    static let attic = host("attic", "disabled", seen: 260_000, sessions: SessionCounts(needsYou: 1))
    static let fresh = host("fresh", "connecting", seen: nil)

    static let hosts = HostList(
        hosts: [attic, build, devbox, fresh, gpu],
        summary: FleetSummary(hosts: 4, online: 1, needsYou: 2, disabled: 1))

    static let sessions = SessionList(sessions: [
        session(
            "attic", "claude", "old:0.0", "needsYou", reason: "question", since: 270_000, seen: 260_000,
            stale: true),
        session("build", "codex", "ci:0.0", "busy", since: 400, seen: 41, stale: true),
        session("devbox", "claude", "main:0.1", "needsYou", reason: "permission", since: 12),
        session("devbox", "codex", "main:0.2", "busy", since: 190),
        session("devbox", "claude", "日本語:0.0", "busy", since: 3, flags: ["stalled"]),
        session("devbox", "gemini", "pts/3", "idle", since: 4000, flags: ["background"]),
        session("gpu1", "claude", "train\u{1b}[31m:1.0", "idle", since: 9000, seen: 7500, stale: true),
    ])

    /// Work for a minute, a look without a sign, and a question.
    static let explanation = ExplainDocument(
        session: "devbox/4242-1f0c9a7be2d35c61", now: sessions.sessions[2],
        looks: [look(75, "changed", "busy", [sign("status-row", "claude.spinner-row", "busy")])]
            + (0..<11).map { number in
                look(
                    70 - Double(number) * 5, "confirmed", "busy",
                    [
                        sign("status-row", "claude.spinner-row", "busy"),
                        sign("composer", "claude.composer", "idle", "outranked", strength: "weak"),
                    ])
            }
            + [
                look(
                    15, "unrecognised", "busy",
                    [
                        sign("none", "screen.no-rule", "nothing", strength: "weak"),
                        sign("none", "claude.picker", "nothing", "discarded", strength: "weak"),
                    ]),
                look(
                    10, "changed", "needsYou",
                    [sign("dialog", "claude.permission-dialog", "needsYou", reason: "permission")],
                    reason: "permission"),
            ])

    private static func look(
        _ ago: Double, _ effect: String, _ state: String, _ signs: [SignView], reason: String? = nil
    ) -> LookView {
        LookView(time: time(ago), effect: effect, state: state, reason: reason, flags: [], evidence: signs)
    }

    private static func sign(
        _ kind: String, _ rule: String, _ says: String, _ outcome: String = "applied",
        strength: String = "strong", reason: String? = nil
    ) -> SignView {
        SignView(
            kind: kind, strength: strength, rule: rule, says: says, reason: reason, outcome: outcome,
            ageSeconds: 0)
    }

    static let devboxDocument = HostDocument(
        host: devbox, sessions: sessions.sessions.filter { $0.host == "devbox" },
        record: [
            RecordValue(key: "ssh", value: "devbox", origin: "hosts.d/devbox.toml:1:1"),
            RecordValue(key: "enabled", value: "true", origin: "hosts.d/devbox.override.toml:2:1"),
            RecordValue(key: "transport", value: "auto", origin: nil),
        ],
        diagnostics: [
            DiagnosticView(
                severity: "warning", file: "hosts.d/devbox.toml", line: 3, column: 1,
                message: "unknown key \"lable\"; did you mean \"label\"?")
        ])

    static let gpuDocument = HostDocument(
        host: gpu, sessions: sessions.sessions.filter { $0.host == "gpu1" }, record: [], diagnostics: [])

    static let status = StatusDocument(
        version: "0.1.0", pid: 4711, started: time(11_000), summary: hosts.summary, phase: "active",
        holdsSleepDelay: true, configurationDirectory: "/home/dev/.config/hostsd",
        socket: "/run/user/1000/hostsd/api.sock",
        hooks: hooks.hooks, diagnostics: devboxDocument.diagnostics, problems: ["the database is full"])

    static var statusOfAnotherRun: StatusDocument {
        var status = status
        status.pid = 9
        status.started = time(0)
        return status
    }

    static let hooks = HookList(hooks: [
        HookView(name: "desktop", usable: true, problem: nil, pending: 0, dead: 0),
        HookView(name: "ntfy", usable: true, problem: nil, pending: 3, dead: 1),
        HookView(
            name: "slack", usable: false, problem: "not executable: chmod +x hooks.d/slack", pending: 0,
            dead: 0),
    ])

    static func event(
        _ id: String, _ kind: String, _ summary: String, ago: Double, late: Bool = false,
        delivery: String = "delivered",
        dropReason: String? = nil
    ) -> EventView {
        EventView(
            id: id, kind: kind, key: "devbox/4242", time: time(ago), host: "devbox",
            session: "devbox/4242-1f0c9a7be2d35c61", agent: "claude", place: "main:0.1", reason: nil,
            turn: "t1",
            late: late, gapSeconds: late ? 190 : 0, summary: summary, delivery: delivery,
            dropReason: dropReason)
    }

    static let events = EventList(events: [
        event("e1", "host.lost", "devbox is lost", ago: 86_400),
        event("e2", "turn.ended", "claude in main:0.1 on devbox has finished", ago: 60, late: true),
        event(
            "e3", "needs.you", "claude in main:0.1 on devbox asks for permission", ago: 12,
            delivery: "dropped",
            dropReason: "focused"),
        event("e4", "host.out-of-sync", "devbox is out of sight", ago: 1, delivery: "pending"),
    ])

    static let logs = LogList(logs: [
        LogView(
            sequence: 1, time: time(2.5), category: "hub", level: "notice", event: "host.connected",
            message: "devbox is online", fields: ["host": "devbox", "took": "0.21"]),
        LogView(
            sequence: 2, time: time(1.25), category: "attention", level: "debug", event: "alert.dropped",
            message: "alert dropped for devbox/4242: focused",
            fields: ["reason": "the person types", "key": "a=b\"c"]),
        LogView(
            sequence: 3, time: time(0), category: "background", level: "critical", event: "x.y", message: "",
            fields: [:]),
    ])

    static func trust(_ host: String, added: Bool = false) -> TrustDocument {
        let verdict = ["devbox": "known", "gpu1": "changed", "lab": "revoked"][host] ?? "unknown"
        return TrustDocument(
            host: host,
            key: HostKeyView(
                name: "[\(host).example]:2222", type: "ssh-ed25519", fingerprint: fingerprint,
                verdict: verdict,
                expected: verdict == "changed" ? "SHA256:old" : nil, file: "/home/dev/.ssh/known_hosts"),
            added: added)
    }

    static let fingerprint = "SHA256:" + String(repeating: "k", count: 43)

    /// A daemon that knows all of this.
    static func daemon() throws -> FakeDaemon {
        let daemon = FakeDaemon()
        try daemon.set("GET /v1/hosts", hosts)
        try daemon.set("GET /v1/sessions", sessions)
        try daemon.set("GET /v1/sessions?host=devbox", SessionList(sessions: devboxDocument.sessions))
        try daemon.set("GET /v1/status", status)
        try daemon.set("GET /v1/version", VersionDocument(version: "0.1.0", pid: 4711))
        try daemon.set("GET /v1/hosts/devbox", devboxDocument)
        try daemon.set("GET /v1/hosts/gpu1", gpuDocument)
        try daemon.set(
            "GET /v1/hosts/nobody", APIError.hostNotFound("nobody", suggestion: nil).document, status: 404)
        try daemon.set(
            "GET /v1/sessions/devbox%2F4242-1f0c9a7be2d35c61",
            SessionDocument(session: sessions.sessions[2]))
        try daemon.set(
            "GET /v1/sessions/devbox%2F4242-1f0c9a7be2d35c61/explain", explanation)
        try daemon.set(
            "GET /v1/sessions/devbox%2F1-0/explain", APIError.sessionNotFound("devbox/1-0").document,
            status: 404)
        try daemon.set(
            "GET /v1/sessions?unknown=1",
            SessionList(sessions: [
                session("devbox", "claude", "main:0.1", "unknown", since: 12),
                session("devbox", "codex", "main:0.2", "idle", since: 190, flags: ["rules-stale"]),
            ]))
        try daemon.set("GET /v1/hooks", hooks)
        try daemon.set("GET /v1/events", events)
        try daemon.set("GET /v1/logs?level=info", logs)
        try setActions(of: daemon)
        return daemon
    }

    private static func setActions(of daemon: FakeDaemon) throws {
        for action in ["enable", "disable", "probe", "resume", "cancel"] {
            try daemon.set(
                "POST /v1/hosts/devbox/\(action)",
                ActionDocument(host: devbox, changed: true, message: "devbox: \(action) done"))
        }
        try daemon.set("POST /v1/hosts/attic/probe", APIError.hostDisabled("attic").document, status: 409)
        try daemon.set(
            "POST /v1/hosts/attic/cancel",
            APIError.conflict(
                code: "host.nothing-to-cancel", message: "there is nothing to cancel: attic is online",
                help: "hostsctl show attic"
            ).document, status: 409)
        for host in ["devbox", "fresh", "gpu1", "lab"] {
            try daemon.set("POST /v1/hosts/\(host)/trust", trust(host))
        }
        try daemon.set(
            "POST /v1/hosts/devbox/unlock", UnlockDocument(host: "devbox", keys: ["/k/id_ed25519"]))
        try daemon.set(
            "POST /v1/hosts/devbox/check",
            CheckDocument(
                host: "devbox", passed: true, linkDetail: "dev@127.0.0.1:2201", code: nil, reason: nil,
                help: nil,
                connectSeconds: 0.214, probeSeconds: 0.05, sessions: 3))
        try daemon.set(
            "POST /v1/hosts/gpu1/check",
            CheckDocument(
                host: "gpu1", passed: false, linkDetail: nil, code: gpu.code, reason: gpu.reason,
                help: gpu.help,
                connectSeconds: 1.5, probeSeconds: nil, sessions: nil))
        try daemon.set(
            "POST /v1/reload",
            ReloadDocument(
                hosts: 5, added: ["fresh"], changed: ["build", "gpu1"], removed: [],
                diagnostics: [
                    DiagnosticView(
                        severity: "error", file: "hosts.d/lab.toml", line: 0, column: 0,
                        message: "cannot be read")
                ]))
    }
}
