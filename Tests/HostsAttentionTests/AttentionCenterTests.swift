import HostsLog
import HostsModel
import HostsPolicy
import HostsTestSupport
import Testing

@testable import HostsAttention

@Suite(.timeLimit(.minutes(5))) struct AttentionCenterTests {
    let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    @Test func `a turn that ends while the link is lost is told once, as late`() async throws {
        let runner = ScriptedRunner()
        let rig = try CenterRig(folder: folder, runner: runner)
        try await rig.running {
            await rig.look(rig.session(.busy))
            await rig.condition(.reconnecting(attempt: 1, at: rig.wall.now))
            rig.clock.advance(by: .seconds(130))
            await rig.condition(.online)
            await rig.look(rig.session(.idle), gap: .seconds(130))
            await rig.look(rig.session(.idle))
            await rig.look(rig.session(.idle), gap: .seconds(20))
            await rig.untilLogged("alert.posted")
        }
        let events = await rig.events()
        #expect(events.map(\.kind) == [.turnEnded])
        let event = try #require(events.first)
        #expect(event.gap == .seconds(130))
        #expect(
            event.summary == "claude in main:0.1 on devbox finished its turn (after 2 min 10 s out of sight)")
        #expect(event.delivery == .delivered)
        #expect(runner.calls.count == 1)
        #expect(rig.messages(.attention, .debug) == ["alert posted for devbox/42"])
    }

    @Test func `nothing is invented when nothing happened`() async throws {
        let rig = try CenterRig(folder: folder)
        await rig.look(rig.session(.idle))
        await rig.look(rig.session(.idle), gap: .seconds(600))
        await rig.look(rig.session(.idle))
        #expect(await rig.events().isEmpty)
    }

    @Test func `a first look announces nothing old, in a later run either`() async throws {
        let rig = try CenterRig(folder: folder)
        await rig.look(rig.session(.needsYou(.permission)), rig.session(.idle, pid: 43))
        #expect(await rig.events().isEmpty)
        let later = try CenterRig(folder: folder)
        await later.look(later.session(.idle))
        #expect(await later.events().isEmpty)
    }

    @Test func `the event is in the store before its hook starts`() async throws {
        let path = folder.path + "/state/hostsd.db"
        let found = Locked<[AttentionEvent.Kind]>([])
        let runner = ScriptedRunner { event in
            let store = EventStore(path: path)
            do throws(StoreError) {
                let stored = try store.contents(limit: 10, now: event.time)
                found.withLock { $0 = stored.events.filter { $0.id == event.id }.map(\.kind) }
                #expect(stored.deliveries.map(\.state) == [.pending])
            } catch {
                Issue.record(error)
            }
        }
        let rig = try CenterRig(folder: folder, runner: runner)
        try await rig.running {
            await rig.look(rig.session(.busy))
            await rig.look(rig.session(.needsYou(.permission)))
            await rig.untilLogged("alert.posted")
        }
        #expect(found.withLock { $0 } == [.needsYou])
    }

    @Test func `attention that is switched off records, tells nobody and says so`() async throws {
        let runner = ScriptedRunner()
        let rig = try CenterRig(folder: folder, runner: runner, isEnabled: false)
        try await rig.running {
            await rig.look(rig.session(.busy))
            await rig.look(rig.session(.idle))
        }
        #expect(await rig.events().map(\.delivery) == [.dropped(.locked)])
        #expect(rig.messages(.attention, .debug) == ["alert dropped for devbox/42: locked"])
        #expect(runner.calls.isEmpty)
    }

    @Test func `an alert without a hook stands all the same, is logged, and warned of once`() async throws {
        let rig = try CenterRig(folder: folder, hooks: [])
        await rig.look(rig.session(.busy))
        await rig.look(rig.session(.needsYou(.question)))
        await rig.look(rig.session(.needsYou(.plan)))
        #expect(await rig.center.pendingAlerts().map(\.reason) == ["plan"])
        #expect(await rig.events().map(\.delivery) == [.dropped(.noHook), .dropped(.noHook)])
        #expect(
            rig.messages(.attention, .debug) == [
                "alert dropped for devbox/42: no-hook", "alert dropped for devbox/42: no-hook",
            ])
        #expect(rig.messages(.attention, .warning).count == 1)
    }

    @Test func `who was told of a need is told of its end, and nobody else`() async throws {
        let runner = ScriptedRunner()
        runner.answer("b", .failed("exit 1"), .failed("exit 1"), .failed("exit 1"))
        let rig = try CenterRig(folder: folder, hooks: ["a", "b"], runner: runner)
        try await rig.running {
            await rig.look(rig.session(.busy))
            await rig.look(rig.session(.needsYou(.permission)))
            await rig.untilLogged("hook.ended", count: 2)
            #expect(
                await rig.center.pendingAlerts().map(\.summary) == [
                    "claude in main:0.1 on devbox asks for permission"
                ])
            await rig.look(rig.session(.busy))
            await rig.untilLogged("hook.ended", count: 3)
        }
        #expect(await rig.center.pendingAlerts().isEmpty)
        let cleared = runner.calls.filter { $0.kind == .needsCleared }
        #expect(cleared.map(\.hook) == ["a"])
        #expect(await rig.events().map(\.delivery) == [.delivered, .delivered])
    }

    @Test func `a need that is over before anyone was told is not told, and neither is its end`() async throws
    {
        let runner = ScriptedRunner()
        runner.answer("a", .retryLater)
        let rig = try CenterRig(folder: folder, runner: runner)
        try await rig.running {
            await rig.look(rig.session(.busy))
            await rig.look(rig.session(.needsYou(.permission)))
            await rig.untilLogged("hook.ended")
            await rig.look(rig.session(.busy))
            rig.clock.advance(by: .seconds(3600))
        }
        #expect(runner.calls.count == 1)
        #expect(await rig.events().map(\.delivery) == [.recorded, .recorded])
    }

    @Test func `a need that ends while its hook runs is cleared only if the hook delivers it`() async throws {
        for isDelivered in [true, false] {
            let runner = ScriptedRunner()
            let gate = runner.hold("a")
            runner.answer("a", isDelivered ? .delivered : .retryLater)
            let own = try TemporaryFolder()
            let rig = try CenterRig(folder: own, runner: runner)
            try await rig.running {
                await rig.look(rig.session(.busy))
                await rig.look(rig.session(.needsYou(.permission)))
                await gate.entered.wait()
                await rig.look(rig.session(.busy))
                gate.opened.set()
                await rig.untilLogged("hook.ended", count: isDelivered ? 2 : 1)
            }
            #expect(runner.calls.map(\.kind) == (isDelivered ? [.needsYou, .needsCleared] : [.needsYou]))
            let status: DeliveryStatus = isDelivered ? .delivered : .recorded
            #expect(await rig.events().map(\.delivery) == [status, status])
        }
    }

    @Test func `a turn that its agent did not outlive is told as cut off, not as finished`() async throws {
        let rig = try CenterRig(folder: folder, hooks: [])
        await rig.look(rig.session(.busy))
        await rig.look(rig.session(.exited))
        let ended = await rig.events().filter { $0.kind == .turnEnded }
        #expect(ended.count == 1)
        #expect(ended.allSatisfy { $0.summary.hasSuffix("exited during its turn") })
    }

    @Test func `starts and exits are recorded, not told`() async throws {
        let runner = ScriptedRunner()
        let rig = try CenterRig(folder: folder, runner: runner)
        await rig.look()
        await rig.look(rig.session(.idle))
        await rig.look(rig.session(.exited))
        #expect(await rig.events().map(\.kind) == [.agentStarted, .agentExited])
        #expect(await rig.events().map(\.delivery) == [.recorded, .recorded])
        #expect(runner.calls.isEmpty)
    }

    @Test func `a turn that ended with background work is held back unless the state file says so`()
        async throws
    {
        let rig = try CenterRig(folder: folder, hooks: [])
        await rig.look(rig.session(.busy), rig.session(.busy, pid: 43))
        let word = Evidence(kind: .stateFile, strength: .strong, rule: "claude.sessions-file")
        await rig.look(
            rig.session(.idle, flags: [.background]),
            rig.session(.idle, pid: 43, flags: [.background], evidence: [word]))
        #expect(await rig.events().map(\.session?.rawValue) == ["devbox/43"])
        await rig.look(rig.session(.idle), rig.session(.idle, pid: 43, flags: [.background]))
        #expect(await rig.events().map(\.session?.rawValue) == ["devbox/43", "devbox/42"])
    }

    @Test func `turns are told apart over runs, events sort in the order of their making`() async throws {
        var events: [AttentionEvent] = []
        let clock = ManualClock()
        for _ in 0..<2 {
            let rig = try CenterRig(folder: folder, hooks: [], clock: clock)
            for state in [AgentState.busy, .idle, .busy, .idle] { await rig.look(rig.session(state)) }
            events = await rig.events()
            clock.advance(by: .seconds(1))
        }
        #expect(events.count == 4)
        #expect(Set(events.map(\.turn)).count == 4)
        #expect(events.map(\.id) == events.map(\.id).sorted())
        #expect(Set(events.map(\.id)).count == 4)
    }

    @Test func `a standing alert of an earlier run is cleared at the first look that shows it is over`()
        async throws
    {
        let clock = ManualClock()
        let runner = ScriptedRunner()
        let first = try CenterRig(folder: folder, runner: runner, clock: clock)
        try await first.running {
            await first.look(first.session(.busy))
            await first.look(first.session(.needsYou(.permission)))
            await first.untilLogged("alert.posted")
        }
        let second = try CenterRig(folder: folder, runner: runner, clock: clock)
        try await second.running {
            #expect(await second.center.pendingAlerts().count == 1)
            await second.look(second.session(.unknown))
            #expect(await second.center.pendingAlerts().count == 1)
        }
        let third = try CenterRig(folder: folder, runner: runner, clock: clock)
        try await third.running {
            await third.look(third.session(.idle))
            await third.untilLogged("alert.posted")
        }
        #expect(await third.center.pendingAlerts().isEmpty)
        #expect(runner.calls.map(\.kind) == [.needsYou, .needsCleared])
    }

    @Test func `the turn clock pauses out of sync and goes on for the side seen then`() async throws {
        let rig = try CenterRig(folder: folder, hooks: [])
        let session = rig.session(.busy)
        await rig.look(session)
        rig.clock.advance(by: .seconds(10))
        await rig.center.handle(.outOfSync(CenterRig.devbox, at: rig.wall.now))
        let paused = try #require(await rig.center.turnClocks()[session.id])
        #expect(!paused.isRunning && paused.side == .white)
        rig.clock.advance(by: .seconds(60))
        await rig.look(rig.session(.idle), gap: .seconds(60))
        rig.clock.advance(by: .seconds(5))
        let clock = try #require(await rig.center.turnClocks()[session.id])
        #expect(clock.isRunning && clock.side == .black)
        #expect(clock.totals.agentSeconds == 10)
        #expect(clock.totals.personSeconds == 5)
        #expect(clock.totals.outOfSyncSeconds == 60)
        #expect(await rig.events().map(\.kind) == [.hostOutOfSync, .turnEnded])
        await rig.look(rig.session(.exited))
        #expect(await rig.center.turnClocks()[session.id] == nil)
    }

    @Test func `a host is lost and found, and its agents are silent meanwhile`() async throws {
        let runner = ScriptedRunner()
        let rig = try CenterRig(folder: folder, runner: runner)
        let error = LinkError.connectionRefused(address: "127.0.0.1:22")
        try await rig.running {
            await rig.condition(.dormant(error))
            await rig.condition(.online)
            await rig.look(rig.session(.busy))
            rig.clock.advance(by: .seconds(1))
            await rig.condition(.reconnecting(attempt: 1, at: rig.wall.now))
            await rig.condition(.dormant(error))
            await rig.untilLogged("hook.ended")
            rig.clock.advance(by: .seconds(3700))
            await rig.condition(.online)
            await rig.untilLogged("hook.ended", count: 2)
        }
        #expect(await rig.events().map(\.kind) == [.hostLost, .hostRecovered])
        #expect(await rig.events().last?.summary == "devbox is back after 1 h 1 min")
        #expect(runner.calls.map(\.subject) == ["devbox", "devbox"])
    }

    @Test func `a removed host leaves nothing behind`() async throws {
        let rig = try CenterRig(folder: folder, hooks: [])
        await rig.look(rig.session(.busy))
        await rig.look(rig.session(.needsYou(.login)))
        await rig.center.handle(.removed(CenterRig.devbox, at: rig.wall.now))
        #expect(await rig.center.pendingAlerts().isEmpty)
        #expect(await rig.center.turnClocks().isEmpty)
        await rig.look(rig.session(.idle))
        #expect(await rig.events().count == 1)
    }

    @Test func `a watcher gets what was and what comes, without a seam`() async throws {
        let rig = try CenterRig(folder: folder, hooks: [])
        await rig.center.post(.daemonStarted, summary: "one")
        await rig.center.post(.configError, key: "config:a.toml", summary: "two")
        let first = try #require(await rig.events().first)
        let (past, live) = await rig.center.watch(after: first.id, limit: 10)
        await rig.center.post(.daemonStopping, summary: "three")
        #expect(past.map(\.summary) == ["two"])
        for await event in live {
            #expect(event.summary == "three")
            break
        }
    }

    @Test func `a watcher that falls behind is let go`() async throws {
        let rig = try CenterRig(folder: folder, hooks: [])
        let (_, live) = await rig.center.watch(after: nil, limit: 0)
        for number in 0..<(AttentionCenter.watcherBacklog + 10) {
            await rig.center.post(.configError, summary: "\(number)")
        }
        var count = 0
        for await _ in live { count += 1 }
        #expect(count == AttentionCenter.watcherBacklog)
    }

    @Test func `a fault of a file is told once, also over a restart, until it is another`() async throws {
        let rig = try CenterRig(folder: folder)
        await rig.center.postFault(of: "/c/a.toml", host: CenterRig.devbox, summary: "a.toml:1:1: x")
        #expect(await rig.events().map(\.key) == ["config:/c/a.toml"])
        #expect(await rig.events().map(\.host) == [CenterRig.devbox])
        // Mended and broken again in one run: new to the person.
        await rig.center.postFault(of: "/c/a.toml", host: CenterRig.devbox, summary: "a.toml:1:1: x")
        #expect(await rig.events().count == 2)
        rig.clock.advance(by: .seconds(1))
        let later = try CenterRig(folder: folder, clock: rig.clock)
        await later.center.postFault(of: "/c/a.toml", host: CenterRig.devbox, summary: "a.toml:1:1: x")
        #expect(await later.events().count == 2)
        await later.center.postFault(of: "/c/a.toml", host: CenterRig.devbox, summary: "a.toml:2:1: y")
        await later.center.postFault(of: "/c/b.toml", host: nil, summary: "a.toml:1:1: x")
        #expect(await later.events().count == 4)
    }

    @Test func `rules that do not fit are told once for each host, agent and version, over a restart too`()
        async throws
    {
        let rig = try CenterRig(folder: folder)
        let claude = AgentName(rawValue: "claude")
        let newer = StaleRules(agent: claude, version: "9.1", cause: .version)
        let unread = StaleRules(agent: claude, version: "9.1", cause: .unreadWork(looks: 12))
        let other = StaleRules(agent: claude, version: nil, cause: .unreadWork(looks: 12))
        for _ in 0..<3 { await rig.look(rig.session(.unknown), stale: [newer, unread]) }
        await rig.look(rig.session(.unknown), stale: [other])
        let events = await rig.events().filter { $0.kind == .rulesStale }
        #expect(events.map(\.key) == ["rules:devbox:claude:9.1", "rules:devbox:claude:"])
        #expect(
            events.first?.summary
                == "claude 9.1 on devbox is no version that its rules were made for: its state may be wrong")
        rig.clock.advance(by: .seconds(1))
        let later = try CenterRig(folder: folder, clock: rig.clock)
        await later.look(later.session(.unknown), stale: [newer, other])
        #expect(await later.events().count { $0.kind == .rulesStale } == 2)
    }

    @Test func `a host that makes up versions does not fill the store`() async throws {
        let rig = try CenterRig(folder: folder)
        for number in 0..<200 {
            let stale = StaleRules(
                agent: AgentName(rawValue: "claude"), version: "9.\(number)", cause: .version)
            await rig.look(rig.session(.unknown), stale: [stale])
        }
        #expect(await rig.events().count { $0.kind == .rulesStale } == 32)
    }

    @Test func `what is wrong with a hook is logged once, however often the hooks are read`() async throws {
        let rig = try CenterRig(folder: folder)
        let problem = HookProblem(path: "/hooks/b", kind: .notExecutable)
        rig.setHooks(HookSet(hooks: [Hook(name: "a", path: "/hooks/a")], problems: [problem]))
        for _ in 0..<3 { await rig.center.reloadHooks() }
        #expect(rig.messages(.hook, .warning) == [problem.message])
        rig.setHooks(HookSet(hooks: [Hook(name: "a", path: "/hooks/a")]))
        await rig.center.reloadHooks()
        rig.setHooks(HookSet(hooks: [Hook(name: "a", path: "/hooks/a")], problems: [problem]))
        await rig.center.reloadHooks()
        #expect(rig.messages(.hook, .warning) == [problem.message, problem.message])
    }
}
