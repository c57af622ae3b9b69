import HostsAPI
import HostsTestSupport
import Testing

/// The real daemon against real servers that fail.
@Suite(.serialized, .timeLimit(.minutes(5))) struct LinkTests {
    private func server(_ name: String) async throws -> LocalSSHD {
        var options = LocalSSHD.Options()
        options.name = name
        return try await LocalSSHD(options)
    }

    @Test func `three hosts are online, each with one login and one channel`() async throws {
        let servers = [try await server("a"), try await server("b"), try await server("c")]
        let daemon = try await PrivateDaemon(servers: servers)
        for name in ["a", "b", "c"] { try await daemon.until(name, "online") }
        #expect(try await daemon.hosts().map(\.condition) == ["online", "online", "online"])
        for name in ["a", "b", "c"] { #expect(try await daemon.hostsctl("probe", name).status == 0) }
        for server in servers {
            try await server.log.until("Accepted publickey")
            #expect(server.log.count(of: "Accepted publickey") == 1)
            try await server.log.until("Starting session:")
            #expect(server.log.count(of: "Starting session:") == 1)
        }
        await daemon.terminate()
    }

    @Test func `a killed connection comes back by the schedule, with one more login`() async throws {
        let server = try await server("a")
        let daemon = try await PrivateDaemon(servers: [server], settings: PrivateDaemon.quick)
        let online = try await daemon.until("a", "online")
        server.killConnections()
        let lost = try await daemon.until("a", "reconnecting", after: online)
        let shown = try await daemon.host("a")
        try await daemon.until("a", "online", after: lost)
        // By the time that it was asked for, the host may have been back.
        #expect(shown.stale || shown.condition == "online")
        try await server.log.until("Accepted publickey", count: 2)
        #expect(server.log.count(of: "Accepted publickey") == 2)
        await daemon.terminate()
    }

    @Test func `cancel ends the attempts to reach a host that is gone, and resume begins again`() async throws
    {
        let server = try await server("a")
        let daemon = try await PrivateDaemon(servers: [server], settings: PrivateDaemon.quick)
        let online = try await daemon.until("a", "online")
        let early = try await daemon.hostsctl("cancel", "a")
        #expect(early.status == 1)
        #expect(early.errorOutput.contains("there is nothing to cancel: a is"))
        server.stop()
        let lost = try await daemon.until("a", "reconnecting", after: online)
        #expect(try await daemon.hostsctl("cancel", "a").status == 0)
        let dormant = try await daemon.until("a", "dormant", after: lost)
        let shown = try await daemon.host("a")
        #expect(shown.condition == "dormant")
        #expect(shown.code == "link.cancelled")
        #expect(shown.reason?.hasPrefix("its attempts were cancelled; the last error: ") == true)
        #expect(shown.help == "dial it now with: hostsctl resume a")
        try await server.restart()
        #expect(try await daemon.hostsctl("cancel", "a").status == 1)
        #expect(try await daemon.hostsctl("resume", "a").status == 0)
        try await daemon.until("a", "online", after: dormant)
        await daemon.terminate()
    }

    @Test func `a frozen server is noticed, and heals without a new login`() async throws {
        let server = try await server("a")
        let daemon = try await PrivateDaemon(servers: [server], settings: PrivateDaemon.quick)
        let online = try await daemon.until("a", "online")
        server.suspend()
        let late = try await daemon.until("a", "checking", after: online)
        server.resume()
        try await daemon.until("a", "online", after: late)
        try await server.log.until("Accepted publickey")
        #expect(server.log.count(of: "Accepted publickey") == 1)
        // Another look may be late; the host does not stay so.
        while try await daemon.host("a").stale {}
        await daemon.terminate()
    }

    @Test func `a server that stays frozen costs the link at the deadline of the look`() async throws {
        let server = try await server("a")
        let daemon = try await PrivateDaemon(
            servers: [server], settings: "[probe]\ninterval_seconds = 1\ntimeout_seconds = 5\n")
        let online = try await daemon.until("a", "online")
        server.suspend()
        let lost = try await daemon.until("a", "reconnecting", after: online)
        #expect(try await daemon.host("a").code == "timeout.probe")
        server.resume()
        try await daemon.until("a", "online", after: lost)
        try await server.log.until("Accepted publickey", count: 2)
        #expect(server.log.count(of: "Accepted publickey") == 2)
        await daemon.terminate()
    }

    @Test func `a server that is stopped and started again is found by itself`() async throws {
        let server = try await server("a")
        // The default schedule ends after half a minute, which a busy machine may need to start the server.
        let daemon = try await PrivateDaemon(
            servers: [server], settings: PrivateDaemon.quick + "[reconnect]\nmax_attempts = 100\n")
        let online = try await daemon.until("a", "online")
        server.stop()
        let refused = try await daemon.log.until("refuses connections", after: online)
        try await server.restart()
        try await daemon.until("a", "online", after: refused)
        await daemon.terminate()
    }

    @Test func `a server that ends idle channels costs no login, and hostsctl says so`() async throws {
        var options = LocalSSHD.Options()
        options.name = "a"
        options.configuration = ["ChannelTimeout session:*=1"]
        let server = try await LocalSSHD(options)
        // So that no look of its own falls into the moment in which the server ends the channel.
        let daemon = try await PrivateDaemon(
            servers: [server], settings: "[probe]\ninterval_seconds = 3600\n")
        try await daemon.until("a", "online")
        try await server.log.until("Close session:")
        #expect(try await daemon.hostsctl("probe", "a").status == 0)
        try await server.log.until("Starting session:", count: 2)
        #expect(try await daemon.host("a").linkDetail?.contains("exec") == true)
        #expect(server.log.count(of: "Accepted publickey") == 1)
        await daemon.terminate()
    }

    @Test func `both ways of probing work, and exec is one channel for each look`() async throws {
        let server = try await server("a")
        let daemon = try await PrivateDaemon(
            servers: [server], settings: "[probe]\ninterval_seconds = 1\nmode = \"exec\"\n")
        try await daemon.until("a", "online")
        for _ in 0..<3 { #expect(try await daemon.hostsctl("probe", "a").status == 0) }
        try await server.log.until("Starting session:", count: 4)
        try await server.log.until("Accepted publickey")
        #expect(server.log.count(of: "Accepted publickey") == 1)
        #expect(try await daemon.host("a").linkDetail?.contains("exec") == true)
        await daemon.terminate()
    }
}
