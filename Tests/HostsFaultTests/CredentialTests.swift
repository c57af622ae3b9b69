import HostsModel
import HostsSSH
import HostsTestSupport
import Testing

/// Logins that need a person: one connection, then the host waits.
@Suite(.serialized, .timeLimit(.minutes(5))) struct CredentialTests {
    /// Long enough for a second and a third attempt by the schedule of lost links.
    private static let patience = Duration.seconds(7)

    /// Runs until the host waits for a person, and makes sure that it does.
    private func needsYou(
        _ server: LocalSSHD, _ proxy: FaultProxy, _ report: FaultReport,
        _ judge: (LinkError) -> Void
    ) async throws {
        try await FaultRig.run([server.record], config: server.configFile) { rig in
            let stopped = try await rig.until(server.id, "needsYou", "reconnecting", "online", "unsupported")
            let condition = rig.conditions(of: server.id, since: stopped).first ?? ""
            report.saw(condition)
            report.saw("after", stopped - rig.start)
            if condition != "online" {
                let error = try await rig.error(of: server.id)
                report.saw(error.code)
                judge(error)
            } else {
                report.require(false, "it logged in")
            }
            try await leaveAlone(for: Self.patience)
            report.saw("\(proxy.connectionCount) connections")
            report.require(proxy.connectionCount == 1, "\(proxy.connectionCount) connections")
        }
    }

    @Test func `row 29: wrong key`() async {
        await FaultReport.row(29) { report in
            let server = try await LocalSSHD()
            let proxy = try FaultProxy(target: server.port)
            defer { proxy.stop() }
            try server.lead(through: proxy)
            try server.folder.write("authorized_keys", "")
            try await needsYou(server, proxy, report) {
                report.require($0.code == "ssh.auth.refused", $0.message)
            }
        }
    }

    @Test func `row 30: second factor wanted`() async {
        await FaultReport.row(30) { report in
            var options = LocalSSHD.Options()
            options.configuration = [
                "AuthenticationMethods publickey,password", "PasswordAuthentication yes",
            ]
            let server = try await LocalSSHD(options)
            let proxy = try FaultProxy(target: server.port)
            defer { proxy.stop() }
            try server.lead(through: proxy)
            try await needsYou(server, proxy, report) {
                report.require($0.code == "ssh.auth.second-factor", $0.message)
            }
        }
    }

    @Test func `row 31: 8 keys, MaxAuthTries 6`() async {
        await FaultReport.row(31) { report in
            let server = try await LocalSSHD()
            let agent = try await PrivateAgent()
            defer { agent.stop() }
            for number in 1...7 {
                try await agent.add(try await server.makeKey("other\(number)", isAuthorized: false))
            }
            try await agent.add(server.identityFile)
            let proxy = try FaultProxy(target: server.port)
            defer { proxy.stop() }
            try server.trustHostKey(port: proxy.port)
            // The right one is named.
            try server.writeConfig(agent: agent.socket, port: proxy.port)
            let factory = FaultRig.factory(config: server.configFile)
            let error = await factory.failure(of: server.record)
            report.saw("named: \(error?.code ?? "online"), \(proxy.connectionCount) connection")
            report.require(error == nil && proxy.connectionCount == 1, error?.message ?? "more connections")
            // None is named: the eighth has no turn.
            let other = try FaultProxy(target: server.port)
            defer { other.stop() }
            try server.trustHostKey(port: other.port)
            try server.writeConfig(identityFiles: [], agent: agent.socket, port: other.port)
            try await needsYou(server, other, report) { error in
                guard error.code != "ssh.auth.too-many-keys" else { return }
                report.require(error.code == "ssh.auth.refused", error.message)
                report.known("told as \(error.code)")
            }
        }
    }

    @Test func `row 32: key needs a touch, user absent`() async {
        await FaultReport.row(32) { report in
            let server = try await LocalSSHD()
            let agent = try StubAgent(publicKeys: [server.identityFile + ".pub"])
            defer { agent.stop() }
            let proxy = try FaultProxy(target: server.port)
            defer { proxy.stop() }
            try server.trustHostKey(port: proxy.port)
            try server.writeConfig(identityFiles: [], agent: agent.socket, port: proxy.port)
            try await FaultRig.run([server.record], config: server.configFile) { rig in
                let stopped = try await rig.until(
                    server.id, "needsYou", "reconnecting", within: .seconds(110))
                let error = try await rig.error(of: server.id)
                try await leaveAlone(for: .seconds(5))
                report.saw(error.code)
                report.saw("after", stopped - rig.start)
                report.saw("\(agent.signRequestCount) requests to sign")
                if error.code == "timeout.authentication" {
                    return report.known("told as \(error.code), tried again")
                }
                report.require(error.code == "ssh.auth.touch", error.message)
                report.require(stopped - rig.start < .seconds(100), "later than sshd's patience")
                report.require(agent.signRequestCount == 1, "\(agent.signRequestCount) requests to sign")
                report.require(proxy.connectionCount == 1, "\(proxy.connectionCount) connections")
            }
        }
    }

    @Test func `row 33: host key changed`() async {
        await FaultReport.row(33) { report in
            let server = try await LocalSSHD()
            let proxy = try FaultProxy(target: server.port)
            defer { proxy.stop() }
            try server.lead(through: proxy)
            for name in ["host_key", "host_key.pub"] { try server.folder.remove(name) }
            try await Tool.makeKey(server.folder.path("host_key"))
            try await server.restart()
            try await needsYou(server, proxy, report) { error in
                report.require(error.code == "ssh.hostkey.changed", error.message)
                let prints = error.message.split(separator: "SHA256:").count - 1
                report.require(prints == 2, "not both fingerprints: \(error.message)")
            }
            let words = ["authenticating user", "Accepted", "Failed", "Postponed"]
            let lines = server.log.lines.filter { line in words.contains(where: line.contains) }
            report.saw("\(lines.count) lines about authentication")
            report.require(lines.isEmpty, "the server was asked to authenticate: \(lines)")
        }
    }

    @Test func `row 34: host key of another type offered`() async {
        await FaultReport.row(34) { report in
            let folder = try TemporaryFolder()
            try await Tool.makeKey(folder.path("ecdsa"), type: "ecdsa")
            var options = LocalSSHD.Options()
            options.configuration = ["HostKey \(folder.path("ecdsa"))"]
            let server = try await LocalSSHD(options)
            let error = await FaultRig.factory(config: server.configFile).failure(of: server.record)
            report.saw(error?.code ?? "online")
            report.require(error == nil, error?.message ?? "")
        }
    }

    @Test func `row 35: revoked key; certificate host`() async {
        await FaultReport.row(35) { report in
            let server = try await LocalSSHD()
            let name = server.knownHostsName()
            let key = try server.hostKey()
            try server.folder.write("known_hosts", "\(name) \(key)\n@revoked * \(key)\n")
            let revoked = await FaultRig.factory(config: server.configFile).failure(of: server.record)
            report.saw("revoked: \(revoked?.code ?? "online")")
            report.require(revoked?.code == "ssh.hostkey.revoked", revoked?.message ?? "it logged in")

            let folder = try TemporaryFolder()
            try await Tool.makeKey(folder.path("ca"))
            try await Tool.makeKey(folder.path("key"))
            try await Tool.run(
                "ssh-keygen",
                [
                    "-q", "-s", folder.path("ca"), "-I", "host", "-h", "-n", "127.0.0.1",
                    folder.path("key.pub"),
                ])
            var options = LocalSSHD.Options()
            options.configuration = [
                "HostKey \(folder.path("key"))", "HostCertificate \(folder.path("key-cert.pub"))",
            ]
            let certified = try await LocalSSHD(options)
            let authority = try folder.read("ca.pub").split(separator: " ").prefix(2).joined(separator: " ")
            try certified.folder.write(
                "known_hosts", "@cert-authority \(certified.knownHostsName()),127.0.0.1 \(authority)\n")
            let factory = FaultRig.factory(config: certified.configFile)
            do throws(LinkError) {
                let link = try await factory.connect(to: certified.record, token: 1)
                report.saw("certificate: online by \(link.summary.kind.rawValue)")
                report.require(link.summary.kind == .openssh, "libssh2 cannot judge certificates")
                link.close(.superseded)
            } catch {
                report.saw("certificate: \(error.code)")
                report.require(error.disposition != .retry, error.message)
                report.require(error.message.contains("certificate"), error.message)
            }
        }
    }
}
