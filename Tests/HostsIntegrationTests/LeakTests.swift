import FoundationEssentials
import HostsTestSupport
import Testing

@Suite(.serialized, .timeLimit(.minutes(10))) struct LeakTests {
    @Test func `200 connects and cuts leave the daemon's descriptors where they were`() async throws {
        let server = try await LocalSSHD()
        let daemon = try await PrivateDaemon(servers: [server])
        try await daemon.until("devbox", "online")
        let before = try descriptors(of: daemon.pid)
        for _ in 0..<200 {
            let position = daemon.log.position
            server.killConnections()
            let lost = try await daemon.until("devbox", "reconnecting", after: position)
            #expect(try await daemon.hostsctl("resume", "devbox").status == 0)
            try await daemon.until("devbox", "online", after: lost)
        }
        #expect(try descriptors(of: daemon.pid) == before)
        await daemon.terminate()
    }

    private func descriptors(of pid: Int32) throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/\(pid)/fd").count
    }
}
