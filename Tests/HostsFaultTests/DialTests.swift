import HostsModel
import HostsTestSupport
import Testing

/// Attempts that meet something other than a healthy SSH server.
@Suite(.serialized, .timeLimit(.minutes(5))) struct DialTests {
    @Test func `row 11: SYN dropped`() async {
        await FaultReport.row(11) { report in
            let server = try await LocalSSHD()
            let deaf = try DeafPort()
            try server.writeConfig(port: deaf.port)
            try await FaultRig.run([server.record], config: server.configFile) { rig in
                let failed = try await rig.until(server.id, "reconnecting")
                let error = try await rig.error(of: server.id)
                let again = try await rig.untilDialled(server.id, after: failed)
                let second = try await rig.untilDialled(server.id, after: again)
                report.saw("attempt", failed - rig.start)
                report.saw("pause", again - failed)
                report.saw("attempt", second - again)
                report.saw(error.code)
                report.require(error.code == "timeout.connect", "the error is \(error.code)")
                report.require(failed - rig.start <= .seconds(10.7), "the first attempt is too long")
                report.require(second - again <= .seconds(10.7), "the second attempt is too long")
            }
        }
    }

    @Test func `row 12: connection refused, then up`() async {
        await FaultReport.row(12) { report in
            let server = try await LocalSSHD()
            let proxy = try FaultProxy(target: server.port)
            defer { proxy.stop() }
            try await FaultRig.run(server, proxy: proxy) { rig in
                try await rig.until(server.id, "online")
                proxy.set(.admission(.refuse))
                let fault = ContinuousClock.now
                server.killConnections()
                // At the beginning of the longest pause, which is the worst moment to come back.
                var failed = try await rig.until(server.id, "reconnecting", after: fault)
                for _ in 0..<2 {
                    let dialled = try await rig.untilDialled(server.id, after: failed)
                    failed = try await rig.untilDialled(server.id, after: dialled)
                }
                let code = try await rig.error(of: server.id).code
                proxy.set(.none)
                let isUp = ContinuousClock.now
                let online = try await rig.until(server.id, "online", after: isUp)
                report.saw(code)
                report.saw("online after", online - isUp)
                report.require(code == "connect.refused", "the error is \(code)")
                report.require(online - isUp <= .seconds(9), "late")
            }
        }
    }

    @Test func `row 13: accepts, sends nothing`() async {
        await FaultReport.row(13) { report in
            let server = try await LocalSSHD()
            let proxy = try FaultProxy(target: server.port)
            defer { proxy.stop() }
            proxy.set(.admission(.silent))
            try await FaultRig.run(server, proxy: proxy) { rig in
                let failed = try await rig.until(server.id, "reconnecting")
                let error = try await rig.error(of: server.id)
                report.saw(error.code)
                report.saw("after", failed - rig.start)
                report.require(error.code == "timeout.handshake", "the error is \(error.code)")
                report.require(failed - rig.start <= .seconds(16), "late")
                proxy.set(.none)
                try await rig.until(server.id, "online", after: failed)
            }
        }
    }

    @Test func `row 14: garbage or HTTP instead of SSH`() async {
        await FaultReport.row(14) { report in
            let server = try await LocalSSHD()
            var random = SeededGenerator(seed: 14)
            let garbage = (0..<5000).map { _ in UInt8.random(in: 1...126, using: &random) }
            let pages = [
                "HTTP/1.1 302 Found\r\nLocation: http://portal.example/\r\n\r\n",
                String(decoding: garbage, as: UTF8.self),
            ]
            for page in pages {
                let portal = try ScriptedServer(greeting: page)
                defer { portal.stop() }
                try server.writeConfig(port: portal.port)
                try await FaultRig.run([server.record], config: server.configFile) { rig in
                    let failed = try await rig.until(server.id, "reconnecting")
                    let error = try await rig.error(of: server.id)
                    report.saw(error.code)
                    report.saw("after", failed - rig.start)
                    report.require(error.code == "ssh.not-ssh", "the error is \(error.code)")
                    report.require(failed - rig.start <= .seconds(16), "late")
                    report.require(
                        error.help(for: server.id)?.contains("captive portal") == true,
                        "no help: \(error.message)")
                    if page.hasPrefix("HTTP") {
                        report.require(error.message.contains("302 Found"), "no text: \(error.message)")
                    }
                }
            }
        }
    }

    @Test func `row 15: blank line or long text before SSH-`() async {
        await FaultReport.row(15) { report in
            let server = try await LocalSSHD()
            let proxy = try FaultProxy(target: server.port)
            defer { proxy.stop() }
            try server.lead(through: proxy)
            let factory = FaultRig.factory(config: server.configFile)
            let preambles = [
                ("line", "Authorised use only\r\n"), ("blank", "\r\n"),
                ("300 bytes", String(repeating: "w", count: 300) + "\r\n"),
                ("3 KiB", String(repeating: "Authorised use only, as we said.\r\n", count: 90)),
            ]
            for (name, preamble) in preambles {
                var faults = ProxyFaults.none
                faults.preamble = Array(preamble.utf8)
                proxy.set(faults)
                var error: LinkError?
                let took = await measured { error = await factory.failure(of: server.record) }
                report.saw("\(name): \(error?.code ?? "online")", took)
                report.require(took <= .seconds(16), "\(name): late")
                report.require(error?.disposition != .needsYou, "\(name): \(error?.message ?? "")")
                report.require(error == nil, "\(name): \(error?.message ?? "")")
            }
        }
    }
}
