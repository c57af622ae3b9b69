import HostsHub
import HostsModel
import HostsPolicy
import HostsTestSupport
import Testing

/// Days of sleeps, drops, lost networks and edited records of 50 hosts in virtual time, against a model of the agents.
///
/// The model is simple: on each host one agent works or rests, and goes over to the other only after it was seen as what
/// it is. So each end of a turn must be found exactly once, whatever became of the links in between.
@Suite struct FleetSleepTests {
    @Test(arguments: UInt64(1)...4)
    func `no end of a turn is lost or invented, and nothing is dialled that must not be`(seed: UInt64)
        async throws
    {
        let day = try SleepyDay(seed: seed)
        try await day.world.run(records: day.names) { hub in
            for _ in 0..<500 { try await day.step(hub) }
            try await day.settle(hub)
        }
        #expect(day.seenEnds == day.meantEnds)
        #expect(day.meantEnds > 100, "too little has happened for this to say anything")
        #expect(day.world.fleet.violations.isEmpty)
    }
}

/// One seeded run.
private final class SleepyDay {
    let world = World { AgentInterpreter(host: $0) }
    let names = (0..<50).map { "host\($0)" }
    private let hosts: [HostID]
    private var generator: SeededGenerator
    private var isAsleep = false
    private var hasNetwork = true
    private var disabled: Set<HostID> = []
    private var optedIn: Set<HostID> = []
    private var destinations: [HostID: Int] = [:]
    private var windows: [WindowToken] = []
    /// What each agent does, and what it was last seen doing.
    private var isBusy: [HostID: Bool] = [:]
    private var seen: [HostID: Bool] = [:]
    private var trackers: [HostID: AttentionTracker<String>] = [:]
    private var read = 0
    private(set) var meantEnds = 0
    private(set) var seenEnds = 0

    init(seed: UInt64) throws {
        generator = SeededGenerator(seed: seed)
        hosts = try HostID.allNamed(names)
        for host in hosts { show(host, isBusy: false) }
    }

    private func show(_ host: HostID, isBusy new: Bool) {
        isBusy[host] = new
        world.fleet.set(body: [new ? 1 : 0], for: host)
    }

    /// Takes what the hub has told since the last time.
    private func readEvents() {
        for event in world.events.all.dropFirst(read) {
            read += 1
            guard case .observed(let observation, _) = event else { continue }
            let isBusy = observation.sessions.first?.state == .busy
            seen[observation.host] = isBusy
            let edges = trackers[observation.host, default: AttentionTracker()].update([
                "agent": AttentionObservation(isBusy ? .busy : .idle)
            ])
            seenEnds += edges.count { if case .turnEnded = $0.change { true } else { false } }
        }
    }

    private func pick() -> HostID { hosts.randomElement(using: &generator) ?? hosts[0] }

    func step(_ hub: ConnectionHub) async throws {
        readEvents()
        for _ in 0..<10 { takeTurn() }
        switch Int.random(in: 0..<16, using: &generator) {
        case 0, 1: await goToSleep(hub)
        case 2, 3, 4: await wakeUp(hub)
        case 5: world.fleet.cut(pick())
        case 6: world.fleet.set(looks: .hang, for: pick())
        case 7, 8: for host in hosts { world.fleet.set(looks: .answer, for: host) }
        case 9: await setNetwork(Bool.random(using: &generator), hub)
        case 10: await edit(hub)
        case 11: await openOrClose(hub)
        case 12:
            guard !isAsleep else { break }
            await hub.setPhase(Bool.random(using: &generator) ? .active : .inactive)
        default: break
        }
        for _ in 0..<200 { await Task.yield() }
        let isLong = isAsleep && Bool.random(using: &generator)
        let pause =
            isLong ? Duration.seconds(8 * 3600) : .milliseconds(Int.random(in: 1..<20_000, using: &generator))
        world.clock.advance(by: pause)
        for _ in 0..<200 { await Task.yield() }
    }

    /// An agent that was seen as what it is may go over to the other.
    private func takeTurn() {
        let host = pick()
        guard let isBusy = isBusy[host], seen[host] == isBusy else { return }
        if isBusy { meantEnds += 1 }
        show(host, isBusy: !isBusy)
    }

    private func goToSleep(_ hub: ConnectionHub) async {
        guard !isAsleep else { return }
        isAsleep = true
        await hub.setPhase(.background)
        await forbid(hub)
        // Some connections do not live through it.
        for host in hosts where Bool.random(using: &generator) { world.fleet.cut(host) }
    }

    private func wakeUp(_ hub: ConnectionHub) async {
        guard isAsleep else { return }
        isAsleep = false
        await allow(hub)
        await setNetwork(Bool.random(using: &generator), hub)
        await hub.setPhase(Bool.random(using: &generator) ? .active : .inactive)
        await forbid(hub)
    }

    private func setNetwork(_ isThere: Bool, _ hub: ConnectionHub) async {
        hasNetwork = isThere
        for host in hosts {
            world.fleet.set(
                isThere ? .succeeds : .fails(.unreachable(address: host.rawValue, detail: "no network")),
                for: host)
        }
        await hub.networkChanged(hasRoute: isThere)
    }

    private func edit(_ hub: ConnectionHub) async {
        let host = pick()
        switch Int.random(in: 0..<4, using: &generator) {
        case 0: if disabled.remove(host) == nil { disabled.insert(host) }
        case 1: if optedIn.remove(host) == nil { optedIn.insert(host) }
        default: destinations[host, default: 0] += 1
        }
        await allow(hub)
        await hub.setRecords(records)
        await forbid(hub)
    }

    private var records: [HostRecord] {
        hosts.map { host in
            HostRecord(
                id: host, destination: "d\(destinations[host] ?? 0)", isEnabled: !disabled.contains(host),
                backgroundKeepAlive: optedIn.contains(host))
        }
    }

    private func openOrClose(_ hub: ConnectionHub) async {
        await allow(hub)
        if windows.isEmpty {
            do throws(HubRefusal) {
                windows.append(try await hub.openWindow(pick()))
            } catch {
                #expect(error == .disabled)
            }
        } else {
            for window in windows { await hub.closeWindow(window) }
            windows = []
        }
        await forbid(hub)
    }

    private func allow(_ hub: ConnectionHub) async {
        for host in hosts { world.fleet.set(mayBeDialled: true, host) }
    }

    /// From here on no host may be dialled that is disabled without a window, and none while the machine sleeps.
    private func forbid(_ hub: ConnectionHub) async {
        for host in hosts {
            let isWanted = !disabled.contains(host) || !windows.isEmpty
            let generation = await hub.snapshot(of: host)?.generation ?? 0
            world.fleet.set(mayBeDialled: isWanted && !isAsleep, host, after: generation)
        }
    }

    /// Brings everything up and lets every agent be seen as what it is.
    func settle(_ hub: ConnectionHub) async throws {
        await wakeUp(hub)
        disabled = []
        await allow(hub)
        await hub.setRecords(records)
        for host in hosts { world.fleet.set(looks: .answer, for: host) }
        await setNetwork(true, hub)
        for _ in 0..<400 {
            readEvents()
            if hosts.allSatisfy({ seen[$0] == isBusy[$0] }) { return }
            for _ in 0..<50 { await Task.yield() }
            world.clock.advanceToNextDeadline()
        }
        let missing = hosts.filter { seen[$0] != isBusy[$0] }
        for host in missing {
            Issue.record(
                "\(host) was never seen again: \(String(describing: await hub.snapshot(of: host)?.condition))"
            )
        }
    }
}

/// Reads a body of one byte as an agent that works (1) or rests (0).
private struct AgentInterpreter: ProbeInterpreter {
    let host: HostID

    func nextRequest() -> ProbeRequest { ProbeRequest(function: "look") }

    func explain(_ session: SessionID) -> SessionExplanation? { nil }

    func interpret(_ reply: ProbeReply, at time: WallTime) throws(LinkError) -> ProbeStep {
        guard let byte = reply.body.first else { throw .badReply(detail: "empty") }
        let place = Place(label: "tty1", tty: "/dev/tty1")
        let id = SessionID(host: host, bootID: "boot", place: place, pid: 1, startTime: "1")
        let session = AgentSession(
            id: id, host: host, agent: AgentName(rawValue: "claude"), place: place, pid: 1,
            state: byte == 1 ? .busy : .idle, since: time, lastSeen: time)
        return .observation(HostObservation(host: host, bootID: "boot", time: time, sessions: [session]))
    }
}
