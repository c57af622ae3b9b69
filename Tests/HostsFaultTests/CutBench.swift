import HostsModel
import HostsSSH
import HostsTestSupport

/// Logs in, looks once and is cut somewhere on the way, again and again, on several connections at a time.
final class CutBench: Sendable {
    /// How many connections there are at a time.
    private static let lanes = 6

    private struct Lane: Sendable {
        let server: LocalSSHD
        let proxy: FaultProxy
        let factory: LinkFactory
    }

    private let lanes: [Lane]

    /// Starts a server and a proxy for each lane.
    init() async throws {
        var lanes: [Lane] = []
        for _ in 0..<Self.lanes {
            let server = try await LocalSSHD()
            let proxy = try FaultProxy(target: server.port)
            try server.lead(through: proxy)
            // What is tested begins with the connection: what `ssh -G` says is read from a file.
            let facts = try await Tool.run("ssh", ["-G", "-F", server.configFile, server.options.name])
            try server.folder.write("facts", facts)
            let program = try server.folder.write(
                "ssh", "#!/bin/sh\nexec cat \(server.folder.path("facts"))\n", mode: 0o700)
            let factory = FaultRig.factory(config: server.configFile) { $0.sshProgram = program }
            lanes.append(Lane(server: server, proxy: proxy, factory: factory))
        }
        self.lanes = lanes
    }

    /// What the servers have printed, which the fixture keeps in this process.
    var logKibibytes: Int {
        lanes.reduce(0) { $0 + $1.server.log.lines.reduce(0) { $0 + $1.utf8.count } } / 1024
    }

    func stop() {
        for lane in lanes { lane.proxy.stop() }
    }

    /// How many bytes a login and a look are, each way.
    func measure() async throws -> FaultProxy.Traffic {
        let lane = lanes[0]
        lane.proxy.set(.none)
        if let error = await lane.factory.failure(of: lane.server.record) { throw error }
        // The last bytes are on their way while the link closes.
        let deadline = ContinuousClock.now + .seconds(5)
        while lane.proxy.openConnectionCount > 0, .now < deadline {
            try await leaveAlone(for: .milliseconds(10))
        }
        return lane.proxy.traffic
    }

    /// Runs all cuts.
    func run(_ cuts: [ProxyFaults.Cut]) async throws -> CutOutcomes {
        let next = Locked(0)
        return await withTaskGroup(of: CutOutcomes.self) { group in
            for lane in lanes {
                group.addTask {
                    var outcomes = CutOutcomes()
                    while true {
                        let index = next.withLock { next in
                            defer { next += 1 }
                            return next
                        }
                        guard index < cuts.count else { return outcomes }
                        var faults = ProxyFaults.none
                        faults.cut = cuts[index]
                        lane.proxy.set(faults)
                        var error: LinkError?
                        let took = await measured { error = await Self.attempt(lane) }
                        outcomes.note(cuts[index], error, took)
                    }
                }
            }
            return await group.reduce(into: CutOutcomes()) { $0.merge($1) }
        }
    }

    /// One login and one look; the link is closed when this returns.
    private static func attempt(_ lane: Lane) async -> LinkError? {
        let link: any ProbeLink
        do throws(LinkError) {
            link = try await lane.factory.connect(to: lane.server.record, token: 1)
        } catch {
            return error
        }
        var failure: LinkError?
        do throws(LinkError) {
            let reply = try await link.ask("look")
            if !reply.hasPrefix("look ") || !reply.hasSuffix("\n") { failure = .badReply(detail: reply) }
        } catch {
            failure = error
        }
        link.close(.superseded)
        _ = await link.untilClosed()
        return failure
    }
}

/// What came of many cuts.
struct CutOutcomes: Sendable, CustomStringConvertible {
    private var codes: [String: Int] = [:]
    private var slowest: (took: Duration, text: String) = (.zero, "")
    private var count = 0
    /// How many took more than a second.
    private var late = 0
    /// Cuts that ended in another state than "try again".
    private var wrong: [String] = []

    mutating func note(_ cut: ProxyFaults.Cut, _ error: LinkError?, _ took: Duration) {
        let text = "\(cut.ending) after \(cut.bytes) \(cut.counted): \(error?.message ?? "a whole reply")"
        codes[Self.word(error), default: 0] += 1
        count += 1
        if took > .seconds(1) { late += 1 }
        if took > slowest.took { slowest = (took, text) }
        if let error, error.disposition != .retry { wrong.append(text) }
    }

    private static func word(_ error: LinkError?) -> String {
        guard case .closedByPeer(let stage, _) = error else { return error?.code ?? "whole" }
        return "closed in \(stage.rawValue)"
    }

    mutating func merge(_ other: CutOutcomes) {
        codes.merge(other.codes, uniquingKeysWith: +)
        wrong += other.wrong
        count += other.count
        late += other.late
        if other.slowest.took > slowest.took { slowest = other.slowest }
    }

    var description: String {
        codes.sorted { $0.value > $1.value }.map { "\($0.value) \($0.key)" }.joined(separator: ", ")
            + ", slowest \(slowest.took.short)"
    }

    func judge(_ report: FaultReport) {
        report.require(
            wrong.isEmpty, "\(wrong.count) wrong ends, such as \(wrong.prefix(3).joined(separator: "; "))")
        // Six at a time on two cores: now and then one has to wait for the others.
        report.require(late * 200 <= count, "\(late) of \(count) took more than a second")
        report.require(slowest.took <= .seconds(5), "the slowest is \(slowest.text)")
        report.require(codes["probe.bad-reply"] == nil, "half a reply was taken for a whole one")
    }
}
