import HostsModel
import HostsTestSupport
import Testing

@testable import HostsSSH

@Suite(.serialized) struct LinkFaultTests {
    private func record(port: UInt16, in folder: TemporaryFolder) throws -> (HostRecord, String) {
        let id = try #require(HostID(rawValue: "fault"))
        let key = try folder.write("key", "")
        let config = try folder.write(
            "ssh_config",
            """
            Host fault
                HostName 127.0.0.1
                Port \(port)
                IdentityFile \(key)
                IdentityAgent none
                UserKnownHostsFile /dev/null
                GlobalKnownHostsFile /dev/null

            """)
        return (HostRecord(id: id, destination: "fault"), config)
    }

    @Test func `an HTTP server is told from SSH by what it says`() async throws {
        let folder = try TemporaryFolder()
        let web = try ScriptedServer(
            greeting: "HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n", closesAfterwards: true)
        defer { web.stop() }
        let (record, config) = try record(port: web.port, in: folder)
        try await Tool.run("rm", [folder.path("key")])
        try await Tool.makeKey(folder.path("key"))
        let error = await LinkFixture.factory(config: config).failure(of: record)
        #expect(error == .notSSH(address: "127.0.0.1:\(web.port)", firstLine: "HTTP/1.1 400 Bad Request"))
    }

    @Test func `a server that refuses for a while is told from a broken one`() async throws {
        let folder = try TemporaryFolder()
        let busy = try ScriptedServer(greeting: "Not allowed at this time\r\n", closesAfterwards: true)
        defer { busy.stop() }
        let (record, config) = try record(port: busy.port, in: folder)
        try await Tool.run("rm", [folder.path("key")])
        try await Tool.makeKey(folder.path("key"))
        let error = await LinkFixture.factory(config: config).failure(of: record)
        #expect(error == .rateLimited(detail: "Not allowed at this time"))
    }

    @Test func `a server that accepts and stays silent ends at the handshake's deadline`() async throws {
        let folder = try TemporaryFolder()
        let silent = try ScriptedServer(greeting: "")
        defer { silent.stop() }
        let (record, config) = try record(port: silent.port, in: folder)
        try await Tool.run("rm", [folder.path("key")])
        try await Tool.makeKey(folder.path("key"))
        let factory = LinkFixture.factory(config: config) { $0.timeouts.handshake = .milliseconds(200) }
        #expect(await factory.failure(of: record) == .timedOut(.handshake, after: .milliseconds(200)))
        // It may still be on its way to the server's thread.
        await silent.untilConnected()
        #expect(silent.connectionCount == 1)
    }

    @Test(.timeLimit(.minutes(1)))
    func `a server that talks without end, but never says SSH, is let go at once`() async throws {
        let folder = try TemporaryFolder()
        let chatty = try ScriptedServer(greeting: String(repeating: "welcome, welcome\r\n", count: 2000))
        defer { chatty.stop() }
        let (record, config) = try record(port: chatty.port, in: folder)
        try await Tool.run("rm", [folder.path("key")])
        try await Tool.makeKey(folder.path("key"))
        // Only a test that hangs would come to this deadline.
        let factory = LinkFixture.factory(config: config) { $0.timeouts.handshake = .seconds(3600) }
        #expect(
            await factory.failure(of: record)
                == .notSSH(address: "127.0.0.1:\(chatty.port)", firstLine: "welcome, welcome"))
    }

    @Test func `nothing listens there`() async throws {
        let server = try await LocalSSHD()
        server.stop()
        let error = await LinkFixture.factory(config: server.configFile).failure(of: server.record)
        #expect(error == .connectionRefused(address: "127.0.0.1:\(server.port)"))
        try await server.restart()
        #expect(await LinkFixture.factory(config: server.configFile).failure(of: server.record) == nil)
    }

    @Test func `a frozen server ends a probe at its deadline and closes the link`() async throws {
        let server = try await LocalSSHD()
        let link = try await LinkFixture.factory(config: server.configFile).connect(
            to: server.record, token: 1)
        server.suspend()
        defer { server.resume() }
        let request = ProbeRequest(function: "pid")
        let error = await #expect(throws: LinkError.self) {
            try await link.probe(request, until: .now + .milliseconds(200))
        }
        #expect(error?.code == "timeout.probe")
        #expect(await link.untilClosed() == error)
    }

    @Test func `a server that thaws before the deadline goes on with the same login`() async throws {
        let server = try await LocalSSHD()
        let link = try await LinkFixture.factory(config: server.configFile).connect(
            to: server.record, token: 1)
        defer { link.close(.daemonStopping) }
        server.suspend()
        async let reply = link.ask("say", "thawed")
        server.resume()
        #expect(try await reply.text == "thawed\n")
        try await server.log.until("Accepted publickey")
        #expect(server.log.count(of: "Accepted publickey") == 1)
    }

    @Test func `the end of a connection is noticed at once`() async throws {
        let server = try await LocalSSHD()
        let link = try await LinkFixture.factory(config: server.configFile).connect(
            to: server.record, token: 1)
        server.killConnections()
        #expect(await link.untilClosed().code == "link.closed")
        await #expect(throws: LinkError.self) { try await link.ask("pid") }
    }

    @Test func `the end of a connection in the middle of a probe is an error, not half a reply`() async throws
    {
        let server = try await LocalSSHD()
        let link = try await LinkFixture.factory(config: server.configFile).connect(
            to: server.record, token: 1)
        let reply = Task { try await link.ask("hang") }
        server.killConnections()
        let error = await #expect(throws: LinkError.self) { try await reply.value }
        #expect(error?.code == "link.closed")
    }

    @Test func `closing ends a probe that waits`() async throws {
        let server = try await LocalSSHD()
        let link = try await LinkFixture.factory(config: server.configFile).connect(
            to: server.record, token: 1)
        let reply = Task { try await link.ask("hang") }
        link.close(.hostDisabled)
        link.close(.hostRemoved)
        let error = await #expect(throws: LinkError.self) { try await reply.value }
        #expect(error == .hostDisabled)
        #expect(await link.untilClosed() == .hostDisabled)
    }

    @Test func `a probe that is cut at any byte ends in an error or in its whole reply`() async throws {
        let server = try await LocalSSHD()
        let proxy = try FaultProxy(target: server.port)
        defer { proxy.stop() }
        try server.writeConfig(port: proxy.port)
        try server.trustHostKey(port: proxy.port)
        let factory = LinkFixture.factory(config: server.configFile)
        for cut in stride(from: 0, through: 400, by: 11) {
            proxy.set(.none)
            let link = try await factory.connect(to: server.record, token: cut)
            proxy.set(.cutAfter(serverBytes: cut))
            do {
                let reply = try await link.ask("say", "whole", "reply")
                #expect(reply.text == "whole\nreply\n")
            } catch {
                #expect(error.code == "link.closed", "cut after \(cut) bytes")
            }
            link.close(.superseded)
            _ = await link.untilClosed()
        }
    }

    @Test(arguments: 0..<4)
    func `a packet whose length was damaged costs the link, not the program`(bit: Int) async throws {
        let server = try await LocalSSHD()
        let proxy = try FaultProxy(target: server.port)
        defer { proxy.stop() }
        try server.writeConfig(port: proxy.port)
        try server.trustHostKey(port: proxy.port)
        let link = try await LinkFixture.factory(config: server.configFile).connect(
            to: server.record, token: 1)
        var faults = ProxyFaults.none
        // The last byte of the length: it is then no multiple of the cipher's block, which libssh2 asserts.
        faults.toClient.flip = ProxyFaults.Flip(byte: 3, bit: bit)
        proxy.set(faults)
        let error = await #expect(throws: LinkError.self) { try await link.ask("say", "damaged") }
        #expect(error?.disposition == .retry)
        #expect(await link.untilClosed() == error)
    }

    @Test(arguments: [20, 40, 150, 400, 1000])
    func `a damaged packet ends the link, and is not left out of the reply`(byte: Int) async throws {
        let server = try await LocalSSHD()
        let proxy = try FaultProxy(target: server.port)
        defer { proxy.stop() }
        try server.writeConfig(port: proxy.port)
        try server.trustHostKey(port: proxy.port)
        let link = try await LinkFixture.factory(config: server.configFile).connect(
            to: server.record, token: 1)
        var faults = ProxyFaults.none
        faults.toClient.flip = ProxyFaults.Flip(byte: byte)
        proxy.set(faults)
        let error = await #expect(throws: LinkError.self) { try await link.ask("many", "1000") }
        // At once: the deadline is two minutes away. A length that is damaged is none of these places.
        #expect(error?.code == "ssh.protocol")
        #expect(await link.untilClosed() == error)
    }

    @Test func `a login that is cut at any byte ends in a known state`() async throws {
        let server = try await LocalSSHD()
        let proxy = try FaultProxy(target: server.port)
        defer { proxy.stop() }
        try server.writeConfig(port: proxy.port)
        try server.trustHostKey(port: proxy.port)
        let factory = LinkFixture.factory(config: server.configFile)
        for cut in stride(from: 0, through: 3000, by: 97) {
            proxy.set(.cutAfter(serverBytes: cut))
            let error = await factory.failure(of: server.record)
            #expect(
                error == nil || error?.disposition == .retry,
                "cut after \(cut) bytes: \(String(describing: error))")
        }
    }

    @Test func `a login in pieces of one byte works`() async throws {
        let server = try await LocalSSHD()
        let proxy = try FaultProxy(target: server.port)
        defer { proxy.stop() }
        try server.writeConfig(port: proxy.port)
        try server.trustHostKey(port: proxy.port)
        proxy.set(.slice(bytes: 1))
        let link = try await LinkFixture.factory(config: server.configFile).connect(
            to: server.record, token: 1)
        defer { link.close(.daemonStopping) }
        #expect(try await link.ask("say", "in pieces").text == "in pieces\n")
    }
}
