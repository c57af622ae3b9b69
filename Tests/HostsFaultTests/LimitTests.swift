import HostsModel
import HostsSSH
import HostsTestSupport
import Testing

/// Servers that let in few connections, or for a short time; side by side, as they mostly wait.
@Suite(.timeLimit(.minutes(5))) struct LimitTests {
    @Test func `row 36: refused for a while (penalty)`() async {
        await FaultReport.row(36) { report in
            let server = try await LocalSSHD()
            let busy = try ScriptedServer(greeting: "Not allowed at this time\r\n", closesAfterwards: true)
            defer { busy.stop() }
            try server.writeConfig(port: busy.port)
            try await FaultRig.run([server.record], config: server.configFile) { rig in
                let first = try await rig.until(server.id, "limited")
                try await leaveAlone(for: .seconds(55))
                report.saw("\(busy.connectionCount) dial in 55 s")
                report.require(busy.connectionCount == 1, "\(busy.connectionCount) dials in the first minute")
                let dialled = try await rig.until(server.id, "connecting", after: first)
                try await rig.until(server.id, "limited", after: dialled)
                report.saw("again after", dialled - first)
                report.require(dialled - first >= .seconds(59.5), "dialled early")
                guard case .limited(let until, _) = try await rig.condition(of: server.id) else {
                    return report.require(false, "not limited")
                }
                let pause = until.duration(since: FixedWallClock().now)
                report.saw("then", pause)
                report.require(pause >= .seconds(119), "the pause does not double")
            }
        }
    }

    @Test func `row 37: MaxStartups 3, 30 hosts behind it`() async {
        await FaultReport.row(37) { report in
            var options = LocalSSHD.Options()
            options.configuration = ["MaxStartups 3"]
            let server = try await LocalSSHD(options)
            let names = (1...30).map { "host\($0)" }
            let text = try server.folder.read("ssh_config")
                .replacing("Host \(options.name)\n", with: "Host \(names.joined(separator: " "))\n")
            let config = try server.folder.write("fleet_config", text)
            let records = try names.map { name in
                guard let id = HostID(rawValue: name) else { throw FixtureError("\(name) is no host name") }
                return HostRecord(id: id, destination: name)
            }
            try await FaultRig.run(records, config: config) { rig in
                var last = rig.start
                var missing = 0
                for record in records {
                    let left = max(.seconds(1), .seconds(40) - (.now - rig.start))
                    do { last = max(last, try await rig.until(record.id, "online", within: left)) } catch {
                        missing += 1
                    }
                }
                let peak = Self.peakOfUnauthenticated(server.log.lines)
                let drops = records.count { record in
                    let words = rig.conditions(of: record.id, since: rig.start)
                    return words.contains { !["connecting", "online", "checking"].contains($0) }
                }
                report.saw("\(30 - missing) online")
                report.saw("after", last - rig.start)
                report.saw("\(peak) unauthenticated at once")
                report.saw("\(drops) hosts shown as down")
                report.require(missing == 0, "hosts are missing")
                report.require(last - rig.start <= .seconds(30), "it takes too long")
                report.require(peak <= 4, "too many connections at once")
                report.require(drops == 0, "hosts are shown as down")
            }
        }
    }

    /// The most connections that were open and not logged in, by the server's log.
    private static func peakOfUnauthenticated(_ lines: [String]) -> Int {
        var open: Set<Substring> = []
        var peak = 0
        for line in lines {
            guard let range = line.firstRange(of: " port ") else { continue }
            let port = line[range.upperBound...].prefix { $0.isNumber }
            if line.hasPrefix("Connection from") {
                open.insert(port)
                peak = max(peak, open.count)
            } else {
                // It was accepted, or it ended.
                open.remove(port)
            }
        }
        return peak
    }

    @Test func `row 38: MaxSessions 1`() async {
        await FaultReport.row(38) { report in
            var options = LocalSSHD.Options()
            options.configuration = ["MaxSessions 1"]
            let server = try await LocalSSHD(options)
            let proxy = try FaultProxy(target: server.port)
            defer { proxy.stop() }
            var connections = 0
            for mode in ["auto", "exec"] {
                let links: (inout LinkSettings) -> Void = { $0.probeMode = mode == "exec" ? .exec : .auto }
                try await FaultRig.run(server, proxy: proxy, interval: .seconds(1), links: links) { rig in
                    let online = try await rig.until(server.id, "online")
                    try await leaveAlone(for: .seconds(6))
                    let conditions = rig.conditions(of: server.id, since: online).dropFirst()
                    report.saw("\(mode): \(rig.looks(at: server.id, since: online)) looks")
                    report.require(conditions.isEmpty, "\(mode): \(conditions.joined(separator: " "))")
                    report.saw("\(proxy.connectionCount - connections) connection")
                    report.require(
                        proxy.connectionCount - connections == 1, "\(mode): more than one connection")
                    connections = proxy.connectionCount
                }
            }
            options.configuration = ["MaxSessions 0"]
            let closed = try await LocalSSHD(options)
            let error = await FaultRig.factory(config: closed.configFile).failure(of: closed.record)
            report.saw("MaxSessions 0: \(error?.code ?? "online")")
            report.require(error?.disposition == .unsupported, error?.message ?? "it logged in")
        }
    }

    @Test func `row 39: UnusedConnectionTimeout 4, ClientAlive 1x2`() async {
        await FaultReport.row(39) { report in
            let kinds = [
                ("unused", ["UnusedConnectionTimeout 4"]),
                ("alive", ["ClientAliveInterval 1", "ClientAliveCountMax 2"]),
            ]
            var servers: [LocalSSHD] = []
            for (name, lines) in kinds {
                var options = LocalSSHD.Options()
                options.name = name
                options.configuration = lines
                servers.append(try await LocalSSHD(options))
            }
            let folder = try TemporaryFolder()
            let config = try folder.write(
                "ssh_config", servers.map { "Include \($0.configFile)\n" }.joined())
            try await FaultRig.run(servers.map(\.record), config: config) { rig in
                for server in servers { try await rig.until(server.id, "online") }
                try await leaveAlone(for: .seconds(30))
                for server in servers {
                    let conditions = rig.conditions(of: server.id, since: rig.start)
                    let logins = server.log.count(of: "Accepted publickey")
                    report.saw(
                        "\(server.options.name): \(rig.looks(at: server.id, since: rig.start)) looks, \(logins) login"
                    )
                    report.require(logins == 1, "\(server.options.name): \(logins) logins")
                    report.require(!conditions.contains("reconnecting"), "\(server.options.name) was dropped")
                }
            }
        }
    }
}
