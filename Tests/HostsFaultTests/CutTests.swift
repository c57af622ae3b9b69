import HostsModel
import HostsSSH
import HostsTestSupport
import Testing

/// Connections that are cut or damaged at every place; most of the time of the suite.
@Suite(.serialized, .timeLimit(.minutes(5))) struct CutTests {
    @Test func `row 16: cut at every byte of login and probe`() async {
        // In a process of its own, where no other row opens descriptors.
        await #expect(processExitsWith: .success) {
            await FaultReport.row(16) { report in
                let bench = try await CutBench()
                let whole = try await bench.measure()
                var cuts = (0...whole.toServer).map { ProxyFaults.Cut(.finish, after: $0, .toServer) }
                cuts += (0...whole.toClient).map { ProxyFaults.Cut(.finish, after: $0, .toClient) }
                _ = try await bench.run(Array(cuts.shuffled().prefix(50)))
                let before = try await ProcessFigures.settledDescriptors()
                var outcomes = CutOutcomes()
                let took = try await measured { outcomes = try await bench.run(cuts) }
                let after = try await ProcessFigures.settledDescriptors()
                report.saw("\(cuts.count) cuts")
                report.saw("in", took)
                report.saw(outcomes.description)
                report.saw("\(after - before) descriptors left")
                report.require(after == before, "descriptors: \(before) before, \(after) after")
                outcomes.judge(report)
                bench.stop()
            }
        }
    }

    @Test func `row 51: 1,000 cuts at random bytes`() async {
        await #expect(processExitsWith: .success) {
            await FaultReport.row(51) { report in
                let bench = try await CutBench()
                let whole = try await bench.measure()
                var random = SeededGenerator(seed: 51)
                let cuts = (0..<1200).map { _ in
                    let way: ProxyFaults.Counted = Bool.random(using: &random) ? .toServer : .toClient
                    let limit = way == .toServer ? whole.toServer : whole.toClient
                    return ProxyFaults.Cut(
                        Bool.random(using: &random) ? .reset : .finish,
                        after: Int.random(in: 0...limit, using: &random), way)
                }
                _ = try await bench.run(Array(cuts.prefix(200)))
                let descriptors = try await ProcessFigures.settledDescriptors()
                let memory = try ProcessFigures.residentKibibytes
                let log = bench.logKibibytes
                let outcomes = try await bench.run(Array(cuts.dropFirst(200)))
                let left = try await ProcessFigures.settledDescriptors() - descriptors
                let grown = try ProcessFigures.residentKibibytes - memory
                report.saw(outcomes.description)
                report.saw("\(left) descriptors left")
                report.saw(
                    "\(grown) KiB grown from \(memory) KiB, with \(bench.logKibibytes - log) KiB of log")
                report.require(left == 0, "descriptors are left")
                report.require(grown <= 1024, "memory is not flat")
                outcomes.judge(report)
                bench.stop()
            }
        }
    }

    @Test func `row 17: bit flip in a packet`() async {
        await FaultReport.row(17) { report in
            let server = try await LocalSSHD()
            let proxy = try FaultProxy(target: server.port)
            defer { proxy.stop() }
            try await FaultRig.run(server, proxy: proxy, interval: .seconds(1)) { rig in
                for isToClient in [true, false] {
                    let begin = ContinuousClock.now
                    try await rig.until(server.id, "online", after: begin - .seconds(20))
                    try await rig.untilLook(at: server.id, after: begin)
                    let fault = ContinuousClock.now
                    var faults = ProxyFaults.none
                    // Behind the length of the packet, which is its first four bytes.
                    let flip = ProxyFaults.Flip(byte: 20, bit: 3)
                    if isToClient { faults.toClient.flip = flip } else { faults.toServer.flip = flip }
                    proxy.set(faults)
                    let lost = try await rig.until(server.id, "reconnecting", after: fault)
                    let error = try await rig.error(of: server.id)
                    report.saw("\(isToClient ? "to client" : "to server"): \(error.code)", lost - fault)
                    report.require(lost - fault <= .seconds(2), "later than 1 s after the look")
                    report.require(rig.looks(at: server.id, since: fault) == 0, "data was accepted")
                    report.require(error.disposition == .retry, error.message)
                    proxy.set(.none)
                    try await rig.until(server.id, "online", after: lost)
                }
            }
            // The first packets: a damaged length may make the link wait for the deadline.
            let factory = FaultRig.factory(config: server.configFile)
            var codes: [String: Int] = [:]
            for byte in 0..<96 {
                proxy.set(.none)
                let link = try await factory.connect(to: server.record, token: byte)
                var faults = ProxyFaults.none
                faults.toClient.flip = ProxyFaults.Flip(byte: byte, bit: byte % 8)
                proxy.set(faults)
                do throws(LinkError) {
                    _ = try await link.ask("look", within: .milliseconds(500))
                    report.require(false, "byte \(byte) was accepted")
                } catch {
                    codes[error.code, default: 0] += 1
                    report.require(error.disposition == .retry, "byte \(byte): \(error.message)")
                }
                link.close(.superseded)
            }
            report.saw(
                "96 places: \(codes.sorted { $0.key < $1.key }.map { "\($1) \($0)" }.joined(separator: ", "))"
            )
            report.require(
                codes["timeout.probe", default: 0] <= 12, "most damages are seen at the deadline only")
        }
    }
}
