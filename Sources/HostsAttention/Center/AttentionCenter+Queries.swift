import HostsLog
package import HostsModel
package import HostsPolicy

/// A turn clock as it stands at one moment.
package struct TurnClockReading: Hashable, Sendable {
    /// `white` is the agent's side, `black` the person's; nil when no side is on the move.
    package let side: PieceColor?
    package let isRunning: Bool
    package let totals: TurnClock.Totals
}

/// What the API asks.
extension AttentionCenter {
    /// Events, oldest first.
    ///
    /// - Parameters:
    ///   - id: Only events after this one; nil for the newest ones.
    ///   - limit: Most events that come back.
    /// - Returns: The events.
    package func events(after id: EventID? = nil, limit: Int) async -> [AttentionEvent] {
        begin()
        return journal.events(after: id, limit: limit)
    }

    /// Past events and then every new one, each as it is when it is recorded.
    ///
    /// The stream ends when the watcher falls `watcherBacklog` events behind, or when its task is cancelled.
    ///
    /// - Parameters:
    ///   - id: Past events only after this one; nil for none.
    ///   - limit: Most past events.
    /// - Returns: What was, and what comes; no event is missing in between, and none is in both.
    package func watch(
        after id: EventID?, limit: Int
    ) async -> (past: [AttentionEvent], live: AsyncStream<AttentionEvent>) {
        begin()
        let (stream, continuation) = AsyncStream<AttentionEvent>.makeStream(
            bufferingPolicy: .bufferingOldest(Self.watcherBacklog))
        // A watcher that has gone is found out at the next event: its stream answers `terminated`.
        watchers[nextWatcher] = continuation
        nextWatcher += 1
        return (id.map { journal.events(after: $0, limit: limit) } ?? [], stream)
    }

    /// The alerts that stand: agents and hosts that need the person, and hosts that are lost; oldest first.
    package func pendingAlerts() async -> [AttentionEvent] {
        begin()
        let newest = standing.values.compactMap(\.last)
        return newest.map { tracked[$0.id]?.event ?? $0 }.sorted { $0.id < $1.id }
    }

    /// The turn clocks of all agents that are known in this run of the daemon.
    package func turnClocks() async -> [SessionID: TurnClockReading] {
        clocks.mapValues(reading)
    }

    /// Every hook, and every file that would be one, by name.
    package func hookStatuses() async -> [HookStatus] {
        begin()
        let pending = Dictionary(grouping: spool.deliveries, by: \.id.hook).mapValues(\.count)
        let dead = journal.deadDeliveries()
        let ready = hooks.hooks.map { hook in
            let isMisconfigured = misconfigured.contains(hook.name)
            let history = hookHistory[hook.name] ?? HookHistory()
            let failure = history.lastFailure.map {
                "its last run did not deliver: \($0); see: hostsctl logs --category hook"
            }
            return HookStatus(
                name: hook.name, path: hook.path, state: isMisconfigured ? .misconfigured : .ready,
                problem: isMisconfigured
                    ? HookProblem(path: hook.path, kind: .misconfigured).message : failure,
                history: history, pending: pending[hook.name] ?? 0, dead: dead[hook.name] ?? 0)
        }
        let unusable = hooks.problems.map { problem in
            let name = problem.path.split(separator: "/").last.map(String.init) ?? problem.path
            return HookStatus(
                name: name, path: problem.path, state: .unusable, problem: problem.message,
                history: hookHistory[name] ?? HookHistory(), pending: pending[name] ?? 0,
                dead: dead[name] ?? 0)
        }
        return (ready + unusable).sorted { $0.name < $1.name }
    }

    /// Why events cannot be stored now; nil while they can.
    package func storeFailure() async -> StoreError? {
        begin()
        return journal.failure
    }

    /// The facts of an event that its log lines carry.
    func fields(_ event: AttentionEvent) -> [LogField] {
        var fields: [LogField] = [.text("id", event.id.rawValue)]
        if let host = event.host { fields.append(.host(host)) }
        if let session = event.session { fields.append(.session(session)) }
        return fields
    }

    private func reading(_ clock: TurnClock) -> TurnClockReading {
        TurnClockReading(side: clock.side, isRunning: clock.isRunning, totals: clock.totals(at: seconds))
    }
}
