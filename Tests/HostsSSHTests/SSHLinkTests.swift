import HostsModel
import HostsTestSupport
import Testing

@testable import HostsSSH

struct SSHLinkTests {
    @Test func `a key file opens a shell that answers on one channel`() async throws {
        let server = try await LocalSSHD()
        let link = try await LinkFixture.factory(config: server.configFile).connect(
            to: server.record, token: 7)
        defer { link.close(.daemonStopping) }
        #expect(link.token == 7)
        #expect(link.summary.kind == .libssh2)
        #expect(link.summary.mode == .persistent)
        #expect(link.summary.detail == "\(server.user)@127.0.0.1:\(server.port), key \(server.identityFile)")
        let first = try await link.ask("pid")
        let second = try await link.ask("pid")
        #expect(first.text == second.text)
        #expect(first.nonce != second.nonce)
        #expect(
            try await link.ask("say", "it's", "a \"test\" $HOME \\n", "ü").text
                == "it's\na \"test\" $HOME \\n\nü\n")
        try await server.log.until("Accepted publickey")
        #expect(server.log.count(of: "Accepted publickey") == 1)
        try await server.log.until("Starting session: command")
        #expect(server.log.count(of: "Starting session: command") == 1)
    }

    @Test func `the end marker carries the status, and input is empty`() async throws {
        let server = try await LocalSSHD()
        let link = try await LinkFixture.factory(config: server.configFile).connect(
            to: server.record, token: 1)
        defer { link.close(.daemonStopping) }
        #expect(try await link.ask("fail").status == 7)
        #expect(try await link.ask("slurp").text == "end")
        #expect(try await link.ask("no_such_function").status == 127)
        #expect(try await link.ask("many", "8000").text.utf8.count > 128 * 1024)
        for _ in 0..<10 { #expect(try await link.ask("complain").status == 0) }
    }

    @Test func `exec mode opens one channel for each probe on one login`() async throws {
        let server = try await LocalSSHD()
        let factory = LinkFixture.factory(config: server.configFile) { $0.probeMode = .exec }
        let link = try await factory.connect(to: server.record, token: 1)
        defer { link.close(.daemonStopping) }
        #expect(link.summary.mode == .exec)
        let first = try await link.ask("pid")
        let second = try await link.ask("pid")
        #expect(first.text != second.text)
        #expect(try await link.ask("fail").status == 7)
        try await server.log.until("Accepted publickey")
        #expect(server.log.count(of: "Accepted publickey") == 1)
        // One to see that a shell answers, then one for each probe.
        try await server.log.until("Starting session: command", count: 4)
        #expect(server.log.count(of: "Starting session: command") == 4)
    }

    /// The account's command outlives the shell by as long as `sleep` takes, and sshd counts it until then.
    @Test func `a server that still counts the last shell is asked again`() async throws {
        var options = LocalSSHD.Options()
        options.configuration = [
            "MaxSessions 1",
            "ForceCommand read -r rest <\"$HOME/rest\"; /bin/sh; exec </dev/null >/dev/null 2>&1; sleep $rest",
        ]
        let server = try await LocalSSHD(options)
        try server.folder.write("home/rest", "0.2\n")
        let factory = LinkFixture.factory(config: server.configFile) { $0.probeMode = .exec }
        let link = try await factory.connect(to: server.record, token: 1)
        defer { link.close(.daemonStopping) }
        for number in 0..<4 { #expect(try await link.ask("say", "\(number)").text == "\(number)\n") }
        #expect(server.log.count(of: "Accepted publickey") == 1)

        // One that never ends is no reason to call the host unusable: a new login may find it gone.
        try server.folder.write("home/rest", "600\n")
        #expect(try await link.ask("say", "last").text == "last\n")
        let deadline = ContinuousClock.now + .seconds(2)
        await #expect(throws: LinkError.self) {
            try await link.probe(ProbeRequest(function: "say", arguments: ["late"]), until: deadline)
        }
        #expect(await link.untilClosed().disposition == .retry)
    }

    @Test func `where the server ends the shell, auto goes on with exec and says so`() async throws {
        let server = try await LocalSSHD()
        let link = try await LinkFixture.factory(config: server.configFile).connect(
            to: server.record, token: 1)
        defer { link.close(.daemonStopping) }
        await #expect(throws: LinkError.self) { try await link.ask("leave") }
        #expect(await link.untilClosed().code == "probe.bad-reply")

        // The shell of the first two channels ends after one request; a server that limits channels does the
        // same.
        var options = LocalSSHD.Options()
        options.configuration = [
            "ForceCommand if [ -e \"$HOME/once\" ]; then exec /bin/sh; else : >\"$HOME/once\"; fi"
        ]
        let limited = try await LocalSSHD(options)
        let other = try await LinkFixture.factory(config: limited.configFile).connect(
            to: limited.record, token: 1)
        defer { other.close(.daemonStopping) }
        #expect(other.summary.mode == .exec)
        #expect(other.summary.detail.hasSuffix("one exec per probe as the server ends the shell"))
        #expect(try await other.ask("say", "hello").text == "hello\n")
        try await limited.log.until("Accepted publickey")
        #expect(limited.log.count(of: "Accepted publickey") == 1)
    }

    @Test func `a shell that is killed between two probes is replaced by exec`() async throws {
        let server = try await LocalSSHD()
        let link = try await LinkFixture.factory(config: server.configFile).connect(
            to: server.record, token: 1)
        defer { link.close(.daemonStopping) }
        let shell = try await link.ask("pid").text
        try await Tool.run("kill", ["-9", String(shell.dropLast())])
        #expect(try await link.ask("say", "still here").text == "still here\n")
        #expect(link.summary.mode == .exec)
        try await server.log.until("Accepted publickey")
        #expect(server.log.count(of: "Accepted publickey") == 1)
    }

    @Test func `a shell that floods between two probes ends the link`() async throws {
        let server = try await LocalSSHD()
        let program = ShellProgram(definitions: "flood() { while :; do echo flood; done & }")
        let factory = LinkFixture.factory(config: server.configFile, program: program)
        let link = try await factory.connect(to: server.record, token: 1)
        do { _ = try await link.ask("flood") } catch { #expect(error.code == "probe.bad-reply") }
        // In the look, or after it.
        #expect(["probe.bad-reply", "shell.not-posix"].contains(await link.untilClosed().code))
    }

    @Test func `IPv6 on the loopback works`() async throws {
        var options = LocalSSHD.Options()
        options.address = "::1"
        let server = try await LocalSSHD(options)
        let link = try await LinkFixture.factory(config: server.configFile).connect(
            to: server.record, token: 1)
        defer { link.close(.daemonStopping) }
        #expect(try await link.ask("say", "six").text == "six\n")
        #expect(link.summary.detail.contains("@[::1]:\(server.port)"))
    }

    @Test func `the link survives a server that renews its keys again and again`() async throws {
        var options = LocalSSHD.Options()
        options.configuration = ["RekeyLimit 4K"]
        let server = try await LocalSSHD(options)
        let link = try await LinkFixture.factory(config: server.configFile).connect(
            to: server.record, token: 1)
        defer { link.close(.daemonStopping) }
        for count in [1, 400, 1, 4000, 1] {
            let text = try await link.ask("many", String(count)).text
            #expect(text.split(separator: "\n").count == count)
        }
    }

    @Test func `a server that lacks every common algorithm is named with what it offers`() async throws {
        var options = LocalSSHD.Options()
        options.configuration = ["MACs umac-128-etm@openssh.com"]
        let server = try await LocalSSHD(options)
        var record = server.record
        record.transport = .libssh2
        let error = await LinkFixture.factory(config: server.configFile).failure(of: record)
        #expect(error == .noCommonAlgorithm(kind: "MAC", offered: "umac-128-etm@openssh.com"))
        #expect(error?.disposition == .unsupported)
    }

    @Test func `the ssh program serves what libssh2 cannot, and the link says why`() async throws {
        var options = LocalSSHD.Options()
        options.configuration = ["MACs umac-128-etm@openssh.com"]
        let server = try await LocalSSHD(options)
        let factory = LinkFixture.factory(config: server.configFile)
        for token in 1...2 {
            let link = try await factory.connect(to: server.record, token: token)
            defer { link.close(.daemonStopping) }
            #expect(link.summary.kind == .openssh)
            #expect(
                link.summary.reason == "no common MAC with the server, which offers umac-128-etm@openssh.com")
            #expect(try await link.ask("say", "hello").text == "hello\n")
        }
        // What is known is not tried again.
        #expect(server.log.count(of: "no matching MAC found") == 1)
    }

    @Test func `an account without a POSIX shell says what it said`() async throws {
        var options = LocalSSHD.Options()
        options.configuration = ["ForceCommand echo 'This account is currently not available.'; exit 1"]
        let server = try await LocalSSHD(options)
        let error = await LinkFixture.factory(config: server.configFile).failure(of: server.record)
        #expect(error == .noPOSIXShell(detail: "This account is currently not available."))
    }

    @Test func `a program that is no shell is given up at the shell's deadline`() async throws {
        var options = LocalSSHD.Options()
        options.configuration = ["ForceCommand echo 'Welcome to the router'; exec sleep 600"]
        let server = try await LocalSSHD(options)
        let factory = LinkFixture.factory(config: server.configFile) { $0.timeouts.shell = .seconds(5) }
        #expect(await factory.failure(of: server.record) == .noPOSIXShell(detail: "Welcome to the router"))
    }

    @Test func `login files that talk are ignored`() async throws {
        let server = try await LocalSSHD()
        try server.folder.write("home/.bashrc", "echo Hello; echo @@hostsd-begin 0123; printf '$ '\n")
        let link = try await LinkFixture.factory(config: server.configFile).connect(
            to: server.record, token: 1)
        defer { link.close(.daemonStopping) }
        #expect(try await link.ask("say", "quiet").text == "quiet\n")
    }
}
