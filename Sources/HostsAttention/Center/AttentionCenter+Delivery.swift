import HostsLog
import HostsModel

/// The delivery loop.
extension AttentionCenter {
    /// How often deliveries are looked at that wait for a hook to come back.
    private static let expiryInterval = Duration.seconds(3600)

    /// Delivers events to hooks until the task is cancelled; what is not delivered by then stays in the store.
    package func run() async {
        begin()
        await withDiscardingTaskGroup { group in
            while !Task.isCancelled {
                for start in dueRuns() { group.addTask { await self.perform(start) } }
                await environment.clock.wait(for: wake, until: nextDue)
            }
            group.cancelAll()
        }
        flush()
        journal.close()
    }

    /// Waits until no hook runs and none is due, at most until `deadline`.
    package func drain(until deadline: ContinuousClock.Instant) async {
        while isDelivering, environment.clock.now < deadline {
            await environment.clock.wait(for: settled, until: deadline)
        }
    }

    /// The hooks that can be run now.
    var usableHooks: [Hook] { hooks.hooks.filter { !misconfigured.contains($0.name) } }

    /// Takes what an earlier run has left.
    func restore(_ contents: EventStore.Contents) {
        toldStaleRules = contents.staleRules
        let deliveries = Dictionary(grouping: contents.deliveries, by: \.id.event)
        for event in contents.olderEvents + contents.events {
            if event.kind.stands { standing[event.key, default: []].append(event) }
            if event.kind.isClearance || event.kind == .agentExited { standing[event.key] = nil }
            let byHook = Dictionary(
                (deliveries[event.id] ?? []).map { ($0.id.hook, $0) }, uniquingKeysWith: { first, _ in first }
            )
            tracked[event.id] = TrackedEvent(event: event, deliveries: byHook)
        }
        let now = environment.wall.now
        for delivery in contents.deliveries where delivery.state == .pending {
            guard let event = tracked[delivery.id.event]?.event else { continue }
            // That an earlier run started or stopped is of no interest any more.
            if event.kind == .daemonStarted || event.kind == .daemonStopping {
                settle(delivery, .cleared, note: "over before it could be told")
                continue
            }
            let wait = delivery.nextAttempt.map { $0.duration(since: now) } ?? .zero
            spool.add(
                delivery, due: environment.clock.now + max(.zero, min(wait, DeliveryPolicy.longestWait)))
        }
        let standingIDs = Set(standing.values.joined().map(\.id))
        tracked = tracked.filter { $0.value.isPending || standingIDs.contains($0.key) }
        if spool.count > 0 {
            log.notice(
                "spool.restored", "\(spool.count) deliveries of an earlier run are still to be made",
                .count("deliveries", spool.count))
        }
    }

    private struct HookRun: Sendable {
        let hook: Hook
        let delivery: Delivery
        let event: AttentionEvent
    }

    private var isDelivering: Bool {
        if !spool.running.isEmpty { return true }
        return spool.nextDue(hooks: usableNames).map { $0 <= environment.clock.now } ?? false
    }

    private var usableNames: Set<String> { Set(usableHooks.map(\.name)) }

    /// When there is something to do although nobody has said so.
    private var nextDue: ContinuousClock.Instant? {
        var due = watches.values.compactMap(\.nextDue)
        due += [spool.nextDue(hooks: usableNames), journal.nextDue].compactMap { $0 }
        if spool.count > 0 { due.append(environment.clock.now + Self.expiryInterval) }
        return due.min()
    }

    /// Does what time asks for, and names the hooks that are to run now.
    private func dueRuns() -> [HookRun] {
        loseOverdueHosts()
        for expired in spool.removeExpired(now: environment.wall.now) {
            settle(expired, .dead, note: "undelivered for \(EventSummary.length(DeliveryPolicy.timeToLive))")
        }
        flush()
        let hooks = Dictionary(usableHooks.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        var runs: [HookRun] = []
        for delivery in spool.start(now: environment.clock.now, hooks: Set(hooks.keys)) {
            guard let hook = hooks[delivery.id.hook], let event = tracked[delivery.id.event]?.event else {
                preconditionFailure("only tracked events are queued, and only usable hooks are started")
            }
            runs.append(HookRun(hook: hook, delivery: delivery, event: event))
        }
        return runs
    }

    private func perform(_ run: HookRun) async {
        let attempt = run.delivery.attempts + 1
        hookLog.record(
            .debug, "hook.started",
            "\(run.hook.name) is told of \(run.event.kind.rawValue) for \(run.event.subject)",
            fields(run.event) + [.text("hook", run.hook.name), .count("attempt", attempt)])
        let report = await environment.runner.run(run.hook, run.event, attempt: attempt)
        finish(run, report)
    }

    private func finish(_ run: HookRun, _ report: HookReport?) {
        defer {
            flush()
            wake.set()
            settled.set()
        }
        // Cancelled because the daemon stops: as if it had not been tried.
        guard let report else { return spool.finish(run.delivery, due: environment.clock.now) }
        note(run, report)
        var delivery = run.delivery
        delivery.attempts += 1
        if case .failed = report.result { delivery.failures += 1 }
        delivery.note = report.result.note
        let now = environment.wall.now
        let step = DeliveryPolicy.step(
            after: report.result, delivery, now: now, jitter: environment.jitter.next())
        if report.result == .misconfigured, misconfigured.insert(run.hook.name).inserted {
            hookLog.warning("hook.disabled", HookProblem(path: run.hook.path, kind: .misconfigured).message)
        }
        switch step {
        case .delivered: complete(delivery, .delivered, note: report.result.note)
        case .fail: complete(delivery, .failed, note: report.result.note)
        case .die: complete(delivery, .dead, note: report.result.note)
        case .retry where isOver(run.event), .disableHook where isOver(run.event):
            complete(delivery, .cleared, note: "over before it could be told")
        case .retry(let wait):
            delivery.nextAttempt = now.advanced(by: wait)
            spool.finish(delivery, due: environment.clock.now + wait)
            update(delivery)
        case .disableHook:
            spool.finish(delivery, due: environment.clock.now)
            update(delivery)
        }
    }

    /// Ends a delivery, and with a failed one the telling that its trouble is over.
    private func complete(_ delivery: Delivery, _ state: Delivery.State, note: String) {
        let wasPosted = tracked[delivery.id.event]?.event.delivery == .delivered
        let event = tracked[delivery.id.event]?.event
        spool.finish(delivery, due: nil)
        settle(delivery, state, note: note)
        if state == .delivered {
            guard let event, !wasPosted else { return }
            log.record(.debug, "alert.posted", "alert posted for \(event.subject)", fields(event))
        } else {
            for clearance in spool.removeClearances(of: delivery) {
                settle(clearance, .cleared, note: "the alert that it clears was not delivered")
            }
        }
    }

    /// Whether the trouble that an event tells of is over, or another event tells of it better.
    private func isOver(_ event: AttentionEvent) -> Bool {
        event.kind.stands && standing[event.key]?.last?.id != event.id
    }

    private func note(_ run: HookRun, _ report: HookReport) {
        hookHistory[run.hook.name, default: HookHistory()].add(report, at: environment.wall.now)
        let facts =
            fields(run.event) + [
                .text("hook", run.hook.name), .count("attempt", run.delivery.attempts + 1),
                .took(report.duration),
            ]
        for line in report.lines { hookLog.record(.info, "hook.output", "\(run.hook.name): \(line)", facts) }
        let text =
            "\(run.hook.name) for \(run.event.kind.rawValue) of \(run.event.subject): \(report.result.note)"
        switch report.result {
        case .delivered: hookLog.record(.info, "hook.ended", text, facts)
        case .retryLater, .misconfigured, .failed: hookLog.record(.warning, "hook.ended", text, facts)
        }
    }
}
