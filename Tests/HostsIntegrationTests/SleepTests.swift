import HostsAPI
import HostsTestSupport
import Testing

/// Sleep and wake of the machine, as a stand-in for logind announces them, with the real hostsd and a real sshd.
@Suite(.serialized, .timeLimit(.minutes(5))) struct SleepTests {
    private struct Bed {
        let bus: PrivateBus
        let logind: PrivateLoginManager
        let host: ScriptedHost
        let agent: RunningAgent
        let daemon: PrivateDaemon

        func isHeld() async throws -> Bool { try await logind.inhibitors().contains("hostsd") }

        func end() async {
            await daemon.terminate()
            logind.stop()
        }
    }

    private func makeBed(isOptedIn: Bool) async throws -> Bed {
        let bus = try await PrivateBus()
        let logind = try await PrivateLoginManager(on: bus)
        let host = try await ScriptedHost(name: "a")
        let agent = try await host.start(ScriptedAgent(kind: .claude))
        let daemon = try await PrivateDaemon(
            servers: [host.server], settings: PrivateDaemon.quick,
            variables: ["DBUS_SYSTEM_BUS_ADDRESS": bus.address])
        try await daemon.until("a", "online")
        if isOptedIn { #expect(try await daemon.hostsctl("debug", "keepalive", "a").status == 0) }
        try await daemon.until("a", "online")
        try await agent.tell(.busy)
        try await daemon.untilAgent(is: "busy")
        return Bed(bus: bus, logind: logind, host: host, agent: agent, daemon: daemon)
    }

    @Test func `a turn that ends during a sleep is told once after the wake, as late`() async throws {
        let bed = try await makeBed(isOptedIn: false)
        let position = bed.daemon.log.position
        let logins = bed.host.server.log.count(of: "Accepted publickey")
        try await bed.logind.prepareForSleep(true)
        let asleep = try await bed.daemon.until("a", "asleep", after: position)
        try await bed.agent.tell(.idle)
        try await bed.logind.prepareForSleep(false)
        try await bed.daemon.until("a", "online", after: asleep)
        try await bed.daemon.log.until("finished its turn")
        #expect(try await bed.daemon.hostsctl("probe", "a").status == 0)
        let ended = try await bed.daemon.events("turn.ended")
        #expect(ended.map(\.late) == [true])
        #expect(ended.allSatisfy { $0.gapSeconds > 0 })
        // The link of before was verified and is the same, unless the sleep fell into a look.
        #expect(bed.host.server.log.count(of: "Accepted publickey") <= logins + 1)
        await bed.end()
    }

    @Test func `the same when the connection does not live through it`() async throws {
        let bed = try await makeBed(isOptedIn: false)
        let position = bed.daemon.log.position
        try await bed.logind.prepareForSleep(true)
        let asleep = try await bed.daemon.until("a", "asleep", after: position)
        try await bed.agent.tell(.idle)
        bed.host.server.killConnections()
        try await bed.logind.prepareForSleep(false)
        try await bed.daemon.until("a", "online", after: asleep)
        try await bed.daemon.log.until("finished its turn")
        #expect(try await bed.daemon.events("turn.ended").map(\.late) == [true])
        await bed.end()
    }

    @Test func `with the host opted in, what happens before the sleep is told before it`() async throws {
        let bed = try await makeBed(isOptedIn: true)
        while try await !bed.isHeld() {}
        try await bed.agent.tell(.permission)
        try await bed.logind.prepareForSleep(true)
        while try await bed.isHeld() {}
        #expect(try await bed.daemon.events("needs.you").map(\.late) == [false])
        try await bed.logind.prepareForSleep(false)
        while try await !bed.isHeld() {}
        await bed.end()
        #expect(bed.daemon.log.count(of: "a delay before sleep is held") == 2)
    }

    @Test func `a played sleep is the same sleep`() async throws {
        let bed = try await makeBed(isOptedIn: false)
        let sleep = try await bed.daemon.hostsctl("debug", "sleep", "--json")
        #expect(sleep.status == 0 && sleep.output.contains("\"phase\":\"background\""))
        #expect(try await bed.daemon.hostsctl("list").output.contains("asleep"))
        try await bed.agent.tell(.idle)
        #expect(try await bed.daemon.hostsctl("debug", "wake").status == 0)
        try await bed.daemon.log.until("finished its turn")
        #expect(try await bed.daemon.events("turn.ended").map(\.late) == [true])
        #expect(try await bed.isHeld() == false)
        await bed.end()
    }

    @Test func `a refresh says what it was for, and nothing is refreshed that nobody asked for`() async throws
    {
        let bed = try await makeBed(isOptedIn: false)
        let nothing = try await bed.daemon.hostsctl("refresh", "--json")
        #expect(nothing.status == 0 && nothing.output.contains("\"refreshed\":false"))
        #expect(try await bed.daemon.hostsctl("debug", "keepalive").status == 0)
        let something = try await bed.daemon.hostsctl("refresh", "--json")
        #expect(something.status == 0 && something.output.contains("\"refreshed\":true"))
        let other = try await bed.daemon.hostsctl("debug", "hibernate")
        #expect(other.status == 2)
        await bed.end()
    }
}
