import Glibc
import HostsModel
import HostsTestSupport
import Testing

@testable import HostsSSH

/// Real programs that carry a link, and such that do not.
struct ProxyCommandConduitTests {
    /// A link over a command, and what passes its bytes on.
    private struct Carried {
        let link: SSHLink
        let session: SSHSession
        let conduit: ProxyCommandConduit
        let address: String
        let trust: HostTrust
        let credentials: Credentials

        func logIn(handshake: Duration = .seconds(60)) async throws(LinkError) {
            var timeouts = LinkSettings.Timeouts()
            timeouts.handshake = handshake
            let limits = timeouts
            do {
                try await Entrance(loop: LinkFixture.loop).logIn(session, trust, credentials, limits)
                try await link.open(.seconds(60))
            } catch {
                link.close(error)
                throw error
            }
        }

        func close() {
            link.close(.daemonStopping)
            LinkFixture.loop.execute { conduit.close() }
        }

        /// Why the login failed, and what the command had to say.
        func failure(handshake: Duration = .seconds(60)) async -> (error: LinkError?, words: String) {
            var failure: LinkError?
            do { try await logIn(handshake: handshake) } catch { failure = error }
            await conduit.untilEnded()
            let words = await LinkFixture.onLoop { conduit.lastWords }
            close()
            return (failure, words)
        }
    }

    /// Passes bytes on to a port as `nc` does: a shell of the base system, as nc may be missing.
    private static func relay(to port: UInt16) -> String {
        "bash -c 'exec 3<>/dev/tcp/127.0.0.1/\(port); cat <&3 & cat >&3'"
    }

    private static func start(
        _ command: String, to server: LocalSSHD, shell: String? = nil
    ) async throws -> Carried {
        var settings = LinkFixture.settings(config: server.configFile)
        settings.environment["SHELL"] = shell
        settings.environment["HOME"] = server.folder.path("home")
        let destination = try await DestinationResolver(
            settings: settings, resources: LinkResources(loop: LinkFixture.loop)
        ).resolve(server.options.name)
        let credentials = Credentials(
            files: destination.identities.map { ($0, KeyFile.read($0.path)) }, agent: .absent, isLimited: true
        )
        let environment = settings.environment
        let made = await LinkFixture.onLoop {
            Result {
                () throws(LinkError) -> (session: SSHSession, conduit: (any Conduit)?, address: String) in
                let carrier = try ProxyCommandConduit.open(
                    command: command, environment: environment, loop: LinkFixture.loop)
                let (conduit, address) = (carrier.conduit, carrier.address)
                let session = try SSHSession(
                    carrier: carrier, destination: destination, loop: LinkFixture.loop)
                return (session, conduit, address)
            }
        }
        let (session, conduit, address) = try made.get()
        let link = SSHLink(
            session: session, detail: "", token: 1, program: LinkFixture.program, probeMode: .auto)
        return Carried(
            link: link, session: session, conduit: try #require(conduit as? ProxyCommandConduit),
            address: address, trust: HostTrust(destination: destination), credentials: credentials)
    }

    // MARK: Commands that work

    @Test(arguments: [nil, "", "/bin/bash", "/bin/sh"] as [String?])
    func `a link goes through a command`(shell: String?) async throws {
        let server = try await LocalSSHD()
        // A bash must not read it: this would go to the server.
        try server.folder.write("home/.bashrc", "echo noise; echo noise >&2\n")
        let carried = try await Self.start(Self.relay(to: server.port), to: server, shell: shell)
        #expect(carried.address == "by way of bash")
        try await carried.logIn()
        #expect(try await carried.link.ask("say", "it's", "me").text == "it's\nme\n")
        #expect(try await carried.link.ask("many", "8000").text.utf8.count > 128 * 1024)
        #expect(await LinkFixture.onLoop { carried.conduit.lastWords }.isEmpty)
        carried.close()
        await carried.conduit.untilEnded()
    }

    @Test func `a command that forks carries on`() async throws {
        let server = try await LocalSSHD()
        // The first process is gone at once; what it has started does the work, and ends with the link.
        let file = server.folder.path("pid")
        let command =
            "sh -c \"exec 4<&0; \(Self.relay(to: server.port)) <&4 & echo \\$! >\(file); exit 0\""
        let carried = try await Self.start(command, to: server)
        try await carried.logIn()
        #expect(try await carried.link.ask("say", "x").text == "x\n")
        carried.close()
        await ChildRig.untilGone(String(try server.folder.read("pid").dropLast()))
    }

    @Test func `megabytes of complaints stop nobody`() async throws {
        let server = try await LocalSSHD()
        let command =
            "sh -c \"head -c 3000000 /dev/zero >&2; echo >&2; echo ready >&2; exec \(Self.relay(to: server.port))\""
        let carried = try await Self.start(command, to: server)
        try await carried.logIn()
        #expect(try await carried.link.ask("say", "x").text == "x\n")
        #expect(await LinkFixture.onLoop { carried.conduit.lastWords }.hasSuffix("; ready"))
        carried.close()
    }

    // MARK: Commands that do not

    @Test func `a command that cannot be executed says so`() async throws {
        let server = try await LocalSSHD()
        let carried = try await Self.start("/nonexistent/nc %h", to: server)
        #expect(carried.address == "by way of /nonexistent/nc")
        let (error, words) = await carried.failure()
        #expect(error?.code == "link.program-failed")
        #expect(words.contains("/nonexistent/nc"))
        #expect(words.hasSuffix("(exit 127)"))
    }

    @Test func `a command that fails says why`() async throws {
        let server = try await LocalSSHD()
        let carried = try await Self.start(
            "sh -c 'echo one >&2; echo \"nc: Connection refused\" >&2; exit 1'", to: server)
        let (error, words) = await carried.failure()
        #expect(error?.code == "link.program-failed")
        #expect(words == "one; nc: Connection refused (exit 1)")
        let silent = try await Self.start("sh -c 'kill -9 $$'", to: server)
        #expect(await silent.failure().words == "signal 9")
        let talker = try await Self.start("sh -c 'echo HTTP/1.1 403 Forbidden; exit 0'", to: server)
        #expect(await talker.failure().error?.code == "ssh.not-ssh")
    }

    @Test func `a command that hangs is a deadline, and it ends with the link`() async throws {
        let server = try await LocalSSHD()
        let file = server.folder.path("pid")
        let carried = try await Self.start("sh -c 'echo $$ >\(file); exec sleep 600'", to: server)
        let error = await #expect(throws: LinkError.self) {
            try await carried.logIn(handshake: .milliseconds(500))
        }
        #expect(error?.code == "timeout.handshake")
        carried.close()
        await ChildRig.untilGone(String(try server.folder.read("pid").dropLast()))
    }

    @Test func `a command that is killed ends the link`() async throws {
        let server = try await LocalSSHD()
        let file = server.folder.path("pid")
        let carried = try await Self.start(
            "sh -c \"echo \\$\\$ >\(file); exec \(Self.relay(to: server.port))\"", to: server)
        try await carried.logIn()
        let pid = try server.folder.read("pid").dropLast()
        // The shell and both of its cats: each of them holds the socket.
        try await Tool.run("pkill", ["-9", "-g", String(pid)])
        #expect(await carried.link.untilClosed().disposition == .retry)
        await carried.conduit.untilEnded()
        #expect(await LinkFixture.onLoop { carried.conduit.lastWords }.contains("signal 9"))
        carried.close()
        await ChildRig.untilGone(String(pid))
    }

    @Test func `a shell that is not there is an error at once`() async throws {
        let server = try await LocalSSHD()
        let error = await #expect(throws: LinkError.self) {
            try await Self.start("nc host 22", to: server, shell: "/nonexistent/sh")
        }
        #expect(
            error
                == .programFailed(
                    name: "ProxyCommand nc", detail: "/nonexistent/sh: No such file or directory"))
    }

    @Test func `commands leave neither a descriptor nor a process behind`() async {
        await #expect(processExitsWith: .success) {
            let server = try await LocalSSHD()
            await LinkFixture.onLoop {}
            await Descriptors.settle()
            let before = Descriptors.count
            for round in 0..<40 {
                let commands = ["exit 3", "sleep 600", "sh -c 'sleep 600 & exit 0'", "/nonexistent", "cat"]
                let carried = try await Self.start(commands[round % 5], to: server)
                carried.close()
                _ = await carried.link.untilClosed()
            }
            server.stop()
            while ChildRig.hasChildren { await Task.yield() }
            await Descriptors.settle()
            // The server's own output is closed by now.
            #expect(Descriptors.count <= before)
        }
    }
}

/// Logs in on the event loop.
private actor Entrance {
    private nonisolated let loop: EventLoop

    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe loop.asUnownedSerialExecutor() }

    init(loop: EventLoop) {
        self.loop = loop
    }

    func logIn(
        _ session: SSHSession, _ trust: HostTrust, _ credentials: Credentials,
        _ timeouts: LinkSettings.Timeouts
    ) async throws(LinkError) {
        _ = try await session.logIn(trust: trust, credentials: credentials, agent: nil, timeouts: timeouts) {
            _, _ in
        }
    }
}
