import BenchReport
import Glibc
import HostsLog
import HostsModel
import HostsSSH
import HostsTestSupport

/// Links over libssh2 to one server, in this process.
struct LinkBenchmark {
    /// A look of the length that one without agents has.
    private static let program = ShellProgram(
        definitions: "look() { echo 0123456789012345678901234567890123456789; }")

    let server: LocalSSHD
    let sizes: Sizes

    func run() async throws -> [Row] {
        let loop = try EventLoop()
        var settings = LinkSettings(environment: Tool.environment, homeDirectory: "/nonexistent")
        settings.configFile = server.configFile
        let log = LogCenter(sinks: [], clock: FixedWallClock()).log(.ssh)
        let factory = LinkFactory(
            resources: LinkResources(loop: loop), settings: settings, program: Self.program, log: log)
        // What is made once, whatever the number of links: threads, tables, the library's own state.
        var links = try await connect(factory, count: 10)
        try await look(links, count: 100)
        let before = Usage.now
        links += try await connect(factory, count: sizes.hosts)
        let opened = Usage.now
        try await look(links, count: links.count * 5)
        let idle = Usage.now
        let connectCPU = (opened.cpu - before.cpu) / sizes.hosts
        let memory = Double(idle.privateBytes - before.privateBytes) / Double(sizes.hosts) / 1024
        let alone = try await Cost.of(sizes.looks) {
            try await OnLoop(loop: loop).look(links, count: sizes.looks)
        }
        let called = try await Cost.of(sizes.looks) { try await look(links, count: sizes.looks) }
        for link in links { link.close(.daemonStopping) }
        return [
            Row(
                "link: private memory of an idle host", String(format: memory, "KiB"), budget: "100 KiB",
                isMet: memory <= 100),
            Row(
                "link: client CPU of a look", alone.cpu.milliseconds, budget: "0.05 ms",
                isMet: alone.cpu <= .microseconds(50)),
            Row(
                "link: wake-ups of a look", String(format: alone.wakeUps, ""), budget: "1",
                isMet: alone.wakeUps < 1.5),
            Row("link: wall time of a look", alone.wall.milliseconds),
            Row("link: client CPU of a look, asked from another thread", called.cpu.milliseconds),
            Row("link: wake-ups of a look, asked from another thread", String(format: called.wakeUps, "")),
            Row("link: client CPU of a login", connectCPU.milliseconds),
        ]
    }

    private func connect(_ factory: LinkFactory, count: Int) async throws -> [any ProbeLink] {
        var links: [any ProbeLink] = []
        for token in 1...count { links.append(try await factory.connect(to: server.record, token: token)) }
        return links
    }

    /// One look after another, each on the next link.
    private func look(_ links: [any ProbeLink], count: Int) async throws {
        try await Looker.look(links, count: count)
    }
}

/// Asks on the event loop itself, so that the link alone is measured and not the way there and back.
private actor OnLoop {
    private nonisolated let loop: EventLoop

    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    init(loop: EventLoop) {
        self.loop = loop
    }

    func look(_ links: [any ProbeLink], count: Int) async throws {
        try await Looker.look(links, count: count)
    }
}

private enum Looker {
    static func look(_ links: [any ProbeLink], count: Int) async throws {
        let request = ProbeRequest(function: "look", arguments: [])
        for index in 0..<count {
            let reply = try await links[index % links.count].probe(request, until: .now + .seconds(60))
            guard reply.status == 0 else { throw FixtureError("a look failed") }
        }
    }
}
