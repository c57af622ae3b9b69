import HostsAPI
import HostsConfig
import HostsHub
import HostsModel
import HostsPolicy
import HostsServer
import HostsSystem

/// Refresh windows, and what `hostsctl debug` plays.
extension FleetService {
    /// How long a played sleep or wake is waited for: the last round takes 4 s at most.
    private static let rehearsalTimeout = Duration.seconds(8)

    func refresh() async throws(APIError) -> RefreshDocument {
        switch await windows.refresh(because: "asked for") {
        case .notWanted(.attentionOff):
            return RefreshDocument(
                refreshed: false, hosts: [],
                message: "nothing was refreshed: alerts are switched off ([attention] enabled)")
        case .notWanted(.nothingToDo):
            return RefreshDocument(
                refreshed: false, hosts: [],
                message: "nothing to refresh: no enabled host has background_keep_alive, and none is dormant")
        case .refreshed(let hosts):
            var views: [HostView] = []
            let now = clock.now
            for host in hosts {
                if let snapshot = await hub.snapshot(of: host) { views.append(HostView(snapshot, now: now)) }
            }
            let words = views.map { "\($0.name) is \($0.condition)" }.joined(separator: ", ")
            return RefreshDocument(refreshed: true, hosts: views, message: "refreshed: \(words)")
        }
    }

    func rehearse(isSleep: Bool) async throws(APIError) -> DebugDocument {
        let changes = await hub.lifecycle()
        rehearse(isSleep ? .sleep : .wake)
        let hub = hub
        let isThere =
            await pace.value(until: pace.now.advanced(by: Self.rehearsalTimeout)) {
                for await change in changes where (change.phase == .background) == isSleep {
                    // The delay is given back after the last round, at the end of what comes before a sleep.
                    guard isSleep, await hub.isHoldingBackgroundTime else { return true }
                }
                return false
            } ?? false
        let phase = await hub.phase.rawValue
        guard isThere else {
            throw .failed(
                code: "debug.no-change", message: "the phase is still \(phase)",
                help: "hostsctl logs --category background")
        }
        let message =
            isSleep
            ? "hostsd takes the machine for asleep; it wakes by hostsctl debug wake, or by itself after 30 s"
            : "hostsd takes the machine for awake"
        return DebugDocument(
            phase: phase, holding: await hub.isHoldingBackgroundTime, message: message)
    }

    func toggleKeepAlive(_ name: String?) async throws(APIError) -> ActionDocument {
        let chosen: HostSnapshot
        if let name {
            chosen = try await usableSnapshot(of: name)
        } else {
            guard let first = await hub.snapshots().first else {
                throw .conflict(
                    code: "debug.no-host", message: "there is no host", help: "hostsctl help add")
            }
            chosen = first
        }
        let isOn = !chosen.record.backgroundKeepAlive
        let outcome = try await write(.backgroundKeepAlive(isOn), for: chosen.record.id)
        await keeper.reload()
        let snapshot = try await snapshot(of: chosen.record.id.rawValue)
        return ActionDocument(
            host: HostView(snapshot, now: clock.now), changed: outcome != .unchanged,
            message: "\(chosen.record.id): background_keep_alive is \(isOn ? "on" : "off") now")
    }

    private func usableSnapshot(of name: String) async throws(APIError) -> HostSnapshot {
        _ = try await usableRecord(of: name)
        return try await snapshot(of: name)
    }
}
