import HostsModel
import HostsTestSupport
import Testing

@testable import HostsSSH

/// Servers in a row, and one ssh_config that knows them all.
private struct Route {
    let servers: [LocalSSHD]
    let config: String
    private let folder: TemporaryFolder

    /// The last name is reached through the earlier ones.
    init(_ names: [String], jump: String? = nil, change: (inout LocalSSHD.Options) -> Void = { _ in })
        async throws
    {
        folder = try TemporaryFolder()
        var servers: [LocalSSHD] = []
        for name in names {
            var options = LocalSSHD.Options()
            options.name = name
            change(&options)
            servers.append(try await LocalSSHD(options))
        }
        self.servers = servers
        config = folder.path("config")
        try write(jump ?? names.dropLast().joined(separator: ","))
    }

    func write(_ jump: String) throws {
        guard let last = servers.last else { return }
        try last.writeConfig(lines: ["ProxyJump \(jump)"])
        let texts = try servers.map { try $0.folder.read("ssh_config") }
        try folder.write("config", texts.joined(separator: "\n"))
    }

    func logins(_ index: Int) -> Int { servers[index].log.count(of: "Accepted publickey") }
}

@Suite struct JumpHostTests {
    @Test func `a host behind two others is reached, and the link says how`() async throws {
        let route = try await Route(["outer", "middle", "inner"])
        let link = try await LinkFixture.factory(config: route.config).connect(
            to: route.servers[2].record, token: 1)
        defer { link.close(.daemonStopping) }
        #expect(try await link.ask("say", "hello").text == "hello\n")
        #expect(link.summary.kind == .libssh2)
        #expect(link.summary.detail.contains("by way of outer, middle"))
        #expect((0...2).map(route.logins) == [1, 1, 1])
    }

    @Test func `an opening that takes long makes room for another session, up to a bound`() {
        let now = ContinuousClock.now
        #expect(JumpHostChoice().next(now: now) == .logIn)
        #expect(JumpHostChoice(isLoggingIn: true).next(now: now) == .wait(until: nil))
        #expect(JumpHostChoice(sessions: [now, nil]).next(now: now) == .use(1))
        let patience = now.advanced(by: JumpHostChoice.patience)
        #expect(JumpHostChoice(sessions: [now]).next(now: now) == .wait(until: patience))
        #expect(JumpHostChoice(sessions: [now]).next(now: patience) == .logIn)
        let full = JumpHostChoice(sessions: Array(repeating: now, count: JumpHostChoice.sessionLimit))
        #expect(full.next(now: patience) == .wait(until: nil))
    }

    @Test func `a jump host's own ProxyJump counts`() async throws {
        let route = try await Route(["outer", "middle", "inner"], jump: "middle")
        try route.servers[1].writeConfig(lines: ["ProxyJump outer"])
        try route.write("middle")
        let link = try await LinkFixture.factory(config: route.config).connect(
            to: route.servers[2].record, token: 1)
        defer { link.close(.daemonStopping) }
        #expect(try await link.ask("say", "hello").text == "hello\n")
        #expect((0...2).map(route.logins) == [1, 1, 1])
    }

    @Test func `large replies pass through a tunnel whole`() async throws {
        let route = try await Route(["outer", "inner"])
        let link = try await LinkFixture.factory(config: route.config).connect(
            to: route.servers[1].record, token: 1)
        defer { link.close(.daemonStopping) }
        for _ in 0..<20 {
            let text = try await link.ask("many", "10000").text
            #expect(text.split(separator: "\n").count == 10000)
        }
    }

    @Test func `hosts behind one jump host share its login, and the last one ends it`() async throws {
        let route = try await Route(["outer", "inner"])
        let factory = LinkFixture.factory(config: route.config)
        let record = route.servers[1].record
        let links = try await withThrowingTaskGroup(of: (any ProbeLink).self) { group in
            for token in 1...12 { group.addTask { try await factory.connect(to: record, token: token) } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        // On a busy machine an opening may take long enough to make room for another session.
        #expect(route.logins(0) <= JumpHostChoice.sessionLimit)
        #expect(route.logins(1) == 12)
        for link in links { #expect(try await link.ask("say", "x").text == "x\n") }
        for link in links { link.close(.daemonStopping) }
        try await route.servers[0].log.until("Received disconnect", count: route.logins(0))
        #expect(await factory.resources.jumpHosts.count == 0)
    }

    @Test func `the end of a jump host is the end of what is behind it, with its name`() async throws {
        let route = try await Route(["outer", "inner"])
        let link = try await LinkFixture.factory(config: route.config).connect(
            to: route.servers[1].record, token: 1)
        route.servers[0].killConnections()
        let error = await link.untilClosed()
        #expect(error.code == "link.closed")
        #expect(error.message.contains("jump host outer"))
    }

    @Test func `what a jump host lacks is said with its name`() async throws {
        let route = try await Route(["outer", "inner"])
        try route.servers[0].folder.write("authorized_keys", "")
        let error = await LinkFixture.factory(config: route.config).failure(of: route.servers[1].record)
        guard case .jumpHost("outer", .authenticationRefused) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(route.servers[1].log.count(of: "Connection from") == 0)
    }

    @Test func `a jump host that is down is dialled once for all behind it`() async throws {
        let route = try await Route(["outer", "inner"])
        let proxy = try FaultProxy(target: route.servers[0].port)
        defer { proxy.stop() }
        try route.servers[0].trustHostKey(port: proxy.port)
        try route.servers[0].writeConfig(port: proxy.port)
        try route.write("outer")
        proxy.set(.cutAfter(serverBytes: 100))
        let factory = LinkFixture.factory(config: route.config)
        let record = route.servers[1].record
        let errors = await withTaskGroup(of: LinkError?.self) { group in
            for _ in 0..<20 { group.addTask { await factory.failure(of: record) } }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(Set(errors.map { $0?.code }) == ["jump.link.closed"])
        #expect(proxy.connectionCount <= 4)
    }

    @Test
    func `a port that nothing listens on behind a jump host is told from a closed one at the jump host`()
        async throws
    {
        let route = try await Route(["outer", "inner"])
        route.servers[1].stop()
        let error = await LinkFixture.factory(config: route.config).failure(of: route.servers[1].record)
        #expect(error?.code == "jump.connect.unreachable")
        #expect(error?.disposition == .retry)
    }

    @Test func `a jump host that forwards nothing is said to be so`() async throws {
        let route = try await Route(["outer", "inner"]) { options in
            if options.name == "outer" { options.configuration = ["AllowTcpForwarding no"] }
        }
        let error = await LinkFixture.factory(config: route.config).failure(of: route.servers[1].record)
        #expect(error?.code == "jump.link.unsupported")
    }

    @Test func `a host that accepts nothing does not hold up another behind the same jump host`() async throws
    {
        let route = try await Route(["outer", "inner"])
        // Its first connections fill the backlog; the jump host's next one waits for an answer for ever.
        let deaf = try DeafPort()
        let config = try route.servers[0].folder.write(
            "both",
            try route.servers[0].folder.read("ssh_config")
                + route.servers[1].folder.read("ssh_config")
                + "\nHost deaf\n    HostName 127.0.0.1\n    Port \(deaf.port)\n    ProxyJump outer\n"
                + "    IdentityFile \(route.servers[0].identityFile)\n    IdentityAgent none\n")
        let factory = LinkFixture.factory(config: config) { $0.timeouts.connect = .seconds(3) }
        let deafRecord = HostRecord(id: try #require(HostID(rawValue: "deaf")), destination: "deaf")
        async let failure = factory.failure(of: deafRecord)
        let link = try await factory.connect(to: route.servers[1].record, token: 1)
        #expect(try await link.ask("say", "x").text == "x\n")
        #expect(await failure == .jumpHost(name: "outer", .timedOut(.connect, after: .seconds(3))))
        #expect(try await link.ask("say", "x").text == "x\n")
        link.close(.daemonStopping)
    }
}
