import Glibc
import HostsLog
import HostsModel
import HostsTestSupport
import Testing

@testable import HostsAttention

/// A store that cannot be used never keeps an alert back, and loses none.
@Suite(.timeLimit(.minutes(5))) struct StoreFailureTests {
    let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private func endTurn(_ rig: CenterRig) async {
        await rig.look(rig.session(.busy))
        await rig.look(rig.session(.idle))
    }

    @Test func `a full disk is told with the next step, and events are delivered from memory`() async throws {
        let runner = ScriptedRunner()
        let rig = try CenterRig(folder: folder, runner: runner, maximumPages: 8)
        let long = String(repeating: "x", count: 400)
        try await rig.running {
            for _ in 0..<100 { await rig.center.post(.configError, summary: long) }
            await endTurn(rig)
            await rig.untilLogged("alert.posted", count: 101)
        }
        #expect(runner.calls.count == 101)
        #expect(await rig.center.storeFailure()?.code == "store.full")
        let errors = rig.messages(.history, .error)
        #expect(errors.count == 1)
        #expect(errors.first?.contains("free some space") == true)
        #expect(await rig.events().count == 101)
    }

    @Test func `what could not be stored is stored as soon as it can be`() async throws {
        let parent = folder.path + "/missing"
        let database = parent + "/state/hostsd.db"
        let rig = try CenterRig(folder: folder, database: database)
        try await rig.running {
            await endTurn(rig)
            await rig.untilLogged("alert.posted")
            #expect(await rig.center.storeFailure() == .inaccessible(path: parent + "/state", code: ENOENT))
            #expect(mkdir(parent, 0o700) == 0)
            rig.clock.advance(by: EventJournal.retryPause)
            await rig.untilLogged("store.recovered")
        }
        let later = try CenterRig(folder: folder, database: database)
        #expect(await later.events().map(\.kind) == [.turnEnded])
        #expect(await later.events().map(\.delivery) == [.delivered])
    }

    @Test func `a damaged file is set aside and a new one begun`() async throws {
        #expect(mkdir(folder.path + "/state", 0o700) == 0)
        try folder.write("state/hostsd.db", String(repeating: "no database ", count: 1000), mode: 0o600)
        let rig = try CenterRig(folder: folder, hooks: [])
        await endTurn(rig)
        #expect(await rig.center.storeFailure() == nil)
        #expect(rig.messages(.history, .error).first?.contains("set aside as") == true)
        let later = try CenterRig(folder: folder, hooks: [])
        #expect(await later.events().map(\.kind) == [.turnEnded])
    }

    @Test func `a file that is damaged while it is used loses nothing that is still to be told`() async throws
    {
        let runner = ScriptedRunner()
        runner.answer("a", .retryLater)
        let clock = ManualClock()
        let rig = try CenterRig(folder: folder, runner: runner, clock: clock)
        let database = folder.path + "/state/hostsd.db"
        try await rig.running {
            await endTurn(rig)
            await rig.untilLogged("hook.ended")
        }
        // The loop has closed the file; the center opens it again with the next event.
        try folder.write("state/hostsd.db", String(repeating: "no database ", count: 1000), mode: 0o600)
        await rig.center.post(.configError, summary: "after the damage")
        #expect(await rig.center.storeFailure() == nil)
        let store = EventStore(path: database)
        let contents = try store.contents(limit: 10, now: rig.wall.now)
        #expect(contents.events.map(\.kind) == [.turnEnded, .configError])
        #expect(contents.deliveries.map(\.state) == [.pending, .pending])
    }

    @Test(arguments: [false, true])
    func `a file that is taken away while it is used is begun anew with what was in it`(
        isReplaced: Bool
    ) async throws {
        let runner = ScriptedRunner()
        runner.answer("a", .retryLater)
        let rig = try CenterRig(folder: folder, runner: runner)
        let database = folder.path + "/state/hostsd.db"
        try await rig.running {
            await endTurn(rig)
            await rig.untilLogged("hook.ended")
            for suffix in ["", "-wal", "-shm"] { unlink(database + suffix) }
            if isReplaced { _ = try folder.write("state/hostsd.db", "", mode: 0o600) }
            await rig.center.post(.configError, summary: "after it was taken away")
            #expect(await rig.center.storeFailure() == nil)
        }
        #expect(rig.messages(.history, .error).first?.contains("taken away or replaced") == true)
        let contents = try EventStore(path: database).contents(limit: 10, now: rig.wall.now)
        #expect(contents.events.map(\.kind) == [.turnEnded, .configError])
        #expect(contents.deliveries.map(\.state).contains(.pending))
    }
}
