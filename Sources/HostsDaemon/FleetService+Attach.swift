import HostsAPI
import HostsConfig
import HostsHub
import HostsModel
import HostsPolicy
import HostsServer

// MARK: - Attach

extension FleetService {
    func attach(_ name: String, session: String?) async throws(APIError) -> Watch<AttachLine> {
        let record = try await usableRecord(of: name)
        guard record.isEnabled else { throw .hostDisabled(name) }
        let snapshot = try await snapshot(of: name)
        let ssh = await keeper.current.settings.ssh
        let program = ssh.program ?? "ssh"
        let plan: AttachPlan
        var agent: AgentSession?
        if let session {
            let found = try Self.session(session, of: snapshot)
            do throws(AttachPlan.Refusal) {
                plan = try AttachPlan(found.place, on: record, ssh: program, configFile: ssh.configFile)
            } catch {
                throw Self.refusal(error, found)
            }
            agent = found
        } else {
            plan = AttachPlan(record, ssh: program, configFile: ssh.configFile)
        }
        let isLocal = record.transport == .local
        let document = AttachDocument(
            host: record.id.rawValue, session: agent?.id.rawValue, transport: isLocal ? "local" : "ssh",
            destination: isLocal ? "" : record.destination, restore: record.sessionRestore.rawValue,
            arguments: plan.arguments, bootID: snapshot.observation?.bootID)
        let token: WindowToken
        do throws(HubRefusal) {
            token = try await hub.openWindow(record.id)
        } catch {
            throw Self.refusal(error, name)
        }
        let hub = hub
        let phases = LatestStates(
            every: Self.pause, on: pace, hints: await hub.lifecycle(),
            until: { await hub.closeWindow(token) },
            ask: { AttachLine.phase(await Self.phase(of: record.id, in: hub, $0)) })
        return Watch(past: [.attach(document)], live: phases.states)
    }

    /// Between two looks at what the hub knows.
    private static let pause = Duration.milliseconds(500)

    private static func phase(
        of host: HostID, in hub: ConnectionHub, _ life: HubLifecycle?
    ) async -> PhaseDocument {
        let snapshot = await hub.snapshot(of: host)
        var isLocked = false
        if case .needsYou(let error) = snapshot?.condition { isLocked = error.lockedKey != nil }
        return PhaseDocument(
            phase: (life?.phase ?? .active).rawValue, hasRoute: await hub.hasRoute(to: host),
            awaitsPassphrase: isLocked,
            bootID: snapshot?.observation?.bootID)
    }

    /// Finds the agent that a person means.
    ///
    /// - Throws: `.sessionNotFound`, and `.conflict` where the name fits several.
    private static func session(_ text: String, of snapshot: HostSnapshot) throws(APIError) -> AgentSession {
        let host = snapshot.record.id
        let sessions = (snapshot.observation?.sessions ?? []).filter { $0.state != .exited }
        let found = sessions.filter { session in
            let id = session.id.rawValue
            return [id, session.place.pane, session.place.label].contains(text) || id == "\(host)/\(text)"
        }
        guard let first = found.first else {
            throw .sessionNotFound("\(SafeText.visible(text, limit: 120)) on \(host)")
        }
        guard found.count == 1 else {
            let ids = found.map(\.id.rawValue).joined(separator: ", ")
            throw .conflict(
                code: "session.ambiguous",
                message: "several sessions on \(host) are at \(SafeText.visible(text, limit: 120)): \(ids)",
                help: "hostsctl attach \(host):\(first.id.rawValue)")
        }
        return first
    }

    private static func refusal(_ refusal: AttachPlan.Refusal, _ session: AgentSession) -> APIError {
        let host = session.host
        let agent = SafeText.visible(session.agent.rawValue, limit: 40)
        let place = SafeText.visible(session.place.label, limit: 80)
        switch refusal {
        case .notInTmux:
            return .conflict(
                code: "session.no-tmux",
                message: "\(agent) on \(host) (\(place)) does not run in tmux: there is nothing to attach to",
                help: "hostsctl attach \(host)")
        case .badPlace:
            return .conflict(
                code: "session.bad-place",
                message: "the tmux socket or pane of \(agent) on \(host) has a name that cannot be used",
                help: "hostsctl attach \(host), then: tmux attach-session")
        }
    }

    private static func refusal(_ refusal: HubRefusal, _ name: String) -> APIError {
        switch refusal {
        case .disabled: .hostDisabled(name)
        case .noSuchHost: .hostNotFound(SafeText.visible(name, limit: 80), suggestion: nil)
        case .badRecord: .configuration("the record of \(name) cannot be used")
        case .nothingToCancel: .conflict(code: "host.busy", message: "\(name) cannot be opened", help: nil)
        }
    }
}

// MARK: - Watched pages

extension FleetService {
    func watchHost(_ name: String) async throws(APIError) -> Watch<HostDocument> {
        let id = try await snapshot(of: name).record.id
        return try await watch(id, gist: \.gist) { () async throws(APIError) in try await host(name) }
    }

    func watchSession(_ id: SessionID) async throws(APIError) -> Watch<SessionDocument> {
        let document = try await session(id)
        guard let host = HostID(rawValue: document.session.host) else { throw .sessionNotFound(id.rawValue) }
        return try await watch(host, gist: \.gist) { () async throws(APIError) in try await session(id) }
    }

    /// A page now, and again whenever it has changed; the host is looked at every second meanwhile.
    ///
    /// - Parameters:
    ///   - host: Whose page it is.
    ///   - gist: What of it counts as a change.
    ///   - page: Makes it.
    /// - Returns: The page and its changes, until what it shows is gone.
    /// - Throws: `.hostDisabled`: such a host is not looked at.
    private func watch<Page: Sendable>(
        _ host: HostID, gist: @escaping @Sendable (Page) -> Page,
        page: @escaping @Sendable () async throws(APIError) -> Page
    ) async throws(APIError) -> Watch<Page> where Page: Encodable & Hashable {
        let first = try await page()
        let token: WindowToken
        do throws(HubRefusal) {
            token = try await hub.watchPane(host)
        } catch {
            throw Self.refusal(error, host.rawValue)
        }
        let hub = hub
        let pages = LatestStates(
            after: first, every: Self.pause, on: pace, gist: gist,
            until: { await hub.closeWindow(token) }
        ) { _ in
            do throws(APIError) {
                return try await page()
            } catch {
                return nil  // it is gone: the stream ends, and whoever asks again is told
            }
        }
        return Watch(past: [first], live: pages.states)
    }
}

extension HostDocument {
    /// The page without what only time changes.
    fileprivate var gist: HostDocument {
        var gist = self
        gist.host.ageSeconds = nil
        gist.host.lastObserved = nil
        gist.sessions = sessions.map(\.gist)
        return gist
    }
}

extension SessionDocument {
    /// The page without what only time changes.
    fileprivate var gist: SessionDocument {
        var gist = self
        gist.session = session.gist
        return gist
    }
}

extension SessionView {
    fileprivate var gist: SessionView {
        var gist = self
        gist.lastSeen = since
        gist.clock?.agentSeconds = 0
        gist.clock?.personSeconds = 0
        gist.clock?.outOfSyncSeconds = 0
        return gist
    }
}
