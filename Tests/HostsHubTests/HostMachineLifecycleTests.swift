import HostsModel
import HostsPolicy
import Testing

@testable import HostsHub

/// Seed 002 at the level of one host: what sleep, wake, a grant, a refresh and the network do to it.
@Suite struct HostMachineLifecycleTests {
    private static func surroundings(
        _ phase: ActivityPhase, isHolding: Bool = false, isRefreshing: Bool = false
    ) -> Surroundings {
        var result = Surroundings()
        result.phase = phase
        result.isHoldingBackgroundTime = isHolding
        result.isRunningBackgroundRefresh = isRefreshing
        return result
    }

    private func sleeping(
        isOptedIn: Bool = false, _ prepare: (inout Bench) -> Void = { $0.goOnline() }
    ) -> Bench {
        var bench = Bench(isOptedIn: isOptedIn)
        prepare(&bench)
        bench.apply(.surroundingsChanged(Self.surroundings(.background)))
        bench.advance(by: .seconds(600))
        return bench
    }

    private static func dials(_ effects: [HostMachine.Effect]) -> [Int] {
        effects.compactMap { if case .dial(_, let token) = $0 { token } else { nil } }
    }

    private static func looks(_ effects: [HostMachine.Effect]) -> [HostMachine.Effect] {
        effects.filter { if case .probe = $0 { true } else { false } }
    }

    // MARK: Sleep

    @Test func `the probe feed outlives the locking of the screen`() {
        var bench = Bench()
        let online = bench.goOnline()
        let effects = bench.apply(.surroundingsChanged(Self.surroundings(.inactive)))
        #expect(bench.machine.condition == .online)
        #expect(!effects.contains { if case .close = $0 { true } else { false } })
        #expect(!Self.looks(bench.fireTimer(in: effects.isEmpty ? online : effects)).isEmpty)
    }

    @Test func `a link is no connection from the moment of sleep, and is not closed`() {
        var bench = Bench()
        bench.goOnline()
        let effects = bench.apply(.surroundingsChanged(Self.surroundings(.background)))
        #expect(bench.machine.condition == .asleep)
        #expect(bench.machine.isStale)
        #expect(!effects.contains { if case .close = $0 { true } else { false } })
        #expect(effects.contains { if case .emit(.outOfSync) = $0 { true } else { false } })
    }

    @Test func `nothing is tried in the background, whatever was under way`() {
        let befores: [(inout Bench) -> Void] = [
            { $0.start() },
            {
                $0.start()
                $0.apply(.dialed(token: 1, .fake))
            },
            {
                $0.goOnline()
                $0.fireTick()
            },
            {
                $0.goOnline()
                $0.apply(.closed(token: 1, .reset))
            },
        ]
        for before in befores {
            var bench = sleeping(before)
            #expect(bench.machine.condition == .asleep)
            for event: HostMachine.Event in [
                .look, .resume, .networkChanged, .linkSettingsChanged, .timerFired(id: bench.machine.timer),
            ] {
                let effects = bench.apply(event)
                #expect(Self.dials(effects).isEmpty && Self.looks(effects).isEmpty)
            }
        }
    }

    @Test func `a host that waits for its person, or is dormant, sleeps as what it is`() {
        let asked = sleeping {
            $0.start()
            $0.apply(.dialFailed(token: 1, .agentHasNoKeys(path: "/agent")))
        }
        #expect(asked.machine.condition == .needsYou(.agentHasNoKeys(path: "/agent")))
        var disabled = Bench()
        disabled.record.isEnabled = false
        disabled.start()
        disabled.apply(.surroundingsChanged(Self.surroundings(.background)))
        #expect(disabled.apply(.surroundingsChanged(Self.surroundings(.active))) == [])
        #expect(disabled.machine.condition == .disabled)
    }

    // MARK: Wake

    @Test func `a socket that existed before is verified before the host is called online`() {
        var bench = sleeping()
        let effects = bench.apply(.surroundingsChanged(Self.surroundings(.active)))
        #expect(bench.machine.condition == .checking)
        let token = bench.machine.generation
        #expect(token > 1)
        guard case .probe(_, 1, token, let deadline) = Self.looks(effects).first else {
            Issue.record("\(effects)")
            return
        }
        #expect(deadline - bench.now == HostMachine.verificationTimeout)
        // What was asked before the sleep is no proof.
        #expect(bench.apply(.replied(token: 1, .fake)) == [])
        #expect(bench.machine.condition == .checking)
        let proof = bench.apply(.replied(token: token, .fake))
        #expect(bench.machine.condition == .online)
        #expect(proof.contains { if case .emit(.observed(_, gap: .some)) = $0 { true } else { false } })
    }

    @Test func `a link that does not answer is repaired after 0, 2 and 5 s, then by the schedule`() {
        var bench = sleeping()
        bench.apply(.surroundingsChanged(Self.surroundings(.active)))
        var effects = bench.apply(
            .probeFailed(token: bench.machine.generation, .timedOut(.probe, after: .seconds(2))))
        #expect(effects.contains(.close(token: 1, .timedOut(.probe, after: .seconds(2)))))
        #expect(Self.dials(effects).count == 1)
        for pause in [2.0, 5, 2, 4, 8, 8, 8] {
            effects = bench.apply(.dialFailed(token: bench.machine.generation, .reset))
            #expect(bench.pause(in: effects) == .seconds(pause))
            bench.fireTimer(in: effects)
        }
        bench.apply(.dialFailed(token: bench.machine.generation, .reset))
        #expect(bench.machine.condition == .dormant(.reset))
    }

    @Test func `it is the same whether the socket dies before or after the wake`() {
        var before = sleeping()
        #expect(before.apply(.closed(token: 1, .reset)).contains(.lookEnded))
        #expect(before.machine.condition == .asleep)
        #expect(Self.dials(before.apply(.surroundingsChanged(Self.surroundings(.active)))).count == 1)

        var after = sleeping()
        after.apply(.surroundingsChanged(Self.surroundings(.inactive)))
        #expect(Self.dials(after.apply(.closed(token: 1, .reset))).count == 1)
        #expect(before.machine.resumePolicy.attempts == 1 && after.machine.resumePolicy.attempts == 1)
    }

    @Test func `a host that was verified and then drops is an ordinary drop`() {
        var bench = sleeping()
        bench.apply(.surroundingsChanged(Self.surroundings(.active)))
        bench.apply(.replied(token: bench.machine.generation, .fake))
        #expect(bench.pause(in: bench.apply(.closed(token: 1, .reset))) == .seconds(2))
    }

    @Test func `a look under a sleep is not waited for: its link is closed, and repaired at once`() {
        var bench = Bench()
        bench.goOnline()
        bench.fireTick()
        let effects = bench.apply(.surroundingsChanged(Self.surroundings(.background)))
        #expect(effects.contains(.close(token: 1, .suspended)))
        #expect(effects.contains(.lookEnded))
        #expect(bench.apply(.replied(token: 1, .fake)) == [])
        #expect(Self.dials(bench.apply(.surroundingsChanged(Self.surroundings(.active)))).count == 1)
    }

    @Test func `no attempt is counted before a route exists, and one is made after 20 s all the same`() {
        var bench = sleeping()
        bench.apply(.closed(token: 1, .reset))
        var effects = bench.apply(.surroundingsChanged(Self.surroundings(.active)), hasRoute: false)
        for _ in 0..<3 {
            #expect(bench.pause(in: effects) == HostMachine.routePatience)
            #expect(bench.machine.lastError == .noRoute)
            let timer = bench.machine.timer
            bench.advance(by: HostMachine.routePatience)
            effects = bench.apply(.timerFired(id: timer), hasRoute: false)
            #expect(Self.dials(effects).count == 1)
            effects = bench.apply(
                .dialFailed(token: bench.machine.generation, .unreachable(address: "a", detail: "d")),
                hasRoute: false)
            #expect(bench.machine.resumePolicy.attempts == 0)
        }
        #expect(Self.dials(bench.apply(.networkChanged)).count == 1)
        #expect(bench.machine.resumePolicy.attempts == 1)
    }

    @Test func `a link of before is not given up for want of a route`() {
        var bench = sleeping()
        let waiting = bench.apply(.surroundingsChanged(Self.surroundings(.active)), hasRoute: false)
        #expect(bench.machine.condition == .checking)
        #expect(Self.looks(waiting).isEmpty)
        #expect(bench.pause(in: waiting) == HostMachine.routePatience)
        #expect(Self.looks(bench.apply(.networkChanged, hasRoute: false)).isEmpty)
        #expect(Self.looks(bench.apply(.networkChanged)).count == 1)
        bench.apply(.replied(token: bench.machine.generation, .fake))
        #expect(bench.machine.condition == .online)

        // After 20 s it is asked all the same.
        var other = sleeping()
        let effects = other.apply(.surroundingsChanged(Self.surroundings(.active)), hasRoute: false)
        #expect(Self.looks(other.fireTimer(in: effects)).count == 1)
    }

    @Test func `hosts come back in their turn`() {
        var bench = sleeping()
        let effects = bench.apply(
            .surroundingsChanged(Self.surroundings(.active)), stagger: .milliseconds(60))
        #expect(Self.looks(effects).isEmpty)
        #expect(bench.pause(in: effects) == .milliseconds(60))
        #expect(Self.looks(bench.fireTimer(in: effects)).count == 1)
    }

    @Test func `every way out of dormant`() {
        func dormant(_ error: LinkError = .reset) -> Bench {
            var bench = Bench()
            var effects = bench.start()
            if error == .cancelled {
                bench.apply(.cancelRetries)
                return bench
            }
            for _ in 0..<6 {
                effects = bench.apply(.dialFailed(token: bench.machine.generation, error))
                bench.fireTimer(in: effects)
            }
            return bench
        }
        let wake: (inout Bench) -> [HostMachine.Effect] = {
            $0.apply(.surroundingsChanged(Self.surroundings(.background)))
            return $0.apply(.surroundingsChanged(Self.surroundings(.active)))
        }
        let ways: [(String, (inout Bench) -> [HostMachine.Effect], whenCancelled: Bool)] = [
            ("wake", wake, false),
            ("network change", { $0.apply(.networkChanged) }, false),
            ("record change", { $0.edit { $0.destination = "elsewhere" } }, true),
            (
                "refresh window",
                {
                    $0.apply(.surroundingsChanged(Self.surroundings(.active, isRefreshing: true)))
                    return $0.apply(.refresh)
                }, false
            ),
            (
                "refresh window in the background",
                {
                    $0.apply(.surroundingsChanged(Self.surroundings(.background)))
                    $0.apply(.surroundingsChanged(Self.surroundings(.background, isRefreshing: true)))
                    return $0.apply(.refresh)
                }, false
            ),
            ("resume", { $0.apply(.resume) }, true),
        ]
        for (name, way, isForCancelled) in ways {
            var bench = dormant()
            #expect(bench.machine.condition == .dormant(.reset))
            #expect(Self.dials(way(&bench)).count == 1, "\(name)")
            var cancelled = dormant(.cancelled)
            #expect(Self.dials(way(&cancelled)).count == (isForCancelled ? 1 : 0), "cancelled, \(name)")
        }
        // Never on its own.
        var bench = dormant()
        #expect(bench.apply(.timerFired(id: bench.machine.timer)) == [])
    }

    @Test func `a penalty outlasts a sleep, and ends in the background only with the return`() {
        var bench = Bench()
        bench.start()
        let effects = bench.apply(.dialFailed(token: 1, .rateLimited(detail: "d")))
        bench.apply(.surroundingsChanged(Self.surroundings(.background)))
        #expect(bench.fireTimer(in: effects) == [])
        #expect(Self.dials(bench.apply(.surroundingsChanged(Self.surroundings(.active)))).count == 1)

        var early = Bench()
        early.start()
        early.apply(.dialFailed(token: 1, .rateLimited(detail: "d")))
        early.apply(.surroundingsChanged(Self.surroundings(.background)))
        let rest = early.apply(.surroundingsChanged(Self.surroundings(.active)))
        #expect(Self.dials(rest).isEmpty)
        #expect(early.pause(in: rest) == .seconds(60))
    }

    // MARK: The grant

    @Test func `an opted-in host keeps its link and its feed for as long as the delay is held`() {
        var bench = Bench(isOptedIn: true)
        let online = bench.goOnline()
        let held = bench.apply(.surroundingsChanged(Self.surroundings(.background, isHolding: true)))
        #expect(bench.machine.condition == .online)
        #expect(Self.looks(bench.apply(.look)).count == 1)
        bench.apply(.replied(token: 1, .fake))
        // Cleared before it is given back: a tick that starts in between would be cut.
        bench.apply(.surroundingsChanged(Self.surroundings(.background)))
        #expect(bench.machine.condition == .asleep)
        #expect(bench.fireTimer(in: held.isEmpty ? online : held) == [])
    }

    @Test func `a link that dies under the grant is not dialled again before the return`() {
        var bench = Bench(isOptedIn: true)
        bench.goOnline()
        bench.apply(.surroundingsChanged(Self.surroundings(.background, isHolding: true)))
        #expect(Self.dials(bench.apply(.closed(token: 1, .reset))).isEmpty)
        #expect(bench.machine.condition == .asleep)
        #expect(Self.dials(bench.apply(.surroundingsChanged(Self.surroundings(.active)))).count == 1)
    }

    @Test func `a link that a suspension went over under the grant is verified, too`() {
        var bench = Bench(isOptedIn: true)
        bench.goOnline()
        bench.apply(.surroundingsChanged(Self.surroundings(.background, isHolding: true)))
        bench.advance(by: .seconds(900))
        let effects = bench.apply(.surroundingsChanged(Self.surroundings(.active, isHolding: true)))
        #expect(bench.machine.condition == .checking)
        #expect(Self.looks(effects).count == 1)
    }

    // MARK: Refresh

    @Test func `a refresh in the background dials those who opted in, and lets them go when it closes`() {
        var bench = sleeping(isOptedIn: true)
        bench.apply(.closed(token: 1, .reset))
        bench.apply(.surroundingsChanged(Self.surroundings(.background, isRefreshing: true)))
        #expect(Self.dials(bench.apply(.refresh)).count == 1)
        let token = bench.machine.generation
        bench.apply(.dialed(token: token, .fake))
        let effects = bench.apply(.replied(token: token, .fake))
        #expect(effects.contains { if case .emit(.observed(_, gap: .some)) = $0 { true } else { false } })
        bench.apply(.surroundingsChanged(Self.surroundings(.background)))
        #expect(bench.machine.condition == .asleep)

        var other = sleeping()
        other.apply(.surroundingsChanged(Self.surroundings(.background, isRefreshing: true)))
        #expect(other.machine.condition == .asleep)
        #expect(!other.machine.isRefreshed)
    }

    @Test func `a refresh disturbs neither a server that refuses us nor a person who is awaited`() {
        for error in [LinkError.rateLimited(detail: "d"), .keyNeedsPassphrase(path: "/k")] {
            var bench = Bench(isOptedIn: true)
            bench.start()
            bench.apply(.dialFailed(token: 1, error))
            #expect(bench.apply(.refresh) == [.lookEnded])
        }
    }

    // MARK: The network

    @Test func `a change of the network probes a link at once, and redials only one that fails`() {
        var bench = Bench()
        bench.goOnline()
        let effects = bench.apply(.networkChanged)
        guard case .probe(_, 1, 1, let deadline) = Self.looks(effects).first else {
            Issue.record("\(effects)")
            return
        }
        #expect(deadline - bench.now == HostMachine.networkCheckTimeout)
        bench.apply(.replied(token: 1, .fake))
        #expect(bench.machine.condition == .online)
        #expect(bench.machine.generation == 1)

        bench.apply(.networkChanged)
        #expect(
            Self.dials(bench.apply(.probeFailed(token: 1, .timedOut(.probe, after: .seconds(5))))).count == 1)
    }

    @Test func `a host that waits is dialled when there is a network, and an attempt goes out anew`() {
        var bench = Bench()
        bench.goOnline()
        bench.apply(.closed(token: 1, .reset))
        #expect(Self.dials(bench.apply(.networkChanged, hasRoute: false)).isEmpty)
        #expect(Self.dials(bench.apply(.networkChanged)).count == 1)
        let token = bench.machine.generation
        let again = bench.apply(.networkChanged)
        #expect(again.contains(.abandonDial(token: token)))
        #expect(Self.dials(again).count == 1)
    }

    @Test func `an attempt that goes out anew is still one attempt`() {
        var bench = sleeping()
        bench.apply(.closed(token: 1, .reset))
        bench.apply(.surroundingsChanged(Self.surroundings(.active)))
        for _ in 0..<5 { bench.apply(.networkChanged) }
        #expect(bench.machine.resumePolicy.attempts == 1)
    }

    // MARK: Windows

    @Test func `an open window keeps the probe of its host warm when the host is disabled`() {
        var bench = Bench()
        bench.goOnline()
        bench.apply(.windowsChanged(OpenWindows(attached: 1)))
        let effects = bench.edit { $0.isEnabled = false }
        // The socket goes with the command, and the window asks for another.
        #expect(effects.contains(.close(token: 1, .hostDisabled)))
        #expect(Self.dials(effects).count == 1)
        let token = bench.machine.generation
        bench.apply(.dialed(token: token, .fake))
        bench.apply(.replied(token: token, .fake))
        #expect(bench.machine.condition == .online)
        let end = bench.apply(.windowsChanged(OpenWindows()))
        #expect(end.contains(.close(token: token, .hostDisabled)))
        #expect(bench.machine.condition == .disabled)
    }

    @Test func `a watched host is looked at every second, in the active phase only`() {
        var bench = Bench()
        bench.goOnline()
        let effects = bench.apply(.windowsChanged(OpenWindows(watched: 1)))
        #expect(bench.pause(in: effects) == HostMachine.watchInterval)
        bench.fireTimer(in: effects)
        #expect(bench.pause(in: bench.apply(.replied(token: 1, .fake))) == HostMachine.watchInterval)
        let locked = bench.apply(.surroundingsChanged(Self.surroundings(.inactive)))
        #expect(bench.pause(in: locked) ?? .zero > HostMachine.watchInterval)
    }

    @Test func `unlocking the screen begins the backoff anew`() {
        var bench = Bench()
        bench.goOnline()
        bench.apply(.surroundingsChanged(Self.surroundings(.inactive)))
        var effects = bench.apply(.closed(token: 1, .reset))
        bench.fireTimer(in: effects)
        effects = bench.apply(.dialFailed(token: bench.machine.generation, .reset))
        #expect(bench.pause(in: effects) == .seconds(4))
        #expect(Self.dials(bench.apply(.surroundingsChanged(Self.surroundings(.active)))).count == 1)
        effects = bench.apply(.dialFailed(token: bench.machine.generation, .reset))
        #expect(bench.pause(in: effects) == .seconds(2))
    }
}
