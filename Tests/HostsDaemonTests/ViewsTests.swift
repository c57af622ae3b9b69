import HostsAPI
import HostsHub
import HostsModel
import Testing

@testable import HostsConfig
@testable import HostsDaemon

@Suite struct ViewsTests {
    private static let noon = WallTime(milliseconds: 1_796_040_000_000)

    private static func host(_ name: String = "dev") throws -> HostID { try #require(HostID(rawValue: name)) }

    private static func session(
        _ state: AgentState, on host: HostID, place: Place = Place(label: "main:0.1"), version: String? = nil
    ) throws -> AgentSession {
        AgentSession(
            id: SessionID(host: host, bootID: "b", place: place, pid: 7, startTime: "1"), host: host,
            agent: AgentName(rawValue: "claude"), version: version, place: place, pid: 7, state: state,
            since: noon, lastSeen: noon)
    }

    private static func snapshot(
        _ condition: HostCondition, name: String = "dev", isEnabled: Bool = true, lastError: LinkError? = nil,
        link: LinkSummary? = nil, sessions: [AgentState]? = nil, isStale: Bool = false
    ) throws -> HostSnapshot {
        let host = try host(name)
        return HostSnapshot(
            record: HostRecord(id: host, destination: "d", isEnabled: isEnabled, tags: ["ml"]),
            condition: condition, lastError: lastError, link: link, generation: 3,
            observation: try sessions.map { states in
                HostObservation(
                    host: host, bootID: "b", time: noon,
                    sessions: try states.map { try session($0, on: host) }, warnings: ["w"])
            }, isStale: isStale)
    }

    // MARK: Hosts

    struct Case: Sendable, CustomTestStringConvertible {
        var condition: HostCondition
        var lastError: LinkError?
        var word: String
        var reason: String?
        var code: String?
        var help: String?
        var attempt: Int?
        var nextAttempt: WallTime?

        var testDescription: String { word }
    }

    private static let locked = LinkError.keyNeedsPassphrase(path: "/k")
    private static let refused = LinkError.connectionRefused(address: "h:22")
    private static let later = noon.advanced(by: .seconds(8))

    @Test(arguments: [
        Case(condition: .online, word: "online"),
        Case(condition: .checking, word: "checking"),
        Case(condition: .connecting, word: "connecting"),
        Case(
            condition: .connecting, lastError: refused, word: "connecting", reason: refused.message,
            code: "connect.refused"),
        Case(
            condition: .reconnecting(attempt: 2, at: later), lastError: refused, word: "reconnecting",
            reason: refused.message, code: "connect.refused", attempt: 2, nextAttempt: later),
        Case(condition: .asleep, word: "asleep"),
        Case(condition: .disabled, word: "disabled"),
        Case(
            condition: .needsYou(locked), lastError: refused, word: "needsYou",
            reason: "the key /k has a passphrase", code: "ssh.key.passphrase",
            help: "hostsctl unlock dev, or load it into your agent: ssh-add /k, then: hostsctl resume dev"),
        Case(
            condition: .dormant(refused), word: "dormant", reason: refused.message, code: "connect.refused",
            help: "dial it now with: hostsctl resume dev"),
        Case(
            condition: .dormant(.cancelled), lastError: refused, word: "dormant",
            reason: "its attempts were cancelled; the last error: \(refused.message)", code: "link.cancelled",
            help: "dial it now with: hostsctl resume dev"),
        Case(
            condition: .dormant(.cancelled), word: "dormant", reason: "its attempts were cancelled",
            code: "link.cancelled", help: "dial it now with: hostsctl resume dev"),
        Case(
            condition: .reconnecting(attempt: 1, at: later),
            lastError: .notSSH(address: "h:80", firstLine: "HTTP/1.1"),
            word: "reconnecting", reason: "h:80 is not an SSH server; it says \"HTTP/1.1\"",
            code: "ssh.not-ssh",
            help: "check HostName and Port of this host in your ssh_config (captive portal?)", attempt: 1,
            nextAttempt: later),
        Case(
            condition: .limited(until: later, .rateLimited(detail: "slow")), word: "limited",
            reason: "the server refuses us for a while: slow", code: "ssh.rate-limited", nextAttempt: later),
        Case(
            condition: .unsupported(.noPOSIXShell(detail: "")), word: "unsupported",
            reason: "the account gives no POSIX shell", code: "shell.not-posix",
            help: "the account must be able to run /bin/sh"),
        Case(
            condition: .badRecord(SourceLocation(file: "/c/dev.toml", line: 2, column: 5), message: "no"),
            lastError: refused, word: "badRecord", reason: "/c/dev.toml:2:5: no", code: "config.error",
            help: "correct the file; it is read at once"),
    ])
    func `a host shows its condition, why, and what helps`(_ c: Case) throws {
        let snapshot = try Self.snapshot(c.condition, lastError: c.lastError)
        let view = HostView(snapshot, now: Self.noon)
        #expect(view.condition == c.word)
        #expect(view.reason == c.reason)
        #expect(view.code == c.code)
        #expect(view.help == c.help)
        #expect(view.attempt == c.attempt)
        #expect(view.nextAttempt == c.nextAttempt.map { APITime($0) })
    }

    @Test func `a host that was never seen has no facts of a look`() throws {
        let view = HostView(try Self.snapshot(.connecting), now: Self.noon)
        #expect(view.lastObserved == nil)
        #expect(view.ageSeconds == nil)
        #expect(view.bootID == nil)
        #expect(view.link == nil)
        #expect(view.linkDetail == nil)
        #expect(view.linkReason == nil)
        #expect(view.sessions == SessionCounts())
        #expect(view.warnings == [])
    }

    @Test func `a host that was seen has the age of the look and what was found`() throws {
        let snapshot = try Self.snapshot(
            .checking,
            link: LinkSummary(kind: .openssh, mode: .exec, detail: "dev@h:22", reason: "ProxyJump"),
            sessions: [.busy, .idle, .needsYou(.permission), .stopped, .unknown, .exited, .busy],
            isStale: true)
        let view = HostView(snapshot, now: Self.noon.advanced(by: .milliseconds(1500)))
        #expect(view.name == "dev")
        #expect(view.label == "dev")
        #expect(view.enabled)
        #expect(view.tags == ["ml"])
        #expect(view.generation == 3)
        #expect(view.link == "openssh")
        #expect(view.linkDetail == "dev@h:22, exec")
        #expect(view.linkReason == "ProxyJump")
        #expect(view.lastObserved == APITime(Self.noon))
        #expect(view.ageSeconds == 1.5)
        #expect(view.stale)
        #expect(view.bootID == "b")
        #expect(view.sessions == SessionCounts(busy: 2, idle: 1, needsYou: 1, stopped: 1, unknown: 1))
        #expect(view.warnings == ["w"])
    }

    @Test func `a clock that was set back makes no negative age`() throws {
        let snapshot = try Self.snapshot(.online, sessions: [])
        #expect(HostView(snapshot, now: Self.noon.advanced(by: .seconds(-60))).ageSeconds == 0)
    }

    // MARK: The summary

    @Test func `disabled hosts count as disabled and as nothing else`() throws {
        let summary = FleetSummary([
            try Self.snapshot(.online, name: "a", sessions: [.needsYou(.plan), .busy]),
            try Self.snapshot(.needsYou(Self.locked), name: "b"),
            try Self.snapshot(.reconnecting(attempt: 1, at: Self.later), name: "c"),
            try Self.snapshot(.disabled, name: "d", isEnabled: false, sessions: [.needsYou(.plan)]),
            // Its link is being torn down: it is disabled already.
            try Self.snapshot(.online, name: "e", isEnabled: false, sessions: [.needsYou(.plan)]),
            try Self.snapshot(.needsYou(Self.locked), name: "f", isEnabled: false),
        ])
        #expect(summary == FleetSummary(hosts: 3, online: 1, needsYou: 2, disabled: 3))
    }

    @Test func `no hosts are an empty summary`() {
        #expect(FleetSummary([]) == FleetSummary(hosts: 0, online: 0, needsYou: 0, disabled: 0))
    }

    @Test(arguments: [
        (FleetSummary(hosts: 3, online: 2, needsYou: 1, disabled: 0), 0, "2/3 online, 1 need you"),
        (
            FleetSummary(hosts: 3, online: 2, needsYou: 0, disabled: 4), 0,
            "2/3 online, 0 need you, 4 disabled"
        ),
        (
            FleetSummary(hosts: 0, online: 0, needsYou: 0, disabled: 1), 2,
            "0/0 online, 0 need you, 1 disabled; 2 configuration errors, see hostsctl status"
        ),
    ])
    func `the status line tells what is there`(summary: FleetSummary, errors: Int, line: String) {
        #expect(summary.statusLine(configurationErrors: errors) == line)
    }

    // MARK: Sessions, records

    @Test func `what a host calls its session is made visible`() throws {
        let session = try Self.session(
            .needsYou(.question), on: Self.host(), place: Place(label: "a\u{1b}[2J", socket: "/s"),
            version: "1\u{7}")
        let view = SessionView(session, isStale: true, clock: nil)
        #expect(view.state == "needsYou")
        #expect(view.reason == "question")
        #expect(view.stale)
        #expect(view.socket == "/s")
        for text in [view.place, view.version ?? ""] {
            #expect(!text.unicodeScalars.contains { $0.properties.generalCategory == .control })
        }
    }

    @Test func `a record tells each value, and where it was written`() throws {
        let record = HostRecord(id: try Self.host(), destination: "d", tags: ["a", "b"])
        let place = SourceLocation(file: "/c/dev.toml", line: 1, column: 7)
        let values = RecordValue.all(of: record, origins: ["ssh": place])
        #expect(
            values.map(\.key) == [
                "ssh", "label", "enabled", "background_keep_alive", "session_restore", "transport", "tags",
            ])
        #expect(values.map(\.value) == ["d", "dev", "true", "false", "none", "auto", "a, b"])
        #expect(values.map(\.origin) == ["/c/dev.toml:1:7", nil, nil, nil, nil, nil, nil])
    }

    @Test func `a record tells every key that a file can have`() throws {
        let record = HostRecord(id: try Self.host(), destination: "d")
        #expect(
            Set(RecordValue.all(of: record, origins: [:]).map(\.key))
                == Set(RecordDraft.keys.map(\.name)))
    }
}
