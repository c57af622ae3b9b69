import HostsModel
import HostsTestSupport
import Testing

/// Links that are lost, noisily or silently.
@Suite(.serialized, .timeLimit(.minutes(5))) struct LostLinkTests {
    @Test func `row 1: FIN while idle`() async {
        await FaultReport.row(1) { report in
            let server = try await LocalSSHD()
            let proxy = try FaultProxy(target: server.port)
            defer { proxy.stop() }
            try await FaultRig.run(server, proxy: proxy) { rig in
                try await rig.until(server.id, "online")
                let fault = ContinuousClock.now
                server.killConnections()
                let lost = try await rig.until(server.id, "reconnecting", after: fault)
                let dialled = try await rig.untilDialled(server.id, after: lost)
                let online = try await rig.until(server.id, "online", after: fault)
                report.saw("seen after", lost - fault)
                report.saw("dialled after", dialled - lost)
                report.saw("online after", online - fault)
                report.require(lost - fault <= .seconds(1) + FaultReport.slack, "seen late")
                let pause = dialled - lost
                report.require(pause >= .seconds(1.9) && pause <= .seconds(2.5), "the first pause is not 2 s")
                report.require(proxy.connectionCount == 2, "\(proxy.connectionCount) connections")
            }
        }
    }

    @Test func `row 2: RST mid-probe`() async {
        await FaultReport.row(2) { report in
            let server = try await LocalSSHD()
            let proxy = try FaultProxy(target: server.port)
            defer { proxy.stop() }
            try await FaultRig.run(server, proxy: proxy, interval: .seconds(1)) { rig in
                try await rig.until(server.id, "online")
                // In the middle of the reply, which is about 150 bytes.
                let looked = ContinuousClock.now
                proxy.set(.cut(.reset, after: 60, .toClient))
                let lost = try await rig.until(server.id, "reconnecting", after: looked)
                // The next look began at most one interval after the fault was set.
                report.saw("seen after", lost - looked)
                report.require(lost - looked <= .seconds(2), "seen later than 1 s after the look")
                report.require(rig.looks(at: server.id, since: looked) == 0, "half a result was published")
                report.saw("error \(try await rig.error(of: server.id).code)")
                // While the server works on it.
                proxy.set(.none)
                try server.folder.write("home/slow", "")
                try await rig.until(server.id, "online", after: lost)
                let since = ContinuousClock.now
                try await leaveAlone(for: .seconds(1.5))
                let looks = rig.looks(at: server.id, since: since)
                let fault = ContinuousClock.now
                proxy.set(.cut(.reset))
                let again = try await rig.until(server.id, "reconnecting", after: fault)
                report.saw("again after", again - fault)
                report.require(again - fault <= .seconds(1) + FaultReport.slack, "seen late")
                report.require(rig.looks(at: server.id, since: since) == looks, "a result was published")
            }
        }
    }

    @Test func `row 3: half-open, both ways`() async {
        await FaultReport.row(3) { try await halfOpen(.stall, $0) }
    }

    @Test func `row 4: one-way loss, server to client`() async {
        var faults = ProxyFaults.none
        faults.toClient.isStalled = true
        await FaultReport.row(4) { [faults] in try await halfOpen(faults, $0) }
    }

    @Test func `row 5: one-way loss, client to server`() async {
        var faults = ProxyFaults.none
        faults.toServer.isStalled = true
        await FaultReport.row(5) { [faults] in try await halfOpen(faults, $0) }
    }

    private func halfOpen(_ faults: ProxyFaults, _ report: FaultReport) async throws {
        let server = try await LocalSSHD()
        let proxy = try FaultProxy(target: server.port)
        defer { proxy.stop() }
        try await FaultRig.run(server, proxy: proxy) { rig in
            try await rig.until(server.id, "online")
            let fault = ContinuousClock.now
            proxy.set(faults)
            let late = try await rig.until(server.id, "checking", after: fault)
            let lost = try await rig.until(server.id, "reconnecting", after: fault)
            proxy.set(.none)
            let error = try await rig.error(of: server.id)
            let online = try await rig.until(server.id, "online", after: lost)
            report.saw("checking after", late - fault)
            report.saw("dropped after", lost - fault)
            report.saw("online after", online - lost)
            report.require(error.code == "timeout.probe", "the error is \(error.code): \(error.message)")
            report.require(lost - fault <= .seconds(15.5), "dropped late")
            report.require(proxy.connectionCount == 2, "\(proxy.connectionCount) connections")
            // What was left half open is let go: only the new connection is there.
            report.require(proxy.openConnectionCount == 1, "\(proxy.openConnectionCount) connections open")
        }
    }

    @Test func `row 6: half-open that heals at 8 s`() async {
        await FaultReport.row(6) { report in
            let server = try await LocalSSHD()
            let proxy = try FaultProxy(target: server.port)
            defer { proxy.stop() }
            try await FaultRig.run(server, proxy: proxy) { rig in
                try await rig.until(server.id, "online")
                try await rig.untilLook(at: server.id, after: .now)
                let fault = ContinuousClock.now
                proxy.set(.stall)
                try await leaveAlone(for: .seconds(8))
                proxy.set(.none)
                let healed = ContinuousClock.now
                try await rig.untilLook(at: server.id, after: healed)
                report.saw("looked at after", .now - healed)
                try await leaveAlone(for: .seconds(3))
                let conditions = rig.conditions(of: server.id, since: fault)
                report.saw("then \(conditions.isEmpty ? "online" : conditions.joined(separator: " "))")
                report.saw("\(proxy.connectionCount - 1) new connections")
                report.require(!conditions.contains("reconnecting"), "the link was dropped")
                report.require(proxy.connectionCount == 1, "a new connection")
            }
        }
    }

    @Test func `row 7: half-open that heals at 20 s`() async {
        await FaultReport.row(7) { report in
            let server = try await LocalSSHD()
            let proxy = try FaultProxy(target: server.port)
            defer { proxy.stop() }
            try await FaultRig.run(server, proxy: proxy) { rig in
                try await rig.until(server.id, "online")
                let fault = ContinuousClock.now
                proxy.set(.stall)
                let lost = try await rig.until(server.id, "reconnecting", after: fault)
                try await ContinuousClock().sleep(until: fault + .seconds(20))
                let looks = rig.looks(at: server.id, since: fault)
                proxy.set(.none)
                let healed = ContinuousClock.now
                let online = try await rig.until(server.id, "online", after: healed)
                report.saw("dropped after", lost - fault)
                report.saw("online", online - healed)
                report.saw("\(proxy.connectionCount - 1) new connections")
                report.require(lost - fault <= .seconds(15.5), "dropped late")
                report.require(looks == 0, "an old result was shown")
                report.require(proxy.connectionCount == 2, "\(proxy.connectionCount) connections")
            }
        }
    }
}
