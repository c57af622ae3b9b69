import HostsModel
import HostsPolicy
import HostsTestSupport
import Testing

@testable import HostsHub

@Suite struct HostMachineTests {
    // MARK: First dial

    @Test func `an enabled host dials at once, a disabled one never asks for its model`() {
        var bench = Bench()
        #expect(bench.start() == [.dial(bench.record, token: 1)])
        #expect(bench.machine.condition == .connecting)

        var idle = Bench()
        idle.record.isEnabled = false
        #expect(idle.start() == [])
        #expect(idle.machine.condition == .disabled)
        #expect(idle.models.withLock { $0 } == 0)
        #expect(idle.apply(.look) == [])
        #expect(idle.apply(.resume) == [])
        #expect(idle.models.withLock { $0 } == 0)
    }

    @Test func `a host is online only after its first look`() {
        var bench = Bench()
        bench.start()
        bench.apply(.dialed(token: 1, .fake))
        #expect(bench.machine.condition == .connecting)
        let effects = bench.apply(.replied(token: 1, .fake))
        #expect(bench.machine.condition == .online)
        #expect(effects.contains { if case .emit(.observed(_, gap: nil)) = $0 { true } else { false } })
    }

    // MARK: Generations

    @Test func `a link of an obsolete attempt is closed, not adopted`() {
        var bench = Bench()
        bench.start()
        bench.edit { $0.destination = "elsewhere" }
        #expect(bench.machine.generation == 3)
        #expect(bench.apply(.dialed(token: 1, .fake)) == [.close(token: 1, .superseded)])
        bench.apply(.dialed(token: 3, .fake))
        #expect(bench.machine.summary == .fake)
    }

    @Test func `late news of an old generation changes nothing, in any state`() {
        var bench = Bench()
        bench.goOnline()
        bench.apply(.closed(token: 1, .reset))
        let condition = bench.machine.condition
        for event: HostMachine.Event in [
            .closed(token: 1, .reset), .probeFailed(token: 1, .reset), .replied(token: 1, .fake),
            .dialFailed(token: 1, .reset), .timerFired(id: 0),
        ] {
            #expect(bench.apply(event) == [])
            #expect(bench.machine.condition == condition)
        }
    }

    @Test func `a lost link is closed once, whichever news of it comes first`() {
        var bench = Bench()
        bench.goOnline()
        let first = bench.apply(.probeFailed(token: 1, .timedOut(.probe, after: .seconds(10))))
        #expect(first.contains(.close(token: 1, .timedOut(.probe, after: .seconds(10)))))
        #expect(bench.apply(.closed(token: 1, .reset)) == [])
    }

    // MARK: The schedule

    @Test func `an unexpected drop is retried after 2, 4, 8, 8 and 8 seconds, then the host is dormant`() {
        var bench = Bench()
        bench.goOnline()
        var effects = bench.apply(.closed(token: 1, .reset))
        for (index, delay) in [2.0, 4, 8, 8, 8].enumerated() {
            #expect(bench.pause(in: effects) == .seconds(delay))
            guard case .reconnecting(let attempt, _) = bench.machine.condition else {
                Issue.record("\(bench.machine.condition)")
                return
            }
            #expect(attempt == index + 1)
            bench.fireTimer(in: effects)
            effects = bench.apply(.dialFailed(token: bench.machine.generation, .reset))
        }
        #expect(bench.machine.condition == .dormant(.reset))
        #expect(bench.pause(in: effects) == nil)
    }

    @Test func `jitter of 20 percent is added outside the policy`() throws {
        for (jitter, expected) in [(0.0, 1.6), (0.5, 2.0), (1.0, 2.4)] {
            var bench = Bench()
            bench.jitter = jitter
            bench.goOnline()
            let pause = try #require(bench.pause(in: bench.apply(.closed(token: 1, .reset))))
            #expect(abs(pause.seconds - expected) < 0.000_001)
        }
    }

    @Test func `a look that succeeds starts the schedule anew`() {
        var bench = Bench()
        bench.goOnline()
        bench.fireTimer(in: bench.apply(.closed(token: 1, .reset)))
        bench.apply(.dialed(token: bench.machine.generation, .fake))
        bench.apply(.replied(token: bench.machine.generation, .fake))
        let effects = bench.apply(.closed(token: bench.machine.generation, .reset))
        #expect(bench.pause(in: effects) == .seconds(2))
    }

    @Test func `a link that dies before its first look uses up the schedule`() {
        var bench = Bench()
        var effects = bench.start()
        for _ in 0..<6 {
            bench.apply(.dialed(token: bench.machine.generation, .fake))
            effects = bench.apply(.closed(token: bench.machine.generation, .reset))
            bench.fireTimer(in: effects)
        }
        #expect(bench.machine.condition == .dormant(.reset))
    }

    // MARK: Stop and ask

    @Test(arguments: [
        LinkError.hostKeyChanged(host: "h", expected: "a", got: "b", file: "f"),
        .hostKeyUnknown(host: "h", fingerprint: "a"),
        .hostKeyRevoked(host: "h", fingerprint: "a"),
        .authenticationRefused(user: "u", tried: []),
        .secondFactorWanted(user: "u", methods: "password"),
        .keyMissing(path: "p"), .keyNeedsPassphrase(path: "p"), .keyUnusable(path: "p", detail: ""),
        .agentUnavailable(path: "p", detail: ""), .agentHasNoKeys(path: "p"),
        .resolutionFailed(destination: "d", detail: ""),
    ])
    func `what needs the person is never retried on its own`(error: LinkError) {
        var bench = Bench()
        bench.start()
        let effects = bench.apply(.dialFailed(token: 1, error))
        #expect(bench.machine.condition == .needsYou(error))
        #expect(bench.pause(in: effects) == nil)
        #expect(!effects.contains { if case .dial = $0 { true } else { false } })
        #expect(error.help(for: bench.record.id) != nil)
        #expect(bench.apply(.resume) == [.dial(bench.record, token: bench.machine.generation)] + bench.news)
    }

    @Test func `a server that refuses for a while is left alone for 60 seconds, doubling to 10 minutes`() {
        var bench = Bench()
        bench.start()
        for seconds in [60.0, 120, 240, 480, 600, 600] {
            let effects = bench.apply(
                .dialFailed(token: bench.machine.generation, .rateLimited(detail: "no")))
            #expect(bench.pause(in: effects) == .seconds(seconds))
            bench.fireTimer(in: effects)
        }
    }

    // MARK: Cancelling

    /// Where a host can be when its person wants no more attempts.
    enum Place: String, Sendable, CaseIterable {
        case disabled, dialling, verifying, online, waiting, limited, stopped, dormant

        func reach(_ bench: inout Bench) {
            switch self {
            case .disabled:
                bench.record.isEnabled = false
                bench.start()
            case .dialling: bench.start()
            case .verifying:
                bench.start()
                bench.apply(.dialed(token: 1, .fake))
            case .online: bench.goOnline()
            case .waiting:
                bench.start()
                bench.apply(.dialFailed(token: 1, .reset))
            case .limited:
                bench.start()
                bench.apply(.dialFailed(token: 1, .rateLimited(detail: "no")))
            case .stopped:
                bench.start()
                bench.apply(.dialFailed(token: 1, .keyMissing(path: "k")))
            case .dormant:
                bench.start()
                bench.apply(.dialFailed(token: 1, .cancelled))
            }
        }

        /// What is to be done; nil where there is nothing to cancel.
        var effects: [HostMachine.Effect]? {
            switch self {
            case .dialling: [.abandonDial(token: 1), .lookEnded]
            case .verifying: [.close(token: 1, .cancelled), .lookEnded]
            case .waiting, .limited: []
            case .disabled, .online, .stopped, .dormant: nil
            }
        }

        var lastError: LinkError? {
            switch self {
            case .waiting: .reset
            case .limited: .rateLimited(detail: "no")
            case .stopped: .keyMissing(path: "k")
            case .dormant: .cancelled
            case .disabled, .dialling, .verifying, .online: nil
            }
        }
    }

    @Test(arguments: Place.allCases)
    func `cancelling ends what is tried and leaves the rest alone`(place: Place) {
        var bench = Bench()
        place.reach(&bench)
        let before = bench.machine.condition
        let generation = bench.machine.generation
        #expect(bench.machine.hasRetries == (place.effects != nil))
        let effects = bench.apply(.cancelRetries)
        #expect(bench.machine.lastError == place.lastError)
        guard let expected = place.effects else {
            #expect(effects == [])
            #expect(bench.machine.condition == before)
            return
        }
        let end = FleetEvent.condition(
            bench.record.id, from: before, to: .dormant(.cancelled), at: bench.wall)
        #expect(effects == expected + [.emit(end)])
        #expect(bench.machine.condition == .dormant(.cancelled))
        #expect(bench.machine.generation > generation)
        // Nothing brings it back by itself: no timer, no other way to make links, no label.
        for id in 0..<10 { #expect(bench.apply(.timerFired(id: id)) == []) }
        #expect(bench.apply(.linkSettingsChanged) == [])
        #expect(bench.edit { $0.label = "Other" } == [])
        #expect(bench.apply(.cancelRetries) == [])
        #expect(bench.apply(.resume) == [.dial(bench.record, token: bench.machine.generation)] + bench.news)
    }

    @Test func `what a cancelled dial leads to is closed or forgotten`() {
        for late: HostMachine.Event in [.dialed(token: 1, .fake), .dialFailed(token: 1, .reset)] {
            for resumes in [false, true] {
                var bench = Bench()
                bench.start()
                bench.apply(.cancelRetries)
                if resumes { bench.apply(.resume) }
                let before = bench.machine.condition
                let isLink = if case .dialed = late { true } else { false }
                #expect(bench.apply(late) == (isLink ? [.close(token: 1, .superseded)] : []))
                #expect(bench.machine.condition == before)
            }
        }
    }

    @Test func `a cancelled host that is edited or enabled again dials`() {
        var bench = Bench()
        bench.start()
        bench.apply(.cancelRetries)
        #expect(
            bench.edit { $0.destination = "other" }.contains { if case .dial = $0 { true } else { false } })
        bench.apply(.cancelRetries)
        bench.edit { $0.isEnabled = false }
        #expect(bench.edit { $0.isEnabled = true }.contains { if case .dial = $0 { true } else { false } })
    }

    // MARK: Overdue looks

    @Test func `an overdue look is shown as checking, is not doubled, and heals without a new link`() {
        var bench = Bench()
        bench.goOnline()
        var effects = bench.fireTick()
        #expect(effects.count { if case .probe = $0 { true } else { false } } == 1)
        effects = bench.fireTimer(in: effects)
        #expect(bench.machine.condition == .checking)
        #expect(bench.machine.isStale)
        #expect(effects.contains(.emit(.outOfSync(bench.record.id, at: bench.wall))))
        #expect(!effects.contains { if case .probe = $0 { true } else { false } })
        effects = bench.fireTimer(in: effects)
        #expect(!effects.contains(.emit(.outOfSync(bench.record.id, at: bench.wall))))
        effects = bench.apply(.replied(token: 1, .fake))
        #expect(bench.machine.condition == .online)
        #expect(bench.machine.generation == 1)
        #expect(!bench.machine.isStale)
        let gap = effects.compactMap { effect -> Duration? in
            guard case .emit(.observed(_, let gap)) = effect else { return nil }
            return gap
        }
        #expect(gap == [bench.sinceLastLook])
    }

    @Test func `a turn end that wants a second sample is looked at again within a second`() {
        var bench = Bench(wantsConfirmation: true)
        let effects = bench.goOnline()
        #expect(bench.pause(in: effects) == HostMachine.confirmationDelay)
    }

    // MARK: Disabling, removing, editing

    @Test func `disabling keeps the last observation and closes the link at once`() {
        var bench = Bench()
        bench.goOnline()
        let effects = bench.edit { $0.isEnabled = false }
        #expect(effects.contains(.close(token: 1, .hostDisabled)))
        #expect(bench.machine.condition == .disabled)
        #expect(bench.machine.observation != nil)
        #expect(bench.machine.isStale)
        #expect(!effects.contains { if case .emit(.outOfSync) = $0 { true } else { false } })
        for id in 0..<10 { #expect(bench.apply(.timerFired(id: id)) == []) }
    }

    @Test func `a suspended host whose record still says enabled dials when the record is put in force`() {
        var bench = Bench()
        bench.goOnline()
        bench.apply(.suspend(.hostDisabled))
        #expect(bench.machine.condition == .disabled)
        let effects = bench.edit { _ in }
        #expect(effects.contains { if case .dial = $0 { true } else { false } })
        #expect(bench.machine.condition == .connecting)
        #expect(!bench.edit { _ in }.contains { if case .dial = $0 { true } else { false } })
    }

    @Test func `new link settings try again what failed, and leave what works alone`() {
        var bench = Bench()
        bench.start()
        let failure = LinkError.resolutionFailed(destination: "a", detail: "no such program")
        bench.apply(.dialFailed(token: 1, failure))
        let generation = bench.machine.generation
        bench.apply(.linkSettingsChanged)
        #expect(bench.machine.condition == .connecting)
        #expect(bench.machine.generation == generation + 1)
        #expect(bench.apply(.linkSettingsChanged) == [])

        var online = Bench()
        online.goOnline()
        #expect(online.apply(.linkSettingsChanged) == [])
    }

    @Test func `disabling during a dial abandons it`() {
        var bench = Bench()
        bench.start()
        #expect(bench.edit { $0.isEnabled = false }.contains(.abandonDial(token: 1)))
        #expect(bench.apply(.dialed(token: 1, .fake)) == [.close(token: 1, .superseded)])
    }

    @Test func `enabling again keeps the interpreter, so an edge of the meantime is found late`() {
        var bench = Bench()
        bench.goOnline()
        bench.edit { $0.isEnabled = false }
        bench.advance(by: .seconds(300))
        bench.edit { $0.isEnabled = true }
        bench.apply(.dialed(token: bench.machine.generation, .fake))
        let effects = bench.apply(.replied(token: bench.machine.generation, .fake))
        #expect(bench.models.withLock { $0 } == 1)
        #expect(effects.contains { if case .emit(.observed(_, gap: .some)) = $0 { true } else { false } })
    }

    @Test func `a new label or tag does not restart the feed`() {
        var bench = Bench()
        bench.goOnline()
        let effects = bench.edit {
            $0.label = "Other"
            $0.tags = ["x"]
        }
        #expect(effects == [])
        #expect(bench.machine.record.label == "Other")
    }

    @Test(arguments: ["destination", "transport", "keep-alive", "restore"])
    func `a change of the connection restarts the feed`(field: String) {
        var bench = Bench()
        bench.goOnline()
        let effects = bench.edit {
            switch field {
            case "destination": $0.destination = "other"
            case "transport": $0.transport = .libssh2
            case "keep-alive": $0.backgroundKeepAlive = true
            default: $0.sessionRestore = .tmux
            }
        }
        #expect(effects.contains(.close(token: 1, .recordChanged)))
        #expect(effects.contains { if case .dial = $0 { true } else { false } })
    }

    @Test func `a reply that cannot be read is no observation and costs the link`() {
        var bench = Bench()
        bench.goOnline()
        bench.fireTick()
        let effects = bench.apply(.replied(token: 1, ProbeReply(nonce: "n", body: [1], status: 0)))
        #expect(effects.contains { if case .close(1, .badReply) = $0 { true } else { false } })
        #expect(!effects.contains { if case .emit(.observed) = $0 { true } else { false } })
    }
}
