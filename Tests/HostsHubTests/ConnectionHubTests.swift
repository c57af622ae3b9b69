import HostsHub
import HostsLog
import HostsModel
import HostsTestSupport
import Testing

@Suite struct ConnectionHubTests {
    private let world = World()

    @Test func `an enabled host comes online and is looked at on every tick`() async throws {
        try await world.run(records: ["a"]) { hub in
            let a = try HostID.named("a")
            try await world.events.waitFor { $0.isCondition(.online, of: a) }
            for _ in 0..<3 { try await world.nextObservation(of: a) }
            #expect(world.fleet.dials(of: a) == 1)
            #expect(world.fleet.looks(at: a) == 4)
            #expect(await hub.snapshot(of: a)?.condition == .online)
        }
    }

    @Test func `a cut link is dialled again by the schedule, and its gap is told`() async throws {
        try await world.run(records: ["a"]) { hub in
            let a = try HostID.named("a")
            try await world.events.waitFor { $0.isCondition(.online, of: a) }
            world.fleet.cut(a)
            try await world.events.waitFor { $0.isReconnecting(a) }
            #expect(await hub.snapshot(of: a)?.isStale == true)
            let pause = try #require(world.clock.nextDeadline) - world.clock.now
            #expect(pause > .zero && pause <= .seconds(2.4))
            try await world.events.waitMovingTime(world.clock) { $0.isCondition(.online, of: a) }
            #expect(world.fleet.dials(of: a) == 2)
        }
    }

    @Test func `disabling closes the link at once, keeps the snapshot, and no action revives it`()
        async throws
    {
        try await world.run(records: ["a", "b"]) { hub in
            let (a, b) = (try HostID.named("a"), try HostID.named("b"))
            try await world.events.waitFor { $0.isCondition(.online, of: b) }
            world.fleet.set(mayBeDialled: false, b)
            await hub.setRecords([world.record("a"), world.record("b", isEnabled: false)])
            #expect(world.fleet.openLinks(of: b) == 0)
            let shown = await hub.snapshot(of: b)
            #expect(shown?.condition == .disabled)
            #expect(shown?.observation != nil)
            await #expect(throws: HubRefusal.disabled) { try await hub.probe(b) }
            await #expect(throws: HubRefusal.disabled) { try await hub.resume(b) }
            for _ in 0..<12 { try await world.nextObservation(of: a) }
            #expect(world.fleet.dials(of: b) == 1)
            world.fleet.set(mayBeDialled: true, b)
            await hub.setRecords([world.record("a"), world.record("b")])
            try await world.events.waitFor { $0.isCondition(.online, of: b) }
        }
    }

    @Test func `a removed host is forgotten, its link closed`() async throws {
        try await world.run(records: ["a"]) { hub in
            let a = try HostID.named("a")
            try await world.events.waitFor { $0.isCondition(.online, of: a) }
            await hub.setRecords([])
            #expect(world.fleet.openLinks == 0)
            #expect(await hub.snapshots().isEmpty)
            try await world.events.waitFor { if case .removed(a, _) = $0 { true } else { false } }
            await #expect(throws: HubRefusal.noSuchHost) { try await hub.probe(a) }
        }
    }

    @Test func `cancelling ends the dial under way, whoever waits for it, and every later one`() async throws
    {
        let a = try HostID.named("a")
        world.fleet.set(.hangs, for: a)
        try await world.run(records: ["a", "b"]) { hub in
            let b = try HostID.named("b")
            while world.fleet.dials(of: a) == 0 { await Task.yield() }
            // Who asks behind a cancel dials, and is let go by the next one.
            let isLetGo = Locked(false)
            let asking = Task {
                try await hub.probe(a)
                isLetGo.withLock { $0 = true }
            }
            while !isLetGo.withLock({ $0 }) {
                do { try await hub.cancelRetries(of: a) } catch HubRefusal.nothingToCancel {}
                await Task.yield()
            }
            try await asking.value
            let dials = world.fleet.dials(of: a)
            #expect(await hub.snapshot(of: a)?.condition == .dormant(.cancelled))
            await #expect(throws: HubRefusal.nothingToCancel) { try await hub.cancelRetries(of: a) }
            world.fleet.set(.succeeds, for: a)
            for _ in 0..<12 { try await world.nextObservation(of: b) }
            #expect(world.fleet.dials(of: a) == dials)
            await hub.redial(a)
            try await world.events.waitFor { $0.isCondition(.online, of: a) }
        }
    }

    @Test func `a host that is online, disabled, broken or unknown has nothing to cancel`() async throws {
        let (a, bad) = (try HostID.named("a"), try HostID.named("bad"))
        try await world.run(records: ["a"]) { hub in
            try await world.events.waitFor { $0.isCondition(.online, of: a) }
            await #expect(throws: HubRefusal.nothingToCancel) { try await hub.cancelRetries(of: a) }
            #expect(await hub.snapshot(of: a)?.condition == .online)
            let place = SourceLocation(file: "bad.toml", line: 3, column: 1)
            await hub.setRecords([world.record("a", isEnabled: false)], bad: [bad: (place, "no")])
            await #expect(throws: HubRefusal.disabled) { try await hub.cancelRetries(of: a) }
            await #expect(throws: HubRefusal.badRecord) { try await hub.cancelRetries(of: bad) }
            let gone = try HostID.named("gone")
            await #expect(throws: HubRefusal.noSuchHost) { try await hub.cancelRetries(of: gone) }
            // Nothing dials a disabled host.
            world.fleet.set(mayBeDialled: false, a)
            await hub.redial(a)
            await hub.redial(gone)
            #expect(await hub.snapshot(of: a)?.condition == .disabled)
        }
    }

    @Test(arguments: 0..<100)
    func `however cancel, dial and resume interleave, one link is left at most`(round: Int) async throws {
        let a = try HostID.named("a")
        try await world.run(records: ["a"]) { hub in
            for _ in 0..<(round % 10) { await Task.yield() }
            do throws(HubRefusal) {
                try await hub.cancelRetries(of: a)
            } catch {
                // It was online already.
                #expect(error == .nothingToCancel)
                return
            }
            for _ in 0..<(round / 10) { await Task.yield() }
            await hub.redial(a)
            try await world.events.waitFor { $0.isCondition(.online, of: a) }
            #expect(world.fleet.openLinks(of: a) == 1)
        }
    }

    @Test(arguments: 0..<50)
    func `a host that is removed and comes back takes nothing of its earlier life`(round: Int) async throws {
        let a = try HostID.named("a")
        world.fleet.set(.hangs, for: a)
        try await world.run(records: ["a"]) { hub in
            while world.fleet.dials(of: a) == 0 { await Task.yield() }
            // The end of the first dial is told after the second has begun, with the same number.
            await hub.setRecords([])
            world.fleet.set(.succeeds, for: a)
            await hub.setRecords([world.record("a")])
            try await world.events.waitFor { $0.isCondition(.online, of: a) }
            for _ in 0..<20 { await Task.yield() }
            #expect(await hub.snapshot(of: a)?.condition == .online)
        }
    }

    @Test func `one dead host delays no other`() async throws {
        try HostID.allNamed(["dead"]).forEach { world.fleet.set(.hangs, for: $0) }
        try await world.run(records: ["a", "dead"]) { _ in
            let a = try HostID.named("a")
            try await world.events.waitFor { $0.isCondition(.online, of: a) }
            for _ in 0..<5 { try await world.nextObservation(of: a) }
        }
    }

    @Test func `a probe that the person asks for returns when the look has ended`() async throws {
        try await world.run(records: ["a"]) { hub in
            let a = try HostID.named("a")
            try await world.events.waitFor { $0.isCondition(.online, of: a) }
            let before = world.fleet.looks(at: a)
            try await hub.probe(a)
            #expect(world.fleet.looks(at: a) == before + 1)
        }
    }

    @Test func `a host without a usable record is shown with the place of its fault`() async throws {
        let bad = try HostID.named("bad")
        try await world.run(records: ["a"]) { hub in
            let place = SourceLocation(file: "bad.toml", line: 3, column: 1)
            await hub.setRecords([world.record("a")], bad: [bad: (place, "no")])
            #expect(await hub.snapshot(of: bad)?.condition == .badRecord(place, message: "no"))
            #expect(await hub.snapshots().map(\.record.id.rawValue) == ["a", "bad"])
            await #expect(throws: HubRefusal.badRecord) { try await hub.probe(bad) }
        }
    }

    @Test(arguments: 0..<200)
    func `however stop and dial interleave, no link is left`(round: Int) async throws {
        try await world.run(records: ["a", "b", "c"]) { hub in
            let a = try HostID.named("a")
            switch round % 4 {
            case 0: break
            case 1: try await world.events.waitFor { $0.isCondition(.online, of: a) }
            case 2: world.fleet.cut(a)
            default:
                await hub.setRecords([
                    world.record("a", destination: "x"), world.record("b", isEnabled: false),
                ])
            }
        }
        #expect(world.fleet.openLinks == 0)
    }
}

/// A day in the life of 50 hosts, in virtual time, with everything that can happen to them.
@Suite struct FleetDayTests {
    @Test(arguments: [1, 2, 3])
    func `no host has two links, none that is disabled is dialled, and all that can come back do`(
        seed: UInt64
    ) async throws {
        let world = World()
        var generator = SeededGenerator(seed: seed)
        let names = (0..<50).map { "host\($0)" }
        var disabled: Set<String> = []
        try await world.run(records: names) { hub in
            for _ in 0..<600 {
                let name = names.randomElement(using: &generator) ?? "host0"
                let host = try HostID.named(name)
                switch Int.random(in: 0..<8, using: &generator) {
                case 0: world.fleet.cut(host)
                case 1: world.fleet.set(.fails(.connectionRefused(address: name)), for: host)
                case 2, 3: world.fleet.set(.succeeds, for: host)
                case 4: world.fleet.set(looks: .hang, for: host)
                case 5: world.fleet.set(looks: .answer, for: host)
                case 6:
                    if disabled.remove(name) == nil { disabled.insert(name) }
                    world.fleet.set(mayBeDialled: true, host)
                    await hub.setRecords(names.map { world.record($0, isEnabled: !disabled.contains($0)) })
                    let generation = await hub.snapshot(of: host)?.generation ?? 0
                    world.fleet.set(mayBeDialled: !disabled.contains(name), host, after: generation)
                default: _ = await hub.snapshots()
                }
                await world.clock.untilSleeping()
                world.clock.advance(by: .milliseconds(Int.random(in: 1..<150_000, using: &generator)))
            }
            for name in names {
                let host = try HostID.named(name)
                world.fleet.set(.succeeds, for: host)
                world.fleet.set(looks: .answer, for: host)
                world.fleet.cut(host)
            }
            for name in names where !disabled.contains(name) {
                let host = try HostID.named(name)
                while await hub.snapshot(of: host)?.condition != .online {
                    try await hub.resume(host)
                }
            }
            for name in disabled {
                #expect(world.fleet.openLinks(of: try HostID.named(name)) == 0)
            }
        }
        #expect(world.fleet.violations.isEmpty)
        #expect(world.fleet.openLinks == 0)
    }
}
