import HostsAPI
import HostsAttention
import HostsConfig
import HostsHub
import HostsLog
import HostsModel
import HostsPolicy
import HostsServer
import HostsSystem

/// What the API asks, answered by the engines.
struct FleetService: DaemonService {
    /// What does not change while the daemon runs.
    struct Facts: Sendable {
        let version: VersionDocument
        let started: WallTime
        let paths: Paths
    }

    let facts: Facts
    let hub: ConnectionHub
    let center: AttentionCenter
    let keeper: ConfigurationKeeper
    let overrides: OverrideWriter
    let windows: BackgroundRefresh
    /// Why there is no delay before sleep although some host wants one; nil while all is well.
    let delayRefusal: @Sendable () async -> String?
    /// Plays the announcement of a sleep or of its end.
    let rehearse: @Sendable (LifecycleObserver.Rehearsal) -> Void
    let check: SignalCheck
    /// What helps with hosts that wait for a person, by the settings of the moment.
    let access: @Sendable () -> any HostAccess
    let logs: LogFeed
    let clock: any WallClock
    /// What the looks of streams are paced by.
    var pace: any MonotonicClock = SystemClock()
    /// Reads configuration, rules and hooks anew.
    let readAll: @Sendable () async -> ConfigurationKeeper.Change

    func status() async throws(APIError) -> StatusDocument {
        var problems: [String] = []
        if let failure = await center.storeFailure() {
            problems.append("\(failure.message); \(failure.help)")
        }
        if let refusal = await delayRefusal() {
            problems.append("background_keep_alive has no effect: \(refusal)")
        }
        return StatusDocument(
            version: facts.version.version, pid: facts.version.pid, started: APITime(facts.started),
            summary: FleetSummary(await hub.snapshots()), phase: await hub.phase.rawValue,
            holdsSleepDelay: await hub.isHoldingBackgroundTime,
            configurationDirectory: facts.paths.configuration, socket: facts.paths.socket,
            hooks: await center.hookStatuses().map { HookView($0) },
            diagnostics: await keeper.diagnostics.map { DiagnosticView($0) },
            problems: problems)
    }

    func hooks() async throws(APIError) -> HookList {
        HookList(hooks: await center.hookStatuses().map { HookView($0) })
    }

    func reload() async throws(APIError) -> ReloadDocument {
        let change = await readAll()
        return ReloadDocument(
            hosts: change.configuration.records.count, added: change.added.map(\.rawValue),
            changed: change.changed.map(\.rawValue), removed: change.removed.map(\.rawValue),
            diagnostics: await keeper.diagnostics.map { DiagnosticView($0) })
    }
}

// MARK: - Hosts

extension FleetService {
    func hosts() async throws(APIError) -> HostList {
        let snapshots = await hub.snapshots()
        let now = clock.now
        return HostList(
            hosts: snapshots.map { HostView($0, now: now) }, summary: FleetSummary(snapshots))
    }

    func host(_ name: String) async throws(APIError) -> HostDocument {
        let snapshot = try await snapshot(of: name)
        let host = snapshot.record.id
        let configuration = await keeper.current
        return HostDocument(
            host: HostView(snapshot, now: clock.now), sessions: await sessionViews([snapshot]),
            record: RecordValue.all(of: snapshot.record, origins: configuration.origins[host] ?? [:]),
            diagnostics: await keeper.diagnostics(about: host).map { DiagnosticView($0) })
    }

    func enable(_ name: String) async throws(APIError) -> ActionDocument {
        try await set(isEnabled: true, name)
    }

    func disable(_ name: String) async throws(APIError) -> ActionDocument {
        try await set(isEnabled: false, name)
    }

    private func set(isEnabled: Bool, _ name: String) async throws(APIError) -> ActionDocument {
        let host = try await snapshot(of: name).record.id
        let outcome = try await write(.enabled(isEnabled), for: host)
        // The socket goes with the command, whatever the reload says (seed 002).
        if !isEnabled { await hub.suspendModel(of: host) }
        // Put in force even if the files are as they were: somebody else may have enabled it meanwhile.
        await keeper.reload(isAlwaysPutInForce: true)
        let word = isEnabled ? "enabled" : "disabled"
        let message =
            switch outcome {
            case .written(let path): "\(host) is \(word); written to \(path)"
            case .unchanged: "\(host) is already \(word)"
            }
        return ActionDocument(
            host: HostView(try await snapshot(of: name), now: clock.now), changed: outcome != .unchanged,
            message: message)
    }

    /// Writes one value into the override file of a host.
    func write(_ change: RecordChange, for host: HostID) async throws(APIError)
        -> OverrideWriter.Outcome
    {
        do throws(OverrideError) {
            return try await overrides.apply([change], to: host)
        } catch {
            throw .failed(code: error.code, message: error.description, help: nil)
        }
    }

    func probe(_ name: String) async throws(APIError) -> ActionDocument {
        try await act(name) { host throws(HubRefusal) in try await hub.probe(host) }
    }

    func resume(_ name: String) async throws(APIError) -> ActionDocument {
        try await act(name) { host throws(HubRefusal) in try await hub.resume(host) }
    }

    func cancel(_ name: String) async throws(APIError) -> ActionDocument {
        try await act(name) { host throws(HubRefusal) in try await hub.cancelRetries(of: host) }
    }

    private func act(
        _ name: String, _ action: (HostID) async throws(HubRefusal) -> Void
    ) async throws(APIError) -> ActionDocument {
        let host = try await snapshot(of: name).record.id
        do throws(HubRefusal) {
            try await action(host)
        } catch {
            switch error {
            case .disabled: throw .hostDisabled(name)
            case .noSuchHost: throw .hostNotFound(name, suggestion: nil)
            case .badRecord: throw Self.unusableRecord(name, try await snapshot(of: name).condition)
            case .nothingToCancel:
                let predicate = try await snapshot(of: name).condition.predicate
                throw .conflict(
                    code: "host.nothing-to-cancel",
                    message: "there is nothing to cancel: \(host) \(predicate)",
                    help: "hostsctl show \(host)")
            }
        }
        let snapshot = try await snapshot(of: name)
        let view = HostView(snapshot, now: clock.now)
        let detail = view.reason.map { ": " + $0 } ?? ""
        return ActionDocument(
            host: view, changed: true, message: "\(host) \(snapshot.condition.predicate)\(detail)")
    }

    func check(_ name: String) async throws(APIError) -> CheckDocument {
        let record = try await usableRecord(of: name)
        let outcome = await check.run(record)
        return CheckDocument(
            host: name, passed: outcome.error == nil, linkDetail: outcome.link?.detail,
            code: outcome.error?.code, reason: outcome.error?.message,
            help: outcome.error?.help(for: record.id), connectSeconds: outcome.connecting.seconds,
            probeSeconds: outcome.looking?.seconds, sessions: outcome.sessions)
    }

    /// The record of a host, which may be disabled.
    func usableRecord(of name: String) async throws(APIError) -> HostRecord {
        let snapshot = try await snapshot(of: name)
        if case .badRecord = snapshot.condition { throw Self.unusableRecord(name, snapshot.condition) }
        return snapshot.record
    }

    /// Refuses what a broken record stands against, and says where it is broken.
    private static func unusableRecord(_ name: String, _ condition: HostCondition) -> APIError {
        guard let fault = condition.badRecordMessage else {
            return .configuration("the record of \(name) cannot be used")
        }
        return .configuration("the record of \(name) cannot be used: \(fault)")
    }

    func snapshot(of name: String) async throws(APIError) -> HostSnapshot {
        if let host = HostID(rawValue: name), let snapshot = await hub.snapshot(of: host) { return snapshot }
        let names = await hub.snapshots().map(\.record.id.rawValue)
        throw .hostNotFound(
            SafeText.visible(name, limit: 80), suggestion: NearestName.suggestion(for: name, among: names))
    }
}

// MARK: - Hosts that wait for a person

extension FleetService {
    func trust(_ name: String, fingerprint: String?) async throws(APIError) -> TrustDocument {
        let record = try await usableRecord(of: name)
        guard let fingerprint else {
            let offer: HostKeyOffer
            do throws(LinkError) {
                offer = try await access().hostKey(of: record)
            } catch {
                throw APIError(error, of: record.id)
            }
            return TrustDocument(host: record.id.rawValue, key: HostKeyView(offer), added: false)
        }
        let offer: HostKeyOffer
        do throws(HostAccessError) {
            offer = try await access().trust(record, fingerprint: fingerprint)
        } catch {
            throw APIError(error, of: record.id, accepted: fingerprint)
        }
        await hub.redial(record.id)
        return TrustDocument(
            host: record.id.rawValue, key: HostKeyView(offer), added: offer.verdict == .unknown)
    }

    func unlock(_ name: String, passphrase: SecretBytes) async throws(APIError) -> UnlockDocument {
        let record = try await usableRecord(of: name)
        guard record.isEnabled else { throw .hostDisabled(name) }
        var copy = passphrase.withBytes { Array($0) }
        defer { SecretBytes.erase(&copy) }
        let paths: [String]
        do throws(HostAccessError) {
            paths = try await access().unlock(record, passphrase: copy)
        } catch {
            throw APIError(error, of: record.id)
        }
        await hub.redial(record.id)
        for waiting in await hub.snapshots() where waiting.record.id != record.id {
            guard case .needsYou(let error) = waiting.condition, let key = error.lockedKey,
                paths.contains(key)
            else { continue }
            await hub.redial(waiting.record.id)
        }
        return UnlockDocument(host: record.id.rawValue, keys: paths)
    }
}

// MARK: - Sessions

extension FleetService {
    func sessions(host name: String?) async throws(APIError) -> SessionList {
        guard let name else { return SessionList(sessions: await sessionViews(await hub.snapshots())) }
        return SessionList(sessions: await sessionViews([try await snapshot(of: name)]))
    }

    func session(_ id: SessionID) async throws(APIError) -> SessionDocument {
        guard let host = id.host, let snapshot = await hub.snapshot(of: host),
            let view = await sessionViews([snapshot]).first(where: { $0.id == id.rawValue })
        else { throw .sessionNotFound(SafeText.visible(id.rawValue, limit: 120)) }
        return SessionDocument(session: view)
    }

    func explain(_ id: SessionID) async throws(APIError) -> ExplainDocument {
        guard let host = id.host, let explanation = await hub.explain(id, on: host) else {
            throw .sessionNotFound(SafeText.visible(id.rawValue, limit: 120))
        }
        let snapshots = await hub.snapshot(of: host).map { [$0] } ?? []
        return ExplainDocument(
            session: id.rawValue, now: await sessionViews(snapshots).first { $0.id == id.rawValue },
            looks: explanation.looks.map { LookView($0) })
    }

    private func sessionViews(_ snapshots: [HostSnapshot]) async -> [SessionView] {
        let clocks = await center.turnClocks()
        return snapshots.flatMap { snapshot in
            (snapshot.observation?.sessions ?? []).map { session in
                SessionView(session, isStale: snapshot.isStale, clock: TurnClockView(clocks[session.id]))
            }
        }
    }
}

// MARK: - Events and logs

extension FleetService {
    func events(_ query: EventQuery) async throws(APIError) -> EventList {
        EventList(events: try await stored(query))
    }

    func watchEvents(_ query: EventQuery) async throws(APIError) -> Watch<EventView> {
        let after = try eventID(query.after)
        let (past, live) = await center.watch(after: after, limit: Self.everything)
        let news = live.map { EventView($0) }.filter { query.includes($0) }
        guard query.after == nil else {
            return Watch(past: past.map { EventView($0) }.filter { query.includes($0) }, live: news)
        }
        guard query.limit > 0 else { return Watch(past: [], live: news) }
        // What was stored in between is in both; the live half must not repeat it.
        let stored = try await stored(query)
        let last = stored.last?.id ?? ""
        return Watch(past: stored, live: news.filter { $0.id > last })
    }

    /// More than the store keeps.
    private static let everything = 100_000

    private func stored(_ query: EventQuery) async throws(APIError) -> [EventView] {
        let after = try eventID(query.after)
        let isFiltered = query.host != nil || !query.kinds.isEmpty
        let found = await center.events(after: after, limit: isFiltered ? Self.everything : query.limit)
        let views = found.map { EventView($0) }.filter { query.includes($0) }
        return Array(after == nil ? views.suffix(query.limit) : views.prefix(query.limit))
    }

    private func eventID(_ text: String?) throws(APIError) -> EventID? {
        guard let text else { return nil }
        guard let id = EventID(rawValue: text) else {
            throw .badRequest("\(SafeText.visible(text, limit: 80)) is no event id")
        }
        return id
    }

    func logs(_ query: LogQuery) async throws(APIError) -> LogList { logs.list(query) }

    func watchLogs(_ query: LogQuery) async throws(APIError) -> Watch<LogView> { logs.watch(query) }
}
