import HostsModel
import HostsTestSupport
import Testing

/// Hosts that are reached by way of a program or of another host.
@Suite(.serialized, .timeLimit(.minutes(5))) struct RouteTests {
    @Test func `row 46: ProxyCommand dies, hangs, complains`() async {
        await FaultReport.row(46) { report in
            let server = try await LocalSSHD()
            let relay = try server.folder.write(
                "relay",
                """
                #!/usr/bin/python3
                import os, select, socket
                open("\(server.folder.path("relay.pid"))", "w").write(str(os.getpid()))
                server = socket.create_connection(("127.0.0.1", \(server.port)))
                while True:
                    ready = select.select([0, server], [], [])[0]
                    if 0 in ready:
                        data = os.read(0, 65536)
                        if not data: break
                        server.sendall(data)
                    if server in ready:
                        data = server.recv(65536)
                        if not data: break
                        os.write(1, data)
                """, mode: 0o700)
            try server.folder.write(
                "broken", "#!/bin/sh\necho 'no route to the moon' >&2\nexit 1\n", mode: 0o700)

            // Dies at once, with its reason on standard error.
            try server.writeConfig(lines: ["ProxyCommand \(server.folder.path("broken"))"])
            let factory = FaultRig.factory(config: server.configFile)
            let broken = await factory.failure(of: server.record)
            report.saw("dies: \(broken?.code ?? "online")")
            report.require(broken?.disposition == .retry, broken?.message ?? "online")
            report.require(
                broken?.message.contains("no route to the moon") == true, broken?.message ?? "online")

            // Says nothing.
            try server.writeConfig(lines: ["ProxyCommand sleep 1000"])
            var hung: LinkError?
            let took = await measured { hung = await factory.failure(of: server.record) }
            report.saw("hangs: \(hung?.code ?? "online")", took)
            report.require(hung?.disposition == .retry, hung?.message ?? "online")
            report.require(took <= .seconds(16), "a program that hangs is waited for too long")

            // Works, then dies.
            try server.writeConfig(lines: ["ProxyCommand \(relay)"])
            try await FaultRig.run([server.record], config: server.configFile) { rig in
                try await rig.until(server.id, "online")
                let fault = ContinuousClock.now
                let pid = try server.folder.read("relay.pid").filter(\.isNumber)
                try await Tool.run("kill", ["-9", pid])
                let lost = try await rig.until(server.id, "reconnecting", after: fault)
                report.saw("killed: seen after", lost - fault)
                report.require(lost - fault <= .seconds(1) + FaultReport.slack, "its end is seen late")
                try await rig.until(server.id, "online", after: lost)
            }
            try await leaveAlone(for: .seconds(1))
            let zombies = try ProcessFigures.zombies
            report.saw("\(zombies) zombies")
            report.require(zombies == 0, "zombies are left")
        }
    }

    @Test func `row 47: bastion down, 20 hosts behind`() async {
        await FaultReport.row(47) { report in
            let server = try await LocalSSHD()
            let bastion = try FaultProxy(target: server.port)
            defer { bastion.stop() }
            let names = (1...20).map { "inner\($0)" }
            let own = try server.folder.read("ssh_config")
            let text = """
                Host \(names.joined(separator: " "))
                    ProxyJump bastion
                    HostName 192.0.2.1
                    IdentityFile \(server.identityFile)
                    IdentityAgent none
                    UserKnownHostsFile /dev/null
                    GlobalKnownHostsFile /dev/null
                Host bastion
                    Port \(bastion.port)
                \(own.replacing("Host \(server.options.name)\n", with: "Host bastion\n"))
                """
            let config = try server.folder.write("fleet_config", text)
            let records = try names.map { name in
                guard let id = HostID(rawValue: name) else { throw FixtureError("\(name) is no host name") }
                return HostRecord(id: id, destination: name)
            }
            // Nobody listens.
            bastion.set(.admission(.refuse))
            try await FaultRig.run(records, config: config) { rig in
                var messages: Set<String> = []
                for record in records {
                    try await rig.until(record.id, "reconnecting", "unsupported", "dormant")
                    let error = try await rig.error(of: record.id)
                    report.require(error.code == "jump.connect.refused", error.message)
                    messages.insert(error.message)
                }
                report.saw("refused: \(messages.count) cause")
                report.require(messages.count == 1, "several causes: \(messages.sorted().prefix(3))")
                // It accepts and stays silent.
                bastion.set(.admission(.silent))
                var peak = 0
                for _ in 0..<400 {
                    peak = max(peak, bastion.openConnectionCount)
                    try await leaveAlone(for: .milliseconds(50))
                }
                report.saw("silent: \(peak) dials at a time")
                report.require(peak > 0 && peak <= 4, "\(peak) dials at a time")
            }
        }
    }
}
