import HostsLog
import HostsModel
import HostsTestSupport
import Testing

@testable import HostsAttention

@Suite(.timeLimit(.minutes(5))) struct DeliveryTests {
    let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private func endTurn(_ rig: CenterRig, pid: Int32 = 42) async {
        await rig.look(rig.session(.busy, pid: pid))
        await rig.look(rig.session(.idle, pid: pid))
    }

    @Test func `a delivery that a stop has cut off is made in the next run, and not again in the one after`()
        async throws
    {
        let clock = ManualClock()
        let runner = ScriptedRunner()
        let gate = runner.hold("a")
        let first = try CenterRig(folder: folder, runner: runner, clock: clock)
        try await first.running {
            await endTurn(first)
            await gate.entered.wait()
        }
        #expect(await first.events().map(\.delivery) == [.pending])
        let second = try CenterRig(folder: folder, runner: runner, clock: clock)
        try await second.running { await second.untilLogged("alert.posted") }
        #expect(await second.events().map(\.delivery) == [.delivered])
        let third = try CenterRig(folder: folder, runner: runner, clock: clock)
        try await third.running {
            await endTurn(third, pid: 43)
            await third.untilLogged("alert.posted")
        }
        #expect(runner.calls.map(\.subject) == ["devbox/42", "devbox/42", "devbox/43"])
        #expect(runner.calls.map(\.attempt) == [1, 1, 1])
    }

    @Test func `different hooks run side by side, one hook keeps the order of its events`() async throws {
        let runner = ScriptedRunner()
        let a = runner.hold("a")
        let b = runner.hold("b")
        let rig = try CenterRig(folder: folder, hooks: ["a", "b"], runner: runner)
        try await rig.running {
            await rig.look(rig.session(.busy, pid: 1), rig.session(.busy, pid: 2))
            await rig.look(rig.session(.idle, pid: 1), rig.session(.busy, pid: 2))
            await rig.look(rig.session(.idle, pid: 1), rig.session(.idle, pid: 2))
            await a.entered.wait()
            await b.entered.wait()
            #expect(runner.calls.map(\.subject) == ["devbox/1", "devbox/1"])
            b.opened.set()
            await rig.untilLogged("hook.ended", count: 2)
            #expect(runner.calls.filter { $0.hook == "a" }.count == 1)
            #expect(runner.calls.filter { $0.hook == "b" }.map(\.subject) == ["devbox/1", "devbox/2"])
            a.opened.set()
            await rig.untilLogged("hook.ended", count: 4)
        }
        #expect(runner.calls.filter { $0.hook == "a" }.map(\.subject) == ["devbox/1", "devbox/2"])
    }

    @Test func `no more hooks run at the same time than the settings say`() async throws {
        let names = ["a", "b", "c", "d", "e", "f"]
        let runner = ScriptedRunner()
        let gates = names.map { runner.hold($0) }
        let rig = try CenterRig(folder: folder, hooks: names, runner: runner)
        try await rig.running {
            await endTurn(rig)
            for gate in gates.prefix(4) { await gate.entered.wait() }
            #expect(runner.calls.count == 4)
            for gate in gates { gate.opened.set() }
            await rig.untilLogged("hook.ended", count: 6)
        }
        #expect(runner.most == 4)
    }

    @Test func `a hook that asks for it is run again, later and later`() async throws {
        let runner = ScriptedRunner()
        runner.answer("a", .retryLater, .retryLater, .retryLater, .delivered)
        let rig = try CenterRig(folder: folder, runner: runner)
        try await rig.running {
            await endTurn(rig)
            for (index, delay) in [5, 30, 120].enumerated() {
                await rig.untilLogged("hook.ended", count: index + 1)
                rig.clock.advance(by: .seconds(delay) - .milliseconds(1))
                // The loop has gone to sleep again when it has answered a query that came after it woke.
                _ = await rig.events()
                #expect(runner.calls.count == index + 1)
                rig.clock.advance(by: .milliseconds(1))
            }
            await rig.untilLogged("alert.posted")
        }
        #expect(runner.calls.map(\.attempt) == [1, 2, 3, 4])
    }

    @Test func `a hook that fails is run twice more and then given up`() async throws {
        let runner = ScriptedRunner()
        runner.answer("a", .failed("exit 1"), .failed("signal 9"), .failed("exit 2"))
        let rig = try CenterRig(folder: folder, runner: runner)
        try await rig.running {
            await endTurn(rig)
            await rig.untilLogged("hook.ended", count: 1)
            rig.clock.advance(by: .seconds(5))
            await rig.untilLogged("hook.ended", count: 2)
            rig.clock.advance(by: .seconds(30))
            await rig.untilLogged("delivery.given-up")
            rig.clock.advance(by: .seconds(3600))
        }
        #expect(runner.calls.count == 3)
        #expect(await rig.events().map(\.delivery) == [.failed])
        let hooks = await rig.center.hookStatuses()
        #expect(hooks.map(\.pending) == [0])
        #expect(hooks.map(\.dead) == [1])
        #expect(hooks.first?.problem?.contains("exit 2; see: hostsctl logs") == true)
    }

    @Test func `a hook that is misconfigured waits until the hooks are read anew`() async throws {
        let runner = ScriptedRunner()
        runner.answer("a", .misconfigured)
        let rig = try CenterRig(folder: folder, hooks: ["a", "b"], runner: runner)
        try await rig.running {
            await endTurn(rig)
            await rig.untilLogged("hook.ended", count: 2)
            rig.clock.advance(by: .seconds(7200))
            await endTurn(rig, pid: 43)
            await rig.untilLogged("hook.ended", count: 3)
            #expect(runner.calls.filter { $0.hook == "a" }.count == 1)
            #expect(await rig.center.hookStatuses().map(\.state) == [.misconfigured, .ready])
            await rig.center.reloadHooks()
            await rig.untilLogged("hook.ended", count: 4)
        }
        #expect(runner.calls.last == .init(hook: "a", kind: .turnEnded, subject: "devbox/42", attempt: 2))
        #expect(await rig.center.hookStatuses().map(\.state) == [.ready, .ready])
    }

    @Test func `what nobody could be told in a day is given up`() async throws {
        let runner = ScriptedRunner()
        runner.answer("a", .misconfigured)
        let rig = try CenterRig(folder: folder, runner: runner)
        try await rig.running {
            await endTurn(rig)
            await rig.untilLogged("hook.ended")
            rig.clock.advance(by: .seconds(24 * 3600))
            await rig.untilLogged("delivery.given-up")
        }
        #expect(await rig.events().map(\.delivery) == [.failed])
    }

    @Test func `a drain waits for what runs, and not for what waits`() async throws {
        let runner = ScriptedRunner()
        runner.answer("b", .retryLater)
        let gate = runner.hold("a")
        let rig = try CenterRig(folder: folder, hooks: ["a", "b"], runner: runner)
        try await rig.running {
            await rig.center.post(.daemonStopping, summary: "hostsd is stopping")
            await gate.entered.wait()
            async let drained: Void = rig.center.drain(until: rig.clock.now + .seconds(2))
            gate.opened.set()
            await drained
            #expect(await rig.events().map(\.delivery) == [.delivered])
        }
        #expect(runner.calls.count == 2)
    }

    @Test func `that an earlier run has stopped is no news`() async throws {
        let clock = ManualClock()
        let runner = ScriptedRunner()
        let first = try CenterRig(folder: folder, runner: runner, clock: clock)
        await first.center.post(.daemonStopping, summary: "hostsd is stopping")
        let second = try CenterRig(folder: folder, runner: runner, clock: clock)
        try await second.running {
            await endTurn(second)
            await second.untilLogged("alert.posted")
        }
        #expect(runner.calls.map(\.kind) == [.turnEnded])
    }
}
