import HostsHub
import HostsModel
import HostsPolicy
import HostsTestSupport
import Testing

/// A fleet that wakes, and the races of seed 001 and 002 around it.
@Suite(.timeLimit(.minutes(5))) struct WakeTests {
    private let world = World()
    private static let names = (0..<50).map { "host\($0)" }

    @Test func `the last round does not take a look for its own that began before it`() async throws {
        let world = world
        let host = try HostID.named("a")
        try await world.run(records: ["a"]) { hub in
            var record = world.record("a")
            record.backgroundKeepAlive = true
            await hub.setRecords([record])
            try await world.events.waitFor { $0.isCondition(.online, of: host) }
            await world.settle()
            let before = world.fleet.looks(at: host)
            let (gate, open) = AsyncStream<Void>.makeStream()
            world.fleet.set(looks: .answerAfter { for await _ in gate {} }, for: host)
            async let running: Void = hub.probe(host)
            while world.fleet.looks(at: host) == before { await Task.yield() }
            world.fleet.set(looks: .answer, for: host)
            async let round = hub.lastRound(until: world.clock.now.advanced(by: .seconds(60)))
            await world.settle()
            open.finish()
            #expect(await round == [host])
            #expect(world.fleet.looks(at: host) == before + 2)
            try await running
        }
    }

    @Test func `fifty hosts wait for a network, spend nothing before it, and are back within 3 s of it`()
        async throws
    {
        let world = world
        let hosts = try HostID.allNamed(Self.names)
        try await world.run(records: Self.names) { hub in
            for host in hosts { try await world.events.waitFor { $0.isCondition(.online, of: host) } }
            await hub.setPhase(.background)
            for host in hosts { #expect(await hub.snapshot(of: host)?.condition == .asleep) }
            // Every second connection does not live through it, and there is no network to begin with.
            for (index, host) in hosts.enumerated() where index.isMultiple(of: 2) { world.fleet.cut(host) }
            for host in hosts {
                world.fleet.set(looks: .fail(.timedOut(.probe, after: .seconds(2))), for: host)
                world.fleet.set(.fails(.unreachable(address: "a", detail: "no network")), for: host)
            }
            world.clock.advance(by: .seconds(3600))
            await hub.networkChanged(hasRoute: false)
            let dialled = hosts.map { world.fleet.dials(of: $0) }
            await hub.setPhase(.active)
            // 15 s pass, in which nothing is tried.
            for _ in 0..<15 {
                await world.settle()
                world.clock.advance(by: .seconds(1))
            }
            for (host, before) in zip(hosts, dialled) { #expect(world.fleet.dials(of: host) == before) }
            // 15 s more; the links of before are found dead, and each host waits for a route.
            for _ in 0..<15 {
                await world.settle()
                world.clock.advance(by: .seconds(1))
            }
            await world.settle()
            for host in hosts {
                #expect(await hub.snapshot(of: host)?.lastError == .noRoute)
            }
            for (host, before) in zip(hosts, dialled) {
                // The one attempt that is made after 20 s in any case, and does not count.
                #expect(world.fleet.dials(of: host) - before <= 1)
            }
            for host in hosts {
                world.fleet.set(looks: .answer, for: host)
                world.fleet.set(.succeeds, for: host)
            }
            await hub.networkChanged(hasRoute: true)
            for _ in 0..<30 {
                await world.settle()
                world.clock.advance(by: .milliseconds(100))
            }
            await world.settle()
            for host in hosts { #expect(await hub.snapshot(of: host)?.condition == .online) }
        }
    }

    @Test func `hosts whose agents may wait for the person come back first`() async throws {
        let world = World { NeedingInterpreter(host: $0) }
        let hosts = try HostID.allNamed(["a", "b", "c", "d"])
        world.fleet.set(body: [1], for: hosts[3])
        try await world.run(records: ["a", "b", "c", "d"]) { hub in
            for host in hosts { try await world.events.waitFor { $0.isCondition(.online, of: host) } }
            await hub.setPhase(.background)
            let before = world.events.count
            await hub.setPhase(.active)
            for _ in 0..<10 {
                await world.settle()
                world.clock.advance(by: .milliseconds(20))
            }
            await world.settle()
            let back = world.events.all.dropFirst(before).compactMap { event -> HostID? in
                guard case .observed(let observation, _) = event else { return nil }
                return observation.host
            }
            #expect(back.first == hosts[3])
            #expect(Set(back) == Set(hosts))
        }
    }

    /// Begin A, suspend, begin B, finish A (rejected), finish B (accepted); at every interleaving of the two tasks.
    @Test(arguments: 0..<200)
    func `a dial that a sleep overtakes leaves no link, and the wake makes one`(round: Int) async throws {
        let world = world
        let a = try HostID.named("a")
        try await world.run(records: ["a"]) { hub in
            for _ in 0..<(round % 20) { await Task.yield() }
            await hub.setPhase(.background)
            for _ in 0..<(round / 20) { await Task.yield() }
            await hub.setPhase(.active)
            try await world.events.waitMovingTime(world.clock, from: 0) {
                $0.isCondition(.online, of: a)
            }
            await world.settle()
            #expect(world.fleet.openLinks(of: a) == 1)
        }
    }

    /// The same with the destination changed, the key changed, the host disabled, the daemon stopping meanwhile.
    @Test(arguments: 0..<200)
    func `whatever changes during a sleep, the old link is used no more`(round: Int) async throws {
        let world = world
        let a = try HostID.named("a")
        try await world.run(records: ["a"]) { hub in
            try await world.events.waitFor { $0.isCondition(.online, of: a) }
            let before = await hub.snapshot(of: a)?.generation ?? 0
            let start = world.events.count
            await hub.setPhase(.background)
            for _ in 0..<(round / 5 % 8) { await Task.yield() }
            switch round % 5 {
            case 0: await hub.setRecords([world.record("a", destination: "elsewhere")])
            case 1:
                world.fleet.set(
                    .fails(.hostKeyChanged(host: "a", expected: "x", got: "y", file: "f")), for: a)
                world.fleet.cut(a)
            case 2: await hub.setRecords([world.record("a", isEnabled: false)])
            case 3: await hub.setRecords([])
            default: return  // the daemon stops
            }
            for _ in 0..<(round / 40) { await Task.yield() }
            await hub.setPhase(.active)
            await world.settle()
            let after = await hub.snapshot(of: a)
            switch round % 5 {
            case 0:
                try await world.events.waitMovingTime(world.clock, from: start) {
                    $0.isCondition(.online, of: a)
                }
                #expect(await hub.snapshot(of: a)?.generation ?? 0 > before)
                #expect(world.fleet.dials(of: a) == 2)
            case 1:
                guard case .needsYou(.hostKeyChanged) = after?.condition else {
                    Issue.record("\(String(describing: after?.condition))")
                    return
                }
            case 2: #expect(after?.condition == .disabled && world.fleet.openLinks == 0)
            default: #expect(after == nil && world.fleet.openLinks == 0)
            }
        }
    }

    @Test(arguments: 0..<200)
    func `sleep, wake, a lost link and a new network in any order end well`(round: Int) async throws {
        let world = world
        var generator = SeededGenerator(seed: UInt64(round))
        let hosts = try HostID.allNamed(["a", "b", "c"])
        try await world.run(records: ["a", "b", "c"]) { hub in
            for _ in 0..<20 {
                switch Int.random(in: 0..<6, using: &generator) {
                case 0: await hub.setPhase(.background)
                case 1: await hub.setPhase(.active)
                case 2: await hub.setPhase(.inactive)
                case 3: world.fleet.cut(hosts[Int.random(in: 0..<3, using: &generator)])
                case 4: await hub.networkChanged(hasRoute: Bool.random(using: &generator))
                default: world.clock.advance(by: .seconds(Int.random(in: 0..<30, using: &generator)))
                }
                for _ in 0..<Int.random(in: 0..<6, using: &generator) { await Task.yield() }
            }
            await hub.networkChanged(hasRoute: true)
            await hub.setPhase(.active)
            await world.settle()
            for host in hosts {
                while await hub.snapshot(of: host)?.condition != .online {
                    await world.settle()
                    world.clock.advanceToNextDeadline()
                }
                #expect(world.fleet.openLinks(of: host) == 1)
            }
        }
    }

    @Test func `a window of the person's sees each phase, and goes away by itself`() async throws {
        let world = world
        try await world.run(records: ["a"]) { hub in
            var seen: [HubLifecycle] = []
            for await change in await hub.lifecycle() {
                seen.append(change)
                switch seen.count {
                case 1: await hub.setPhase(.background)
                case 2: await hub.networkChanged(hasRoute: false)
                case 3: await hub.setPhase(.inactive)
                default: break
                }
                if seen.count == 4 { break }
            }
            #expect(seen.map(\.phase) == [.active, .background, .background, .inactive])
            #expect(seen.map(\.hasRoute) == [true, true, false, false])
        }
    }
}

/// Reads a body with a byte as an agent that needs the person.
private struct NeedingInterpreter: ProbeInterpreter {
    let host: HostID

    func nextRequest() -> ProbeRequest { ProbeRequest(function: "look") }

    func explain(_ session: SessionID) -> SessionExplanation? { nil }

    func interpret(_ reply: ProbeReply, at time: WallTime) throws(LinkError) -> ProbeStep {
        let place = Place(label: "tty1", tty: "/dev/tty1")
        let session = AgentSession(
            id: SessionID(host: host, bootID: "boot", place: place, pid: 1, startTime: "1"), host: host,
            agent: AgentName(rawValue: "claude"), place: place, pid: 1,
            state: reply.body.isEmpty ? .idle : .needsYou(.permission), since: time, lastSeen: time)
        return .observation(HostObservation(host: host, bootID: "boot", time: time, sessions: [session]))
    }
}
