import Glibc
import HostsModel
import HostsTestSupport
import Testing

/// Links that are slow, but there: each row takes a minute, so they run side by side.
@Suite(.timeLimit(.minutes(5))) struct SlowLinkTests {
    @Test func `row 8: RTT 800 ms, jitter 400 ms`() async {
        let faults = ProxyFaults.both {
            $0.delay = .milliseconds(400)
            $0.jitter = .milliseconds(200)
        }
        await FaultReport.row(8) { try await staysOnline(faults, interval: .seconds(5), $0) }
    }

    @Test func `row 9: loss of 5 %`() async {
        // What is lost is sent again after the retransmission timeout, which doubles when that is lost too.
        let faults = ProxyFaults.both {
            $0.delay = .milliseconds(50)
            $0.lossOneIn = 20
            $0.lossDelay = .milliseconds(900)
        }
        await FaultReport.row(9) { try await staysOnline(faults, interval: .seconds(1), $0) }
    }

    private func staysOnline(_ faults: ProxyFaults, interval: Duration, _ report: FaultReport) async throws {
        let server = try await LocalSSHD()
        let proxy = try FaultProxy(target: server.port)
        defer { proxy.stop() }
        proxy.set(faults)
        try await FaultRig.run(server, proxy: proxy, interval: interval) { rig in
            let online = try await rig.until(server.id, "online")
            report.saw("online after", online - rig.start)
            try await leaveAlone(for: .seconds(60))
            let conditions = rig.conditions(of: server.id, since: online)
            let downs = conditions.count { $0 == "reconnecting" }
            report.saw("\(rig.looks(at: server.id, since: online)) looks")
            report.saw("\(conditions.count { $0 == "checking" }) late")
            report.saw("\(downs) downs")
            report.require(downs == 0, "false downs")
            report.require(proxy.connectionCount == 1, "\(proxy.connectionCount) connections")
        }
    }

    @Test func `row 10: one byte per 50 ms`() async {
        // In a process of its own, whose processor time is that of one link and one proxy.
        await #expect(processExitsWith: .success) {
            await FaultReport.row(10) { report in
                let server = try await LocalSSHD()
                let proxy = try FaultProxy(target: server.port)
                defer { proxy.stop() }
                try server.lead(through: proxy)
                let factory = FaultRig.factory(config: server.configFile)
                report.require(await factory.failure(of: server.record) == nil, "the server does not work")
                proxy.set(.slice(bytes: 1, pause: .milliseconds(50)))
                async let attempt = factory.failure(of: server.record)
                // The beginning of an attempt costs a child; what is asked is whether the wait is free.
                try await leaveAlone(for: .seconds(1))
                let (start, before) = (ContinuousClock.now, ProcessFigures.processorTime)
                try await leaveAlone(for: .seconds(12))
                let percent = (ProcessFigures.processorTime - before) / (.now - start) * 100
                let error = await attempt
                let took = .now - start + .seconds(1)
                report.saw(error?.code ?? "online")
                report.saw("after", took)
                report.saw("\((percent * 100).rounded() / 100) % of a core")
                report.require(error == nil || error?.code == "timeout.handshake", "\(error?.code ?? "")")
                report.require(took <= .seconds(16), "late")
                report.require(percent < 1, "it spins")
            }
        }
    }
}
