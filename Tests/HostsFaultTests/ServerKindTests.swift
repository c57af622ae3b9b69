import HostsModel
import HostsSSH
import HostsTestSupport
import Testing

/// Servers of other kinds, and servers that are restarted.
@Suite(.serialized, .timeLimit(.minutes(5))) struct ServerKindTests {
    @Test func `row 40: hardened and other servers`() async {
        await FaultReport.row(40) { report in
            let kinds = [
                (
                    "EtM", "ed25519",
                    ["Ciphers aes256-ctr", "MACs hmac-sha2-256-etm@openssh.com,umac-128-etm@openssh.com"]
                ),
                ("AEAD", "ed25519", ["Ciphers chacha20-poly1305@openssh.com,aes256-gcm@openssh.com"]),
                ("chacha20", "ed25519", ["Ciphers chacha20-poly1305@openssh.com"]),
                ("post-quantum", "ed25519", ["KexAlgorithms sntrup761x25519-sha512@openssh.com"]),
                ("RSA host key", "rsa", ["HostKeyAlgorithms rsa-sha2-512,rsa-sha2-256"]),
                ("ECDSA host key", "ecdsa", []),
            ]
            for (name, type, lines) in kinds {
                var options = LocalSSHD.Options()
                options.hostKeyType = type
                options.configuration = lines
                let server = try await LocalSSHD(options)
                let result = try await reach(server.record, config: server.configFile)
                report.saw("\(name): \(result.text)")
                report.require(result.isGood, "\(name): \(result.text)")
                let attempts = server.log.count(of: "Connection from")
                report.require(attempts <= 2, "\(name): \(attempts) connections")
            }
            for kind in OtherSSHD.Kind.allCases {
                let server = try await OtherSSHD(kind)
                let result = try await reach(server.record, config: server.configFile)
                report.saw("\(kind.rawValue): \(result.text)")
                report.require(result.isGood, "\(kind.rawValue): \(result.text)")
                server.stop()
            }
        }
    }

    /// Connects and looks: online is good, and so is an error that names the list without a match.
    private func reach(_ record: HostRecord, config: String) async throws -> (isGood: Bool, text: String) {
        do throws(LinkError) {
            let link = try await FaultRig.factory(config: config).connect(to: record, token: 1)
            defer { link.close(.superseded) }
            let reply = try await link.ask("look")
            return (reply.hasPrefix("look "), "online by \(link.summary.kind.rawValue)")
        } catch {
            if case .noCommonAlgorithm(let kind, let offered) = error {
                return (!offered.isEmpty, "no common \(kind)")
            }
            return (false, "\(error.code): \(error.message)")
        }
    }

    @Test func `row 45: server restarted`() async {
        await FaultReport.row(45) { report in
            let server = try await LocalSSHD()
            try server.folder.write("home/boot", "first\n")
            try await FaultRig.run([server.record], config: server.configFile) { rig in
                try await rig.until(server.id, "online")
                let before = try await rig.untilLook(at: server.id, after: rig.start)
                let fault = ContinuousClock.now
                server.stop()
                let lost = try await rig.until(server.id, "reconnecting", after: fault)
                try server.folder.write("home/boot", "second\n")
                // Just after the second attempt: the third is 8 s away. 60 s would outlast the schedule.
                try await ContinuousClock().sleep(until: lost + .seconds(6.3))
                try await server.restart()
                let isUp = ContinuousClock.now
                let online = try await rig.until(server.id, "online", after: isUp)
                let after = try await rig.untilLook(at: server.id, after: isUp)
                report.saw("seen after", lost - fault)
                report.saw("down for", isUp - fault)
                report.saw("online after", online - isUp)
                report.saw("boot id \(before.bootID), then \(after.bootID)")
                report.require(lost - fault <= .seconds(1) + FaultReport.slack, "seen late")
                report.require(online - isUp <= .seconds(9), "online late")
                report.require(
                    before.bootID == "first" && after.bootID == "second", "the boot id was not noticed")
            }
        }
    }
}
