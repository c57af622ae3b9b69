import HostsLog
package import HostsModel
package import HostsPolicy

/// Sleep, wake, the network and the windows of the person's: what comes from one observer, for all hosts.
extension ConnectionHub {
    /// From one host to the next when many are woken at once.
    static let wakeSpacing: Duration = .milliseconds(20)
    /// All of them are woken within this, however many there are.
    static let wakeSpread: Duration = .seconds(1)

    // MARK: Phases

    /// Takes what the machine is doing now.
    ///
    /// On a return the hosts come back in the order of who may be waiting for the person.
    package func setPhase(_ phase: ActivityPhase) { changeSurroundings { $0.phase = phase } }

    /// Takes whether the delay before sleep is held.
    ///
    /// To be cleared before it is given back, so that no look begins in between.
    package func setHoldingBackgroundTime(_ isHolding: Bool) {
        changeSurroundings { $0.isHoldingBackgroundTime = isHolding }
    }

    /// What the machine is doing, as the hosts were told.
    package var phase: ActivityPhase { surroundings.phase }

    /// Whether the delay before sleep is held.
    package var isHoldingBackgroundTime: Bool { surroundings.isHoldingBackgroundTime }

    private func changeSurroundings(_ change: (inout Surroundings) -> Void) {
        let old = surroundings
        change(&surroundings)
        guard surroundings != old else { return }
        let new = surroundings
        resumeLog.debug(
            "resume.phase", "phase \(old.phase.rawValue) -> \(new.phase.rawValue)",
            .text("phase", new.phase.rawValue),
            .text("holding", new.isHoldingBackgroundTime ? "yes" : "no"),
            .text("refreshing", new.isRunningBackgroundRefresh ? "yes" : "no"))
        applyInTurn(.surroundingsChanged(new))
        tellWatchers()
    }

    /// Takes a change of this machine's addresses or routes: every link is looked at, every host that waits is dialled.
    ///
    /// - Parameter hasRoute: Whether there is a default route now.
    package func networkChanged(hasRoute: Bool) {
        resumeLog.debug(
            "resume.network", hasRoute ? "the network changed" : "there is no network",
            .text("route", hasRoute ? "yes" : "no"))
        hasDefaultRoute = hasRoute
        applyInTurn(.networkChanged)
        tellWatchers()
    }

    /// Takes whether there is a default route, where nothing has changed by it: what is known when the daemon starts.
    package func takeNetwork(hasRoute: Bool) {
        hasDefaultRoute = hasRoute
        tellWatchers()
    }

    /// The clock was set or the machine stood still unseen: that alone is a reason to look, not to give up a link.
    package func checkLinks() { applyInTurn(.networkChanged) }

    private func applyInTurn(_ event: HostMachine.Event) {
        let hosts = machines.keys.sorted { (urgency(of: $0), $0) < (urgency(of: $1), $1) }
        let spacing = min(Self.wakeSpacing, Self.wakeSpread / max(hosts.count, 1))
        for (rank, host) in hosts.enumerated() { apply(event, to: host, stagger: spacing * rank) }
    }

    /// Who comes first: hosts whose agents may wait for the person, then those whose agents work.
    private func urgency(of host: HostID) -> Int {
        let sessions = machines[host]?.observation?.sessions ?? []
        if sessions.contains(where: { if case .needsYou = $0.state { true } else { false } }) { return 0 }
        return sessions.contains { $0.state == .busy } ? 1 : 2
    }

    // MARK: The delay before sleep

    /// Whether some host asks for a delay before sleep.
    package var wantsBackgroundTime: Bool {
        BackgroundActivityPolicy.wantsBackgroundTime(machines.keys.map { backgroundFacts(of: $0) })
    }

    /// Tells whoever holds the delay that what is wanted may have changed.
    package func tellWishes() {
        wishSink.yield(wantsBackgroundTime)
    }

    /// Whether a refresh window has anything to do.
    ///
    /// - Parameter isAttentionActive: Whether alerts are switched on.
    /// - Returns: Whether it has.
    package func wantsRefresh(isAttentionActive: Bool) -> Bool {
        BackgroundActivityPolicy.wantsRefresh(
            machines.keys.map { backgroundFacts(of: $0) },
            hasDormantHost: machines.values.contains { $0.isRefreshed && !$0.record.backgroundKeepAlive },
            isAttentionActive: isAttentionActive)
    }

    private func backgroundFacts(of host: HostID) -> BackgroundActivityPolicy.Host {
        BackgroundActivityPolicy.Host(
            isOptedIn: machines[host]?.record.backgroundKeepAlive ?? false,
            isEnabled: machines[host]?.record.isEnabled ?? false,
            hasOpenWindow: windows.open(on: host).attached > 0)
    }

    /// Looks once more at every host that may be looked at in the present phase.
    ///
    /// A look that runs already began before this call, and may have missed what has happened since: it is waited for, and
    /// another one follows.
    ///
    /// - Parameter deadline: When to return at the latest; looks that still run are then nobody's to wait for.
    /// - Returns: The hosts whose look has ended.
    @discardableResult package func lastRound(until deadline: ContinuousClock.Instant) async -> Set<HostID> {
        let hosts = machines.values.filter { $0.mayLook && $0.record.backgroundKeepAlive && $0.link != nil }
        let running = hosts.filter(\.isLooking).map(\.record.id)
        let resting = hosts.filter { !$0.isLooking }.map(\.record.id)
        async let fresh = ask(.look, of: resting, until: deadline)
        let ended = await ask(.look, of: running, until: deadline)
        let again = await ask(.look, of: Array(ended), until: deadline)
        return await fresh.union(again)
    }

    // MARK: Refresh

    /// Opens a refresh window: looks at the hosts that have opted in and those that are dormant, then closes it.
    ///
    /// - Parameters:
    ///   - deadline: How long looks are waited for.
    ///   - beforeClosing: Has what was found posted; the window is open until it returns.
    /// - Returns: The hosts that the window was for.
    package func refresh(
        until deadline: ContinuousClock.Instant, beforeClosing: @Sendable () async -> Void
    ) async -> [HostID] {
        let hosts = machines.values.filter(\.isRefreshed).map(\.record.id).sorted()
        guard !hosts.isEmpty else { return [] }
        // One that is asked for while another runs has its own hosts and deadline, and the same window.
        openRefreshes += 1
        changeSurroundings { $0.isRunningBackgroundRefresh = true }
        _ = await ask(.refresh, of: hosts, until: deadline)
        await beforeClosing()
        openRefreshes -= 1
        if openRefreshes == 0 { changeSurroundings { $0.isRunningBackgroundRefresh = false } }
        return hosts
    }

    private func ask(
        _ event: HostMachine.Event, of hosts: [HostID], until deadline: ContinuousClock.Instant
    ) async -> Set<HostID> {
        // The places come first: an event may end a look at once.
        let places = hosts.map { ($0, waiters.place(for: $0)) }
        for host in hosts { apply(event, to: host) }
        let (open, clock) = (waiters, environment.clock)
        return await withTaskGroup(of: HostID?.self) { group in
            for (host, place) in places {
                group.addTask {
                    await open.wait(at: place)
                    return Task.isCancelled ? nil : host
                }
            }
            group.addTask {
                // Cancelled when everybody has answered.
                try? await clock.sleep(until: deadline)
                return nil
            }
            var ended: Set<HostID> = []
            while ended.count < places.count, let host = await group.next() {
                guard let host else { break }
                ended.insert(host)
            }
            group.cancelAll()
            return ended
        }
    }

    // MARK: Windows

    /// Takes note of a running `hostsctl attach`: the host's probe is kept warm as long as it runs.
    ///
    /// - Throws: `.disabled` where the record says so now; a window that is open already stays.
    package func openWindow(_ host: HostID) throws(HubRefusal) -> WindowToken {
        try open(.attached, on: host)
    }

    /// Has a host looked at every second for as long as somebody watches, while the phase is active.
    ///
    /// - Throws: `.disabled` where the record says so now.
    package func watchPane(_ host: HostID) throws(HubRefusal) -> WindowToken { try open(.watched, on: host) }

    /// Ends what `openWindow` or `watchPane` has begun; a second time has no effect.
    package func closeWindow(_ token: WindowToken) {
        guard windows.remove(token) else { return }
        apply(.windowsChanged(windows.open(on: token.host)), to: token.host)
        tellWishes()
    }

    private func open(_ kind: WindowRegister.Kind, on host: HostID) throws(HubRefusal) -> WindowToken {
        _ = try enabledMachine(of: host)
        let token = windows.add(kind, on: host)
        apply(.windowsChanged(windows.open(on: host)), to: host)
        tellWishes()
        return token
    }

    // MARK: Watchers

    /// What the machine is doing, now and whenever it changes; the newest counts.
    package func lifecycle() -> AsyncStream<HubLifecycle> {
        let (stream, continuation) = AsyncStream<HubLifecycle>.makeStream(
            bufferingPolicy: .bufferingNewest(8))
        nextWatcher += 1
        let number = nextWatcher
        lifecycleWatchers[number] = continuation
        continuation.yield(present)
        return stream
    }

    private var present: HubLifecycle {
        HubLifecycle(phase: surroundings.phase, hasRoute: hasDefaultRoute)
    }

    private func tellWatchers() {
        for (number, watcher) in lifecycleWatchers {
            // Whoever has gone is forgotten at the next change.
            if case .terminated = watcher.yield(present) { lifecycleWatchers[number] = nil }
        }
    }
}
