import HostsAPI
import HostsAttention
import HostsConfig
import HostsHub
import HostsLog
import HostsModel
import HostsPolicy
import HostsServer
import HostsSystem
import HostsTestSupport
import Testing

@testable import HostsDaemon

/// The doors of a person: trust, unlock and cancel, with links that a test answers for.
@Suite(.timeLimit(.minutes(1))) struct FleetServiceTests {
    private static let fingerprint = "SHA256:" + String(repeating: "k", count: 43)

    private static func offer(_ verdict: HostKeyOffer.Verdict = .unknown) -> HostKeyOffer {
        HostKeyOffer(
            host: "[a.example]:22", type: "ssh-ed25519", fingerprint: fingerprint, verdict: verdict,
            file: "/h/known_hosts")
    }

    private static func name(_ text: String) throws -> HostID { try #require(HostID(rawValue: text)) }

    // MARK: trust

    @Test(
        arguments: [
            (HostKeyOffer.Verdict.known, "known", nil, "/h/known_hosts"),
            (.unknown, "unknown", nil, "/h/known_hosts"),
            (.changed(expected: "SHA256:old", file: "/etc/known"), "changed", "SHA256:old", "/etc/known"),
            (.revoked, "revoked", nil, "/h/known_hosts"),
        ] as [(HostKeyOffer.Verdict, String, String?, String)])
    func `a question is answered with the key, and dials nothing`(
        verdict: HostKeyOffer.Verdict, word: String, expected: String?, file: String
    ) async throws {
        let rig = try Rig(["a", "off"])
        rig.access.offer = .success(Self.offer(verdict))
        try await rig.run { service in
            let a = try Self.name("a")
            try await rig.until(a) { $0 == .online }
            let looks = rig.fleet.looks(at: a)
            for host in ["a", "off"] {
                let answer = try await service.trust(host, fingerprint: nil)
                #expect(
                    answer
                        == TrustDocument(
                            host: host,
                            key: HostKeyView(
                                name: "[a.example]:22", type: "ssh-ed25519", fingerprint: Self.fingerprint,
                                verdict: word, expected: expected, file: file),
                            added: false))
            }
            #expect(rig.access.asked == ["hostKey a", "hostKey off"])
            #expect(rig.fleet.dials(of: a) == 1)
            #expect(rig.fleet.looks(at: a) == looks)
        }
    }

    @Test(arguments: [HostKeyOffer.Verdict.unknown, .known])
    func `an accepted key is added, and the host dialled`(verdict: HostKeyOffer.Verdict) async throws {
        let rig = try Rig(["a", "off"])
        let a = try Self.name("a")
        rig.fleet.set(.fails(.hostKeyUnknown(host: "a", fingerprint: Self.fingerprint)), for: a)
        rig.access.trusted = .success(Self.offer(verdict))
        try await rig.run { service in
            try await rig.until(a) { if case .needsYou = $0 { true } else { false } }
            rig.fleet.set(.succeeds, for: a)
            let answer = try await service.trust("a", fingerprint: Self.fingerprint)
            #expect(answer.added == (verdict == .unknown))
            try await rig.until(a) { $0 == .online }
            // A disabled host gets its key and is not dialled.
            _ = try await service.trust("off", fingerprint: Self.fingerprint)
            #expect(rig.access.asked == ["trust a \(Self.fingerprint)", "trust off \(Self.fingerprint)"])
            #expect(rig.fleet.dials(of: try Self.name("off")) == 0)
        }
    }

    struct Refusal: Sendable, CustomTestStringConvertible {
        let error: HostAccessError
        let status: Int
        let code: String
        let message: String
        let help: String?
        var testDescription: String { code }
    }

    private static let refused = LinkError.connectionRefused(address: "h:22")

    @Test(arguments: [
        Refusal(
            error: .link(refused), status: 502, code: "connect.refused", message: refused.message, help: nil),
        Refusal(
            error: .otherKey(offer()), status: 409, code: "hostkey.other",
            message:
                "[a.example]:22 shows another key than the accepted one: \(fingerprint), not SHA256:mine",
            help: "compare the fingerprint with the host's own, then: hostsctl trust a"),
        Refusal(
            error: .refused(offer(.changed(expected: "SHA256:old", file: "/k"))), status: 409,
            code: "hostkey.changed",
            message:
                "the host key of [a.example]:22 has changed: /k has SHA256:old, the server shows \(fingerprint)",
            help: "if the change is expected: ssh-keygen -f /k -R '[a.example]:22', then: hostsctl trust a"),
        Refusal(
            error: .refused(offer(.unknown)), status: 409, code: "hostkey.other",
            message: "the key of [a.example]:22 is not added: \(fingerprint)", help: "hostsctl trust a"),
        Refusal(
            error: .refused(offer(.revoked)), status: 409, code: "hostkey.revoked",
            message: "the host key of [a.example]:22 is revoked (\(fingerprint))",
            help: "do not log in; ask whoever runs the host for its new key"),
        Refusal(
            error: .fileNotWritten(path: "/k", detail: "No space left"), status: 500,
            code: "hostkey.not-written", message: "/k cannot be written: No space left",
            help: "look at the permissions of /k, then: hostsctl trust a"),
    ])
    func `a key that is not added is refused with its reason`(_ c: Refusal) async throws {
        let rig = try Rig(["a"])
        rig.access.trusted = .failure(c.error)
        try await rig.run { service in
            let a = try Self.name("a")
            try await rig.until(a) { $0 == .online }
            let looks = rig.fleet.looks(at: a)
            let error = await Self.error { () async throws(APIError) in
                _ = try await service.trust("a", fingerprint: "SHA256:mine")
            }
            #expect(error?.status == c.status)
            #expect(
                error?.document.error == ErrorDocument(code: c.code, message: c.message, help: c.help).error)
            // The host is left as it is.
            #expect(rig.fleet.looks(at: a) == looks)
        }
    }

    @Test func `a host that shows no key is told with the error of its link`() async throws {
        let rig = try Rig(["a"])
        rig.access.offer = .failure(.notSSH(address: "h:80", firstLine: "HTTP/1.1"))
        try await rig.run { service in
            let error = await Self.error { () async throws(APIError) in
                _ = try await service.trust("a", fingerprint: nil)
            }
            #expect(error?.status == 502)
            #expect(error?.document.error.code == "ssh.not-ssh")
            #expect(error?.document.error.help != nil)
        }
    }

    // MARK: unlock

    @Test func `every host that waits for an opened key is dialled, and no other`() async throws {
        let rig = try Rig(["a", "b", "c", "d", "off"])
        let hosts = try ["a", "b", "c", "d"].map { try Self.name($0) }
        let errors: [LinkError] = [
            .keyNeedsPassphrase(path: "/k"), .jumpHost(name: "j", .keyNeedsPassphrase(path: "/k")),
            .keyNeedsPassphrase(path: "/other"), .keyMissing(path: "/k"),
        ]
        for (host, error) in zip(hosts, errors) { rig.fleet.set(.fails(error), for: host) }
        rig.access.unlocked = .success(["/k"])
        try await rig.run { service in
            for (host, error) in zip(hosts, errors) { try await rig.until(host) { $0 == .needsYou(error) } }
            for host in hosts { rig.fleet.set(.succeeds, for: host) }
            let answer = try await service.unlock("a", passphrase: SecretBytes(copying: "hunter2".utf8))
            #expect(answer == UnlockDocument(host: "a", keys: ["/k"]))
            #expect(rig.access.asked == ["unlock a hunter2"])
            for host in hosts[..<2] { try await rig.until(host) { $0 == .online } }
            #expect(hosts.map { rig.fleet.dials(of: $0) } == [2, 2, 1, 1])
            let log = rig.logs.records().map { "\($0)" }.joined()
            #expect(!log.isEmpty)
            #expect(!log.contains("hunter2"))
        }
    }

    @Test(arguments: [
        Refusal(
            error: .wrongPassphrase(paths: ["/k", "/l"]), status: 403, code: "key.wrong-passphrase",
            message: "the passphrase does not open /k or /l", help: nil),
        Refusal(
            error: .nothingLocked, status: 409, code: "key.not-locked",
            message: "no key of a waits for a passphrase", help: "hostsctl show a"),
        Refusal(
            error: .link(.resolutionFailed(destination: "d", detail: "no")), status: 502, code: "ssh.config",
            message: "ssh -G d failed: no",
            help: LinkError.resolutionFailed(destination: "d", detail: "no").help(for: .a)),
    ])
    func `a passphrase that opens nothing is refused with its reason`(_ c: Refusal) async throws {
        let rig = try Rig(["a"])
        rig.access.unlocked = .failure(c.error)
        try await rig.run { service in
            let error = await Self.error { () async throws(APIError) in
                _ = try await service.unlock("a", passphrase: SecretBytes(copying: "hunter2".utf8))
            }
            #expect(error?.status == c.status)
            #expect(
                error?.document.error == ErrorDocument(code: c.code, message: c.message, help: c.help).error)
        }
    }

    @Test func `a disabled, a broken and an unknown host are refused before the links are asked`()
        async throws
    {
        let rig = try Rig(["off"], bad: ["bad"])
        try await rig.run { service in
            let secret = SecretBytes(copying: "hunter2".utf8)
            let expected = [("off", "host.disabled"), ("bad", "config.error"), ("gone", "host.not-found")]
            for (host, code) in expected {
                let unlock = await Self.error { () async throws(APIError) in
                    _ = try await service.unlock(host, passphrase: secret)
                }
                let cancel = await Self.error { () async throws(APIError) in
                    _ = try await service.cancel(host)
                }
                #expect([unlock, cancel].map { $0?.document.error.code } == [code, code])
            }
            for (host, code) in expected.dropFirst() {
                let trust = await Self.error { () async throws(APIError) in
                    _ = try await service.trust(host, fingerprint: nil)
                }
                #expect(trust?.document.error.code == code)
            }
            #expect(rig.access.asked == [])
        }
    }

    // MARK: cancel

    @Test func `a host that waits becomes dormant, with its last error, until it is resumed`() async throws {
        let rig = try Rig(["a"])
        let a = try Self.name("a")
        rig.fleet.set(.fails(Self.refused), for: a)
        try await rig.run { service in
            try await rig.until(a) { if case .reconnecting(1, _) = $0 { true } else { false } }
            let answer = try await service.cancel("a")
            #expect(answer.changed)
            #expect(answer.host.condition == "dormant")
            #expect(answer.host.code == "link.cancelled")
            #expect(
                answer.message
                    == "a is dormant: its attempts were cancelled; the last error: \(Self.refused.message)")
            #expect(answer.host.help == "dial it now with: hostsctl resume a")
            rig.fleet.set(.succeeds, for: a)
            #expect(try await service.resume("a").host.condition == "online")
            let error = await Self.error { () async throws(APIError) in _ = try await service.cancel("a") }
            #expect(error?.status == 409)
            #expect(error?.document.error.code == "host.nothing-to-cancel")
            #expect(error?.document.error.message == "there is nothing to cancel: a is online")
        }
    }

    private static func error(_ body: () async throws(APIError) -> Void) async -> APIError? {
        do throws(APIError) {
            try await body()
            return nil
        } catch {
            return error
        }
    }
}

extension HostID {
    fileprivate static var a: HostID {
        guard let id = HostID(rawValue: "a") else { preconditionFailure("a is a good name") }
        return id
    }
}

// MARK: - The rig

/// Links that answer what a test says, and remember what they were asked.
final class FakeAccess: HostAccess {
    private struct State: Sendable {
        var asked: [String] = []
        var offer: Result<HostKeyOffer, LinkError> = .failure(.cancelled)
        var trusted: Result<HostKeyOffer, HostAccessError> = .failure(.link(.cancelled))
        var unlocked: Result<[String], HostAccessError> = .failure(.nothingLocked)
    }

    private let state = Locked(State())

    var asked: [String] { state.withLock { $0.asked } }

    var offer: Result<HostKeyOffer, LinkError> {
        get { state.withLock { $0.offer } }
        set { state.withLock { $0.offer = newValue } }
    }

    var trusted: Result<HostKeyOffer, HostAccessError> {
        get { state.withLock { $0.trusted } }
        set { state.withLock { $0.trusted = newValue } }
    }

    var unlocked: Result<[String], HostAccessError> {
        get { state.withLock { $0.unlocked } }
        set { state.withLock { $0.unlocked = newValue } }
    }

    private func note(_ text: String) { state.withLock { $0.asked.append(text) } }

    func hostKey(of record: HostRecord) async throws(LinkError) -> HostKeyOffer {
        note("hostKey \(record.id)")
        return try offer.get()
    }

    func trust(_ record: HostRecord, fingerprint: String) async throws(HostAccessError) -> HostKeyOffer {
        note("trust \(record.id) \(fingerprint)")
        return try trusted.get()
    }

    func unlock(_ record: HostRecord, passphrase: [UInt8]) async throws(HostAccessError) -> [String] {
        note("unlock \(record.id) \(String(decoding: passphrase, as: UTF8.self))")
        return try unlocked.get()
    }
}

/// A looks-at-nothing interpreter.
private struct EmptyInterpreter: ProbeInterpreter {
    let host: HostID

    func nextRequest() -> ProbeRequest { ProbeRequest(function: "look") }

    func explain(_ session: SessionID) -> SessionExplanation? { nil }

    func interpret(_ reply: ProbeReply, at time: WallTime) throws(LinkError) -> ProbeStep {
        .observation(HostObservation(host: host, bootID: "boot", time: time, sessions: []))
    }
}

/// The service over a hub of simulated hosts, in a time that stands still; a host called `off` is disabled.
struct Rig {
    let fleet = SimulatedFleet()
    let access = FakeAccess()
    let logs = LogCenter(level: .trace, sinks: [], clock: FixedWallClock())
    private let folder: TemporaryFolder
    let hub: ConnectionHub
    private let service: FleetService
    private let records: [HostRecord]
    private let bad: [HostID: (HostsModel.SourceLocation, String)]

    init(_ hosts: [String], bad: [String] = []) throws {
        folder = try TemporaryFolder()
        try folder.makeFolder("hosts.d")
        try folder.makeFolder("state")
        let clock = ManualClock()
        let wall = FixedWallClock()
        records = try hosts.map { name in
            HostRecord(id: try #require(HostID(rawValue: name)), destination: name, isEnabled: name != "off")
        }
        let place = HostsModel.SourceLocation(file: "bad.toml", line: 1, column: 1)
        self.bad = Dictionary(
            try bad.map { (try #require(HostID(rawValue: $0)), (place, "no")) },
            uniquingKeysWith: { first, _ in first })
        let environment = ConnectionHub.Environment(
            connector: fleet, clock: clock, wallClock: wall, jitter: FixedJitter(0.5), logs: logs,
            hasRoute: { _ in false },
            makeInterpreter: { EmptyInterpreter(host: $0) })
        hub = ConnectionHub(environment: environment, settings: ConnectionHub.Settings())
        let hook = HookEnvironment(inherited: [:], socket: "/none")
        let center = try AttentionCenter(
            database: folder.path("state/hostsd.db"),
            environment: AttentionCenter.Environment(
                clock: clock, wall: wall, jitter: FixedJitter(0),
                runner: SettableHookRunner(HookRunner(environment: hook)),
                readHooks: { HookSet(hooks: []) }, log: logs))
        let keeper = ConfigurationKeeper(
            reader: ConfigurationReader(directory: folder.path), clock: clock, log: logs.log(.config),
            putInForce: { _ in }, tell: { _ in })
        let paths = try Paths.resolve(
            PathOptions(
                configuration: folder.path, state: folder.path("state"), socket: folder.path("api.sock")),
            environment: ["HOME": folder.path], role: .daemon)
        let access = access
        service = FleetService(
            facts: .init(version: VersionDocument(version: "1", pid: 1), started: wall.now, paths: paths),
            hub: hub, center: center, keeper: keeper, overrides: OverrideWriter(paths: paths),
            windows: BackgroundRefresh(
                hub: hub, interval: .seconds(900), clock: clock, log: logs.log(.background),
                isAttentionActive: { await center.isActive }, deliver: { _ in }),
            delayRefusal: { nil },
            rehearse: { [hub] rehearsal in
                Task { await hub.setPhase(rehearsal == .sleep ? .background : .active) }
            },
            check: SignalCheck(environment: environment), access: { access }, logs: LogFeed(center: logs),
            clock: wall, readAll: { await keeper.reload() })
    }

    /// Runs the hub while `body` asks the service.
    func run(_ body: (FleetService) async throws -> Void) async throws {
        let hub = hub
        let running = Task { await hub.run() }
        await hub.setRecords(records, bad: bad)
        let result: Result<Void, any Error>
        do { result = .success(try await body(service)) } catch { result = .failure(error) }
        running.cancel()
        await running.value
        #expect(fleet.violations.isEmpty)
        try result.get()
    }

    /// Waits until a host shows what is wanted.
    func until(_ host: HostID, _ isWanted: (HostCondition) -> Bool) async throws {
        while true {
            let condition = try #require(await hub.snapshot(of: host)).condition
            if isWanted(condition) { return }
            try Task.checkCancellation()
            await Task.yield()
        }
    }
}
