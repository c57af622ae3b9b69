import Glibc
import HostsModel
import HostsTestSupport
import Testing

@testable import HostsSSH

/// The real ssh against real servers.
struct OpenSSHLinkTests {
    private static func makeLink(
        _ name: String, config: String?, agentSocket: String? = nil, reason: String? = nil,
        _ change: (inout LinkSettings) -> Void = { _ in }
    ) throws -> (link: OpenSSHLink, shell: OpenSSHShell) {
        let shell = try OpenSSHShell(
            target: OpenSSHTarget(name: name), settings: LinkFixture.settings(config: config, change),
            agentSocket: agentSocket)
        let link = OpenSSHLink(
            shell, reason: reason, token: 5, program: LinkFixture.program, loop: LinkFixture.loop)
        return (link, shell)
    }

    private static func open(
        _ server: LocalSSHD, agentSocket: String? = nil, reason: String? = nil,
        _ change: (inout LinkSettings) -> Void = { _ in }
    ) async throws -> OpenSSHLink {
        let (link, shell) = try makeLink(
            server.options.name, config: server.configFile, agentSocket: agentSocket, reason: reason, change)
        do {
            try await link.open(shell, timeout: shell.timeout)
        } catch {
            link.close(error)
            throw error
        }
        return link
    }

    /// Why a link cannot be opened; nil when it can.
    private static func failure(
        _ server: LocalSSHD, _ change: (inout LinkSettings) -> Void = { _ in }
    ) async throws -> LinkError? {
        do {
            try await open(server, change).close(.daemonStopping)
            return nil
        } catch let error as LinkError {
            return error
        }
    }

    // MARK: A link that works

    @Test func `it answers like every other link`() async throws {
        let server = try await LocalSSHD()
        let link = try await Self.open(server, reason: "for a test")
        defer { link.close(.daemonStopping) }
        #expect(link.token == 5)
        let summary = LinkSummary(
            kind: .openssh, mode: .persistent, detail: "ssh devbox", reason: "for a test")
        #expect(link.summary == summary)
        #expect(try await link.ask("say", "it's", "me").text == "it's\nme\n")
        #expect(try await link.ask("pid").text == link.ask("pid").text)
        #expect(try await link.ask("fail").status == 7)
        #expect(try await link.ask("slurp").text == "end")
        #expect(try await link.ask("complain").status == 0)
        #expect(try await link.ask("many", "8000").text.utf8.count > 128 * 1024)
        #expect(server.log.count(of: "Accepted publickey") == 1)
    }

    @Test func `nothing that a person has set for other uses gets in the way`() async throws {
        let server = try await LocalSSHD()
        let master = server.folder.path("master")
        try server.writeConfig(lines: [
            "IgnoreUnknown UseKeychain", "UseKeychain yes", "RemoteCommand tmux attach", "RequestTTY force",
            "SessionType none", "StdinNull yes", "ForkAfterAuthentication yes", "LocalForward 1 127.0.0.1:1",
            "ExitOnForwardFailure yes", "ForwardAgent yes", "PermitLocalCommand yes",
            "LocalCommand touch \(server.folder.path("local"))", "LogLevel QUIET", "BatchMode no",
            "ControlMaster auto", "ControlPersist 600", "ControlPath \(master)",
        ])
        let link = try await Self.open(server)
        defer { link.close(.daemonStopping) }
        #expect(try await link.ask("say", "x").text == "x\n")
        // It never becomes what others share.
        #expect(access(master, F_OK) != 0)
        #expect(access(server.folder.path("local"), F_OK) != 0)
    }

    @Test func `an agent may be given to it`() async throws {
        let server = try await LocalSSHD()
        let agent = try await PrivateAgent()
        defer { agent.stop() }
        try await agent.add(server.identityFile)
        try server.writeConfig(identityFiles: ["/nonexistent/id"], agent: "SSH_AUTH_SOCK")
        #expect(try await Self.failure(server) == .keyMissing(path: "/nonexistent/id"))
        let link = try await Self.open(server, agentSocket: agent.socket)
        #expect(try await link.ask("say", "x").text == "x\n")
        link.close(.daemonStopping)
        // The person's own agent comes first.
        let other = try await PrivateAgent()
        defer { other.stop() }
        await #expect(throws: LinkError.self) {
            try await Self.open(server, agentSocket: agent.socket) {
                $0.environment["SSH_AUTH_SOCK"] = other.socket
            }
        }
    }

    // MARK: Connections that are shared

    @Test func `a connection that the person shares is used`() async throws {
        let server = try await LocalSSHD()
        let path = server.folder.path("master")
        try server.writeConfig(lines: ["ControlPath \(path)"])
        let master = try BackgroundProcess(
            "ssh", ["-v", "-F", server.configFile, "-M", "-N", "devbox"], environment: Tool.environment)
        defer { master.stop() }
        try await master.log.until("Entering interactive session")
        let link = try await Self.open(server)
        #expect(try await link.ask("say", "x").text == "x\n")
        #expect(server.log.count(of: "Accepted publickey") == 1)
        #expect(server.log.count(of: "Connection from") == 1)
        // Its end is the link's end.
        master.stop()
        #expect(await link.untilClosed().code == "link.closed")
    }

    @Test func `the socket of a master that is gone is passed by`() async throws {
        let server = try await LocalSSHD()
        let path = server.folder.path("master")
        try ScriptedServer(unixPath: path, greeting: []).stop()
        try server.writeConfig(lines: ["ControlPath \(path)"])
        let link = try await Self.open(server)
        defer { link.close(.daemonStopping) }
        #expect(try await link.ask("say", "x").text == "x\n")
    }

    @Test func `a master that hangs is a deadline`() async throws {
        let server = try await LocalSSHD()
        let path = server.folder.path("master")
        let master = try ScriptedServer(unixPath: path, greeting: [])
        defer { master.stop() }
        try server.writeConfig(lines: ["ControlPath \(path)"])
        #expect(try await Self.failure(server, Self.impatient)?.code == "timeout.shell")
    }

    // MARK: Links that do not come about

    private static func impatient(_ settings: inout LinkSettings) {
        settings.timeouts.connect = .milliseconds(500)
        settings.timeouts.handshake = .zero
        settings.timeouts.authentication = .zero
        settings.timeouts.shell = .zero
    }

    @Test func `a key that the server does not know`() async throws {
        let server = try await LocalSSHD()
        let wrong = try await server.makeKey("wrong", isAuthorized: false)
        try server.writeConfig(identityFiles: [wrong])
        #expect(try await Self.failure(server) == .authenticationRefused(user: server.user, tried: []))
    }

    @Test func `a key that cannot be used`() async throws {
        let server = try await LocalSSHD()
        let junk = try server.folder.write("junk", "junk\n", mode: 0o600)
        try server.writeConfig(identityFiles: [junk])
        let error = try await Self.failure(server)
        #expect(error?.code == "ssh.key.unusable")
        #expect(error?.message.contains(junk) == true)
    }

    @Test func `a second factor`() async throws {
        var options = LocalSSHD.Options()
        options.configuration = [
            "AuthenticationMethods publickey,keyboard-interactive", "KbdInteractiveAuthentication yes",
        ]
        let server = try await LocalSSHD(options)
        #expect(
            try await Self.failure(server)
                == .secondFactorWanted(user: server.user, methods: "keyboard-interactive"))
    }

    @Test func `host keys that are unknown, changed and revoked`() async throws {
        let server = try await LocalSSHD()
        let name = server.knownHostsName()
        try server.folder.write("known_hosts", "")
        #expect(try await Self.failure(server)?.code == "ssh.hostkey.unknown")
        try server.writeConfig(lines: ["StrictHostKeyChecking yes"])
        #expect(
            try await Self.failure(server) == .hostKeyUnknown(host: name, fingerprint: "ED25519 key"))
        let key = try server.hostKey()
        try server.folder.write("known_hosts", "@revoked \(name) \(key)\n")
        #expect(try await Self.failure(server) == .hostKeyRevoked(host: name, fingerprint: "ED25519 key"))
        _ = try await server.makeKey("other_host_key", isAuthorized: false)
        try server.folder.write(
            "known_hosts", "# a comment\n\(name) \(server.folder.read("other_host_key.pub"))")
        let shown = try await Tool.run("ssh-keygen", ["-lf", server.folder.path("host_key.pub")])
        let fingerprint = try #require(shown.split(separator: " ").first { $0.hasPrefix("SHA256:") })
        #expect(
            try await Self.failure(server)
                == .hostKeyChanged(
                    host: name, expected: "another ED25519 key in line 2", got: String(fingerprint),
                    file: server.knownHostsFile))
    }

    @Test func `nobody listens, and no such name`() async throws {
        let server = try await LocalSSHD()
        server.stop()
        #expect(
            try await Self.failure(server) == .connectionRefused(address: "127.0.0.1:\(server.port)"))
        try server.writeConfig(lines: ["HostName nosuch.invalid"])
        #expect(try await Self.failure(server)?.code == "dns.not-found")
    }

    @Test func `no common algorithm`() async throws {
        var options = LocalSSHD.Options()
        options.configuration = ["Ciphers aes256-ctr"]
        let server = try await LocalSSHD(options)
        try server.writeConfig(lines: ["Ciphers aes128-ctr"])
        #expect(try await Self.failure(server) == .noCommonAlgorithm(kind: "cipher", offered: "aes256-ctr"))
    }

    @Test func `a server that hangs is a deadline, and ssh is gone`() async throws {
        let server = try await LocalSSHD()
        server.suspend()
        defer { server.resume() }
        #expect(
            try await Self.failure(server, Self.impatient) == .timedOut(.shell, after: .milliseconds(500)))
    }

    @Test func `an account without a shell`() async throws {
        var options = LocalSSHD.Options()
        options.configuration = ["ForceCommand /usr/sbin/nologin"]
        let server = try await LocalSSHD(options)
        let error = try await Self.failure(server)
        #expect(error?.code == "shell.not-posix")
        #expect(error?.message.contains("not available") == true)
    }

    @Test func `an account that talks, and does nothing`() async throws {
        var options = LocalSSHD.Options()
        options.configuration = ["ForceCommand echo welcome; exec sleep 600"]
        let server = try await LocalSSHD(options)
        var error: LinkError?
        // Whatever a login takes on this machine; what the account says comes after it.
        for timeout in [2, 5, 30] where error == nil || error?.code == "timeout.shell" {
            error = try await Self.failure(server) { settings in
                settings.timeouts.connect = .seconds(timeout)
                settings.timeouts.handshake = .zero
                settings.timeouts.authentication = .zero
                settings.timeouts.shell = .zero
            }
        }
        #expect(error == .noPOSIXShell(detail: "welcome"))
    }

    @Test func `a server without channels`() async throws {
        var options = LocalSSHD.Options()
        options.configuration = ["MaxSessions 0"]
        let server = try await LocalSSHD(options)
        #expect(try await Self.failure(server)?.code == "ssh.channel-refused")
    }

    @Test func `a ProxyCommand and a jump host that fail`() async throws {
        let server = try await LocalSSHD()
        try server.writeConfig(lines: ["ProxyCommand sh -c 'echo bad luck >&2; exit 1'"])
        #expect(
            try await Self.failure(server) == .programFailed(name: "ProxyCommand", detail: "bad luck"))
        try server.writeConfig(lines: ["ProxyCommand /nonexistent/program %h"])
        let error = try await Self.failure(server)
        #expect(error?.code == "link.program-failed")
        #expect(error?.message.contains("/nonexistent/program") == true)
        try server.writeConfig(lines: ["ProxyJump 127.0.0.1:1"])
        let settings = LinkFixture.settings(config: server.configFile)
        let target = OpenSSHTarget(
            try await DestinationResolver(
                settings: settings, resources: LinkResources(loop: LinkFixture.loop)
            ).resolve("devbox"))
        let shell = try OpenSSHShell(target: target, settings: settings, agentSocket: nil)
        let link = OpenSSHLink(
            shell, reason: nil, token: 1, program: LinkFixture.program, loop: LinkFixture.loop)
        await #expect(
            throws: LinkError.jumpHost(name: "[127.0.0.1]:1", .connectionRefused(address: "127.0.0.1:1"))
        ) { try await link.open(shell, timeout: shell.timeout) }
        link.close(.daemonStopping)
    }

    @Test func `a program, a name and a file that are not there`() async throws {
        let server = try await LocalSSHD()
        #expect(
            try await Self.failure(server) { $0.sshProgram = "/nonexistent/ssh" }
                == .programFailed(name: "/nonexistent/ssh", detail: "No such file or directory"))
        #expect(try await Self.failure(server) { $0.configFile = "/nonexistent/c" }?.code == "ssh.config")
        try server.writeConfig(lines: ["Compression perhaps"])
        #expect(try await Self.failure(server)?.code == "ssh.config")
        for name in ["", "-oProxyCommand=true"] {
            #expect(throws: LinkError.self) { try Self.makeLink(name, config: nil) }
        }
    }

    // MARK: Ends

    @Test func `a server that is killed is noticed at once`() async throws {
        let server = try await LocalSSHD()
        let link = try await Self.open(server)
        server.killConnections()
        #expect(await link.untilClosed().code == "link.closed")
        let busy = try await Self.open(server)
        async let answer: ProbeReply = busy.ask("hang")
        server.killConnections()
        do {
            _ = try await answer
            Issue.record("there was an answer")
        } catch let error as LinkError {
            #expect(error.code == "link.closed")
            #expect(await busy.untilClosed() == error)
        }
    }

    @Test func `an ssh that is killed is noticed at once`() async throws {
        let server = try await LocalSSHD()
        let file = server.folder.path("pid")
        let program = try server.folder.write(
            "ssh", "#!/bin/sh\necho $$ >\(file)\nexec ssh \"$@\"\n", mode: 0o700)
        let link = try await Self.open(server) { $0.sshProgram = program }
        let pid = try #require(pid_t(server.folder.read("pid").dropLast()))
        kill(pid, SIGKILL)
        #expect(
            await link.untilClosed() == .programFailed(name: "ssh", detail: "it was ended by signal 9"))
        await ChildRig.untilGone(String(pid))
    }

    @Test func `a probe past its deadline ends the link and its ssh`() async throws {
        let server = try await LocalSSHD()
        let file = server.folder.path("pid")
        let program = try server.folder.write(
            "ssh", "#!/bin/sh\necho $$ >\(file)\nexec ssh \"$@\"\n", mode: 0o700)
        let link = try await Self.open(server) { $0.sshProgram = program }
        let error = await #expect(throws: LinkError.self) {
            try await link.probe(ProbeRequest(function: "hang"), until: .now + .milliseconds(100))
        }
        #expect(error?.code == "timeout.probe")
        #expect(await link.untilClosed() == error)
        await ChildRig.untilGone(String(try server.folder.read("pid").dropLast()))
    }

    @Test func `an attempt that is cancelled ends its ssh`() async throws {
        let silent = try ScriptedServer(greeting: "")
        defer { silent.stop() }
        let server = try await LocalSSHD()
        try server.writeConfig(port: silent.port)
        let attempt = Task { try await Self.failure(server) }
        await silent.untilConnected()
        attempt.cancel()
        #expect(try await attempt.value == .cancelled)
    }

    @Test func `links leave neither a descriptor nor a process behind`() async {
        await #expect(processExitsWith: .success) {
            let server = try await LocalSSHD()
            #expect(try await Self.failure(server) == nil)
            let wrong = try await server.makeKey("wrong", isAuthorized: false)
            await Descriptors.settle()
            let before = Descriptors.count
            for round in 0..<8 {
                try server.writeConfig()
                let link = try await Self.open(server)
                if round % 2 == 0 { server.killConnections() } else { link.close(.superseded) }
                _ = await link.untilClosed()
                try server.writeConfig(identityFiles: [wrong])
                #expect(try await Self.failure(server)?.code == "ssh.auth.refused")
            }
            server.stop()
            while ChildRig.hasChildren { await Task.yield() }
            await Descriptors.settle()
            // The server's own output is closed by now.
            #expect(Descriptors.count <= before)
        }
    }
}
