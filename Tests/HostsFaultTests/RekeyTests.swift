import HostsModel
import HostsSSH
import HostsTestSupport
import Testing

/// Servers that change keys often.
@Suite(.serialized, .timeLimit(.minutes(5))) struct RekeyTests {
    @Test func `row 18: server rekeys each 4 KiB, each 1 s`() async {
        await FaultReport.row(18) { report in
            for limit in ["4K", "default 1s"] {
                var options = LocalSSHD.Options()
                // The log tells of each change of keys.
                options.configuration = ["RekeyLimit \(limit)", "LogLevel DEBUG1"]
                let server = try await LocalSSHD(options)
                let link = try await FaultRig.factory(config: server.configFile).connect(
                    to: server.record, token: 1)
                var errors = 0
                let took = await measured {
                    for number in 0..<10_000 {
                        do throws(LinkError) {
                            if try await link.ask("say", "number \(number)") != "number \(number)\n" {
                                errors += 1
                            }
                        } catch {
                            report.require(false, "look \(number): \(error.message)")
                            errors += 1
                            break
                        }
                    }
                }
                link.close(.superseded)
                let changes = server.log.count(of: "SSH2_MSG_NEWKEYS received")
                report.saw("\(limit): \(changes) rekeys, \(errors) errors", took)
                report.require(errors == 0, "\(errors) errors")
                report.require(changes > 2, "the server did not rekey")
            }
        }
    }

    @Test func `row 19: rekey while the server is stopped`() async {
        await FaultReport.row(19) { report in
            var options = LocalSSHD.Options()
            options.configuration = ["RekeyLimit 4K"]
            let server = try await LocalSSHD(options)
            let proxy = try FaultProxy(target: server.port)
            defer { proxy.stop() }
            try server.lead(through: proxy)
            let link = try await FaultRig.factory(config: server.configFile).connect(
                to: server.record, token: 1)
            let text = String(repeating: "k", count: 60_000)
            var longest = Duration.zero
            for round in 0..<5 {
                // Either the server is stopped, or the proxy moves nothing.
                if round.isMultiple(of: 2) { server.suspend() } else { proxy.set(.stall) }
                async let reply = link.ask("count", text)
                try await leaveAlone(for: .seconds(1))
                let healed = ContinuousClock.now
                if round.isMultiple(of: 2) { server.resume() } else { proxy.set(.none) }
                let answer = try await reply
                longest = max(longest, .now - healed)
                report.require(answer == "60000\n", "round \(round): \(answer)")
            }
            report.saw("5 rounds of 60 kB, at most", longest)
            report.saw("\(proxy.connectionCount) login")
            report.require(proxy.connectionCount == 1, "a new connection")
            link.close(.superseded)
        }
    }
}
