import HostsLog
import HostsModel
import HostsPolicy
import HostsTestSupport
import Testing

@testable import HostsAttention

/// What a planned restart hands over, and what no other end of a run does (seed 002).
@Suite(.timeLimit(.minutes(5))) struct HandoverTests {
    let folder: TemporaryFolder
    let clock = ManualClock()

    init() throws {
        folder = try TemporaryFolder()
    }

    private func rig() throws -> CenterRig { try CenterRig(folder: folder, clock: clock) }

    /// A run that ends on purpose with these sessions as they were last seen.
    private func firstRun(_ states: AgentState..., isPlanned: Bool = true, boot: String = "boot") async throws
    {
        let first = try rig()
        await first.center.takeOver(boot: "boot")
        for state in states { await first.look(first.session(state)) }
        clock.advance(by: .seconds(3))
        if isPlanned { await first.center.handOver(boot: boot) }
    }

    private func secondRun(after pause: Duration, boot: String = "boot") async throws -> CenterRig {
        clock.advance(by: pause)
        let second = try rig()
        await second.center.takeOver(boot: boot)
        return second
    }

    @Test func `a turn that ends between the runs is told once, as late, with the gap`() async throws {
        try await firstRun(.idle, .busy)
        let second = try await secondRun(after: .seconds(20))
        await second.look(second.session(.idle))
        await second.look(second.session(.idle))
        let ended = await second.events().filter { $0.kind == .turnEnded }
        #expect(ended.count == 1)
        #expect(ended.first?.gap == .seconds(23))
        // The next look is an ordinary one.
        await second.look(second.session(.busy))
        await second.look(second.session(.idle))
        let all = await second.events().filter { $0.kind == .turnEnded }
        #expect(all.map(\.gap) == [.seconds(23), nil])
        #expect(Set(all.map(\.turn)).count == 2)
    }

    @Test(arguments: [
        (Duration.seconds(120), "boot", true), (.seconds(121), "boot", false), (.seconds(1), "other", false),
        (.seconds(1), "", false),
    ])
    func `it serves for two minutes and in the same boot only`(
        _ pause: Duration, _ boot: String, _ serves: Bool
    ) async throws {
        try await firstRun(.busy)
        let second = try await secondRun(after: pause, boot: boot)
        await second.look(second.session(.idle))
        #expect(await second.events().count { $0.kind == .turnEnded } == (serves ? 1 : 0))
    }

    @Test func `after a crash the start is cold`() async throws {
        try await firstRun(.busy, isPlanned: false)
        let second = try await secondRun(after: .seconds(1))
        await second.look(second.session(.idle))
        #expect(await second.events().isEmpty)
    }

    @Test func `it serves once`() async throws {
        try await firstRun(.busy)
        _ = try await secondRun(after: .seconds(1))
        // That run is killed before it has looked at anything.
        let third = try await secondRun(after: .seconds(1))
        await third.look(third.session(.idle))
        #expect(await third.events().isEmpty)
    }

    @Test func `what was told before is not told again, and what stands is cleared once`() async throws {
        try await firstRun(.idle, .busy, .idle, .busy, .needsYou(.permission))
        let second = try await secondRun(after: .seconds(5))
        await second.look(second.session(.needsYou(.permission)))
        #expect(await second.events().map(\.kind) == [.turnEnded, .needsYou])
        await second.look(second.session(.busy))
        await second.look(second.session(.busy))
        #expect(await second.events().map(\.kind) == [.turnEnded, .needsYou, .needsCleared])
    }

    @Test func `an alert of an agent that is gone after the restart is over`() async throws {
        try await firstRun(.busy, .needsYou(.permission))
        let second = try await secondRun(after: .seconds(5))
        await second.look()
        await second.look()
        #expect(await second.events().map(\.kind) == [.needsYou, .needsCleared])
    }

    @Test func `after the handover nothing is told any more: the next run finds it`() async throws {
        let first = try rig()
        await first.look(first.session(.busy))
        await first.center.handOver(boot: "boot")
        await first.look(first.session(.idle))
        #expect(await first.events().isEmpty)
        let second = try await secondRun(after: .seconds(1))
        await second.look(second.session(.idle))
        #expect(await second.events().map(\.kind) == [.turnEnded])
    }

    @Test func `the turn clock goes on, and the time in between counts for nobody`() async throws {
        let first = try rig()
        await first.look(first.session(.busy))
        clock.advance(by: .seconds(10))
        await first.center.handOver(boot: "boot")
        let second = try await secondRun(after: .seconds(30))
        clock.advance(by: .seconds(2))
        await second.look(second.session(.idle))
        clock.advance(by: .seconds(4))
        let shown = await second.center.turnClocks()[SessionID(rawValue: "devbox/42")]
        #expect(shown?.totals.agentSeconds == 10)
        #expect(shown?.totals.outOfSyncSeconds == 32)
        #expect(shown?.totals.personSeconds == 4)
    }

    @Test(arguments: ["", "{}", "not JSON", "{\"version\":7}", String(repeating: "[", count: 10_000)])
    func `what cannot be read is a cold start and a line in the log`(_ text: String) async throws {
        let store = EventStore(path: folder.path + "/state/hostsd.db")
        try store.save(handover: text, now: WallTime(milliseconds: 0))
        store.close()
        let rig = try await secondRun(after: .zero)
        #expect(rig.log.records().contains { $0.event == "handover.unreadable" })
        await rig.look(rig.session(.idle))
        #expect(await rig.events().isEmpty)
    }

    @Test func `a database of the first edition is brought up`() async throws {
        let path = folder.path + "/state/hostsd.db"
        do {
            let store = EventStore(path: path)
            _ = try store.contents(limit: 1, now: WallTime(milliseconds: 0))
            store.close()
            let database = try SQLiteDatabase(path: path)
            try database.execute("DROP TABLE handover; PRAGMA user_version = 1")
        }
        try await firstRun(.busy)
        let second = try await secondRun(after: .seconds(1))
        await second.look(second.session(.idle))
        #expect(await second.events().map(\.kind) == [.turnEnded])
    }
}

/// A tracker that goes on from the baselines of another one is that one.
@Suite struct AttentionBaselineTests {
    @Test func `whatever comes, the copy answers as the original`() {
        let states: [AttentionState] = [
            .busy, .idle, .needsYou(reason: "permission"), .needsYou(reason: "question"), .exited, .stopped,
            .unknown,
        ]
        for _ in 0..<500 {
            var original = AttentionTracker<Int>()
            for _ in 0..<Int.random(in: 1...12) {
                _ = original.update(Self.look(states))
            }
            var copy = AttentionTracker(continuing: original.baselines ?? [:])
            #expect(copy == original)
            for _ in 0..<6 {
                let look = Self.look(states)
                #expect(Set(copy.update(look)) == Set(original.update(look)))
            }
        }
    }

    private static func look(_ states: [AttentionState]) -> [Int: AttentionObservation] {
        var result: [Int: AttentionObservation] = [:]
        for id in 0..<3 where Bool.random() {
            result[id] = AttentionObservation(
                states.randomElement() ?? .idle, hasBackgroundWork: Bool.random(),
                isEndCertain: Bool.random(), isInterrupted: Bool.random())
        }
        return result
    }

    @Test func `no value makes a tracker that cannot be`() {
        let wild = AttentionBaseline(state: .exited, turn: -5, isTurnOpen: true, absences: -1)
        #expect(wild == AttentionBaseline(state: nil, turn: 0, isTurnOpen: false, absences: 0))
        var tracker = AttentionTracker(continuing: [1: wild])
        #expect(tracker.update([1: AttentionObservation(.idle)]).isEmpty)
        #expect(AttentionTracker<Int>().baselines == nil)
    }
}
