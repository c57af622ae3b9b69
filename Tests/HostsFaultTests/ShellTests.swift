import Glibc
import HostsHub
import HostsModel
import HostsSSH
import HostsTestSupport
import Testing

/// Accounts whose shell is not what one would wish, and commands that print too much.
@Suite(.serialized, .timeLimit(.minutes(5))) struct ShellTests {
    /// A server whose account has this login shell.
    private func server(shell: String) async throws -> LocalSSHD {
        var options = LocalSSHD.Options()
        options.isIsolated = true
        options.loginShell = shell
        return try await LocalSSHD(options)
    }

    private func reach(_ server: LocalSSHD) async -> LinkError? {
        await FaultRig.factory(config: server.configFile).failure(of: server.record)
    }

    @Test func `row 41: rc prints 1 MB, sleeps 20 s, exits`() async {
        await FaultReport.row(41) { report in
            let cases = [
                ("short text", "echo welcome\n", "online"), ("sleeps 5 s", "sleep 5\n", "online"),
                ("1 MB", "head -c 1000000 /dev/zero | tr '\\0' n\n", "shell.not-posix"),
                ("exit 0", "exit 0\n", "shell.not-posix"), ("sleeps 60 s", "sleep 60\n", "timeout.shell"),
            ]
            let server = try await server(shell: "/bin/bash")
            for (name, text, wanted) in cases {
                try server.folder.write("home/.bashrc", text)
                var error: LinkError?
                let took = await measured { error = await reach(server) }
                report.saw("\(name): \(error?.code ?? "online")", took)
                report.require(error?.code ?? "online" == wanted, "\(name): \(error?.message ?? "online")")
                report.require(took <= .seconds(21), "\(name): late")
                report.require(error.map { !$0.message.isEmpty } ?? true, "\(name): no message")
            }
        }
    }

    @Test func `row 42: login shells`() async {
        await FaultReport.row(42) { report in
            let folder = try TemporaryFolder(in: "/var/tmp")
            try folder.link("ash", to: "/usr/bin/busybox")
            let online = [
                "/bin/bash", "/bin/dash", folder.path("ash"), "/usr/bin/zsh", "/usr/bin/fish", "/bin/csh",
                "/bin/tcsh",
            ]
            let others = ["/bin/rbash", "/usr/sbin/nologin", "/bin/false"]
            for shell in online + others where access(shell, X_OK) == 0 {
                let server = try await server(shell: shell)
                let name = shell.split(separator: "/").last ?? ""
                let error = await reach(server)
                report.saw("\(name): \(error?.code ?? "online")")
                if online.contains(shell) {
                    report.require(error == nil, "\(name): \(error?.message ?? "")")
                } else {
                    report.require(error?.code == "shell.not-posix", "\(name): \(error?.message ?? "online")")
                }
            }
            let forced = try await LocalSSHD()
            let key = try forced.folder.read("id_ed25519.pub")
            try forced.folder.write("authorized_keys", "command=\"echo backups only\" \(key)")
            let error = await reach(forced)
            report.saw("forced command: \(error?.code ?? "online")")
            report.require(error?.code == "shell.not-posix", error?.message ?? "online")
            report.require(error?.message.contains("backups only") == true, error?.message ?? "online")
        }
    }

    @Test func `row 43: 40 MB on stderr, on stdout`() async {
        await FaultReport.row(43) { report in
            let server = try await LocalSSHD()
            let factory = FaultRig.factory(config: server.configFile)
            let link = try await factory.connect(to: server.record, token: 1)
            var reply = ""
            let took = try await measured { reply = try await link.ask("complain") }
            report.saw("stderr: a reply after", took)
            report.require(reply == "done\n", "stderr spoils the reply: \(reply.prefix(40))")
            var error: LinkError?
            let late = await measured {
                do throws(LinkError) { _ = try await link.ask("flood") } catch let failure { error = failure }
            }
            report.saw("stdout: \(error?.code ?? "accepted")", late)
            report.require(error?.code == "probe.bad-reply", error?.message ?? "accepted")
            report.require(late <= .seconds(10), "late")
        }
    }

    @Test func `row 44: background child holds stdout`() async {
        await FaultReport.row(44) { report in
            let server = try await server(shell: "/bin/bash")
            let factory = FaultRig.factory(config: server.configFile)
            let link = try await factory.connect(to: server.record, token: 1)
            var reply = ""
            let took = try await measured { reply = try await link.ask("child") }
            report.saw("of a probe: a reply after", took)
            report.require(
                reply == "started\n" && took <= .seconds(1) + FaultReport.slack,
                "the probe waits for the child")
            reply = try await link.ask("look")
            report.require(reply.hasPrefix("look "), "the next probe: \(reply)")
            link.close(.superseded)

            try server.folder.write("home/.bashrc", "sleep 300 &\n")
            let silent = await reach(server)
            report.saw("of the rc file: \(silent?.code ?? "online")")
            report.require(silent == nil, silent?.message ?? "")

            // What it prints may stand in the middle of a reply: that is then no observation.
            for pause in ["sleep 0.002", ":"] {
                try server.folder.write("home/.bashrc", "(while :; do echo noise; \(pause); done) &\n")
                try await printing(server, pause, report)
            }
        }
    }

    /// Looks at a host whose shell is talked over by a child.
    private func printing(_ server: LocalSSHD, _ pause: String, _ report: FaultReport) async throws {
        try await FaultRig.run([server.record], config: server.configFile, interval: .seconds(1)) { rig in
            try await leaveAlone(for: .seconds(6))
            let observations = rig.entries.compactMap { $0.observation(of: server.id) }
            let spoilt = observations.map(\.bootID).filter { $0.count != 36 }
            let condition = try await rig.condition(of: server.id).word
            let error = await rig.hub.snapshot(of: server.id)?.lastError
            report.saw(
                "that prints (\(pause)): \(condition) \(error?.code ?? ""), \(observations.count) looks")
            report.require(spoilt.isEmpty, "\(spoilt.count) looks were spoilt: \(spoilt)")
            // Without a pause it prints more than a link puts up with.
            report.require(pause != ":" || error != nil, "the noise was not met")
        }
    }
}
