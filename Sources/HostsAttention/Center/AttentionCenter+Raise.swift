import HostsLog
import HostsModel

/// From drafts to events: the decision whom to tell, the store, the spool.
extension AttentionCenter {
    /// Makes events of drafts, stores them, and only then queues their deliveries.
    func raise(_ drafts: [EventDraft]) {
        guard !drafts.isEmpty else { return }
        var events: [AttentionEvent] = []
        var queued: [Delivery] = []
        for draft in drafts {
            let id = journal.nextID()
            let (status, deliveries) = decide(draft, id)
            let event = draft.event(id, status)
            events.append(event)
            queued += deliveries
            let byHook = Dictionary(
                deliveries.map { ($0.id.hook, $0) }, uniquingKeysWith: { first, _ in first })
            if event.kind.stands { stand(event) }
            if event.kind.stands || !deliveries.isEmpty {
                tracked[id] = TrackedEvent(event: event, deliveries: byHook)
            }
        }
        journal.append(events)
        for delivery in queued { journal.update(delivery) }
        flush()
        for event in events { announce(event) }
        for delivery in queued { enqueue(delivery, due: environment.clock.now) }
        wake.set()
    }

    /// Writes to the store what is not written yet.
    func flush() {
        journal.flush {
            (tracked.values.map(\.event), tracked.values.flatMap(\.deliveries.values))
        }
    }

    /// Gives up the alerts that stand for a key.
    ///
    /// What is queued of them is not told any more; what was told or is being told just now is the caller's matter.
    @discardableResult func endStanding(_ key: String) -> [AttentionEvent] {
        let ended = standing.removeValue(forKey: key) ?? []
        for event in ended { withdraw(event) }
        return ended
    }

    func enqueue(_ delivery: Delivery, due: ContinuousClock.Instant) {
        spool.add(delivery, due: due)
        guard spool.count > DeliverySpool.capacity, let oldest = spool.removeOldest() else { return }
        settle(oldest, .dead, note: "too many deliveries were waiting")
    }

    /// Ends a delivery that is not in the spool any more.
    func settle(_ delivery: Delivery, _ state: Delivery.State, note: String) {
        var delivery = delivery
        delivery.state = state
        delivery.nextAttempt = nil
        delivery.note = note
        update(delivery)
        switch state {
        case .failed, .dead:
            hookLog.warning(
                "delivery.given-up",
                "\(delivery.id.hook) was not told of event \(delivery.id.event): \(note)",
                .text("hook", delivery.id.hook))
        case .pending, .delivered, .cleared: break
        }
    }

    /// Takes a changed delivery, and the status of its event with it.
    func update(_ delivery: Delivery) {
        journal.update(delivery)
        guard var entry = tracked[delivery.id.event] else { return }
        entry.deliveries[delivery.id.hook] = delivery
        let status = entry.status
        if entry.event.delivery != status {
            entry.event.delivery = status
            journal.update(entry.event)
        }
        let isStanding = standing[entry.event.key]?.contains { $0.id == entry.event.id } ?? false
        tracked[delivery.id.event] = entry.isPending || isStanding ? entry : nil
    }

    private func decide(_ draft: EventDraft, _ id: EventID) -> (DeliveryStatus, [Delivery]) {
        guard draft.kind.isDeliveredToHooks else { return (.recorded, []) }
        let lane = draft.host?.rawValue ?? ""
        if draft.kind.isClearance {
            let told = toldHooks(of: draft.key)
            endStanding(draft.key)
            guard !told.isEmpty else { return (.recorded, []) }
            guard settings.isEnabled else { return (.dropped(.locked), []) }
            return (.pending, told.map { hook, clears in delivery(id, hook, lane, clears: clears) })
        }
        guard settings.isEnabled else { return (.dropped(.locked), []) }
        let usable = usableHooks
        guard !usable.isEmpty else { return (.dropped(.noHook), []) }
        return (.pending, usable.map { delivery(id, $0.name, lane, clears: nil) })
    }

    private func delivery(_ event: EventID, _ hook: String, _ lane: String, clears: EventID?) -> Delivery {
        Delivery(
            id: Delivery.ID(event: event, hook: hook), lane: lane, created: environment.wall.now,
            clears: clears)
    }

    /// The hooks that were told of what stands for a key, or are being told, each with the last event it was told of.
    private func toldHooks(of key: String) -> [(String, EventID)] {
        var told: [String: EventID] = [:]
        for event in standing[key] ?? [] {
            for (hook, delivery) in tracked[event.id]?.deliveries ?? [:] {
                if delivery.state == .delivered || spool.running.contains(delivery.id) {
                    told[hook] = event.id
                }
            }
        }
        return told.sorted { $0.key < $1.key }
    }

    private func stand(_ event: AttentionEvent) {
        for earlier in standing[event.key] ?? [] { withdraw(earlier) }
        standing[event.key, default: []].append(event)
    }

    /// Takes what is queued of an event out of the spool.
    private func withdraw(_ event: AttentionEvent) {
        guard let entry = tracked[event.id] else { return }
        for delivery in entry.deliveries.values where delivery.state == .pending {
            guard let removed = spool.remove(delivery.id, lane: delivery.lane) else { continue }
            settle(removed, .cleared, note: "over before it could be told")
        }
        if let entry = tracked[event.id], !entry.isPending, standing[event.key] == nil {
            tracked[event.id] = nil
        }
    }

    /// Says what was decided about an alert, and hands it to whoever watches.
    private func announce(_ event: AttentionEvent) {
        for (id, watcher) in watchers {
            if case .dropped = watcher.yield(event) {
                watchers[id] = nil
                watcher.finish()
            }
        }
        log.record(
            .info, "event.recorded", event.summary, fields(event) + [.text("kind", event.kind.rawValue)])
        guard let reason = event.delivery.dropReason else { return }
        log.record(
            .debug, "alert.dropped", "alert dropped for \(event.subject): \(reason.rawValue)", fields(event))
        guard reason == .noHook, !hasWarnedOfNoHook else { return }
        hasWarnedOfNoHook = true
        log.record(
            .warning, "hook.none",
            "nobody is told of alerts: no hook can be run; put one into hooks.d, see: hostsctl hooks",
            fields(event))
    }
}
