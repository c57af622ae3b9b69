import HostsConfig
import HostsLog
import HostsModel
import HostsTestSupport
import Testing

@testable import HostsDaemon

@Suite(.timeLimit(.minutes(1))) struct ConfigurationKeeperTests {
    /// A keeper of a folder on disk, in a time that is moved by hand.
    private struct Rig: Sendable {
        let folder: TemporaryFolder
        let clock = ManualClock()
        let logs = LogCenter(sinks: [], clock: FixedWallClock())
        let keeper: ConfigurationKeeper
        let inForce = InForce()

        init() throws {
            folder = try TemporaryFolder()
            try folder.makeFolder("hosts.d")
            let inForce = inForce
            keeper = ConfigurationKeeper(
                reader: ConfigurationReader(directory: folder.path), clock: clock, log: logs.log(.config),
                putInForce: { await inForce.put($0) }, tell: { await inForce.tell($0) })
        }

        func write(_ host: String, _ text: String) throws { try folder.write("hosts.d/\(host).toml", text) }

        /// Runs the keeper while `body` runs.
        func run(_ body: () async throws -> Void) async throws {
            let (changes, _) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { await keeper.run(reload: { await keeper.reload() }, changes: changes) }
                try await body()
                group.cancelAll()
            }
        }

        var events: [String] { logs.records().map(\.event) }
    }

    /// Remembers what was put in force, takes its time over it, and tells when two are put at once.
    private actor InForce {
        private(set) var labels: [[String]] = []
        private(set) var faults: [ConfigurationKeeper.Fault] = []
        private(set) var mostAtOnce = 0
        private var running = 0
        private var watchers: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []

        func tell(_ fault: ConfigurationKeeper.Fault) { faults.append(fault) }

        func put(_ configuration: Configuration) async {
            running += 1
            mostAtOnce = max(mostAtOnce, running)
            for _ in 0..<5 { await Task.yield() }
            labels.append(configuration.records.values.map(\.label).sorted())
            running -= 1
            for watcher in watchers where watcher.count <= labels.count { watcher.continuation.resume() }
            watchers.removeAll { $0.count <= labels.count }
        }

        /// Waits until so many configurations have been put in force.
        func until(count: Int) async {
            guard labels.count < count else { return }
            await withCheckedContinuation { watchers.append((count, $0)) }
        }
    }

    private let dev: HostID
    private let gpu: HostID

    init() throws {
        dev = try #require(HostID(rawValue: "dev"))
        gpu = try #require(HostID(rawValue: "gpu"))
    }

    @Test func `a reload tells what was added, changed and removed`() async throws {
        let rig = try Rig()
        try rig.write("dev", "ssh = 'a'")
        let first = await rig.keeper.reload()
        #expect(first.added == [dev])
        try rig.write("dev", "ssh = 'b'")
        try rig.write("gpu", "ssh = 'g'")
        let second = await rig.keeper.reload()
        #expect(second.added == [gpu])
        #expect(second.changed == [dev])
        #expect(second.removed == [])
        #expect(second.configuration.records[dev]?.destination == "b")
    }

    @Test func `the first configuration is put in force, the same one not again`() async throws {
        let rig = try Rig()
        try rig.write("dev", "ssh = 'a'")
        await rig.keeper.reload()
        await rig.keeper.reload()
        #expect(await rig.inForce.labels == [["dev"]])
    }

    @Test func `a bad file keeps the last good record, is told once, and its mending too`() async throws {
        let rig = try Rig()
        try rig.write("dev", "ssh = 'a'\nlabel = 'good'")
        try rig.write("gpu", "ssh = 'g'\nlabel = 'other'")
        await rig.keeper.reload()
        try rig.write("dev", "ssh = ")
        let change = await rig.keeper.reload()
        await rig.keeper.reload()
        #expect(change.changed == [])
        #expect(change.removed == [])
        #expect(await rig.keeper.current.records[dev]?.label == "good")
        #expect(await rig.keeper.diagnostics(about: dev).map(\.severity) == [.error])
        #expect(await rig.keeper.diagnostics(about: gpu) == [])
        #expect(rig.events == ["config.diagnostic"])
        #expect(await rig.inForce.faults.map(\.host) == [dev])
        try rig.write("dev", "ssh = 'a'\nlabel = 'better'")
        let mended = await rig.keeper.reload()
        #expect(mended.changed == [dev])
        #expect(await rig.keeper.diagnostics == [])
        #expect(rig.events == ["config.diagnostic", "config.mended"])
    }

    @Test func `a file that was never good is told and gives no host`() async throws {
        let rig = try Rig()
        try rig.write("dev", "shh = 'a'")
        let change = await rig.keeper.reload()
        #expect(change.added == [])
        #expect(await rig.keeper.current.bad[dev] != nil)
    }

    @Test func `faults of the rules stand until the rules are read again`() async throws {
        let rig = try Rig()
        let fault = Diagnostic.error(at: SourceLocation(file: "/r/a.toml", line: 1, column: 1), "wrong")
        await rig.keeper.reload(ruleFaults: [fault])
        await rig.keeper.reload()
        #expect(await rig.keeper.diagnostics == [fault])
        await rig.keeper.reload(ruleFaults: [])
        #expect(await rig.keeper.diagnostics == [])
    }

    @Test func `a file that vanishes counts as gone only when it stayed away`() async throws {
        let rig = try Rig()
        try rig.write("dev", "ssh = 'a'")
        try rig.write("gpu", "ssh = 'g'")
        await rig.keeper.reload()
        try await rig.run {
            try rig.folder.remove("hosts.d/dev.toml")
            let change = await rig.keeper.reload()
            #expect(change.removed == [])
            await rig.clock.untilSleeping()
            #expect(rig.clock.nextDeadline == rig.clock.now.advanced(by: RecordPresence.grace))
            rig.clock.advance(by: RecordPresence.grace)
            await rig.inForce.until(count: 2)
        }
        #expect(await rig.inForce.labels == [["dev", "gpu"], ["gpu"]])
        #expect(await rig.keeper.current.records.keys.sorted() == [gpu])
    }

    @Test func `a file that comes back in time was never gone`() async throws {
        let rig = try Rig()
        try rig.write("dev", "ssh = 'a'\nlabel = 'dev'")
        await rig.keeper.reload()
        try await rig.run {
            try rig.folder.remove("hosts.d/dev.toml")
            await rig.keeper.reload()
            await rig.clock.untilSleeping()
            try rig.write("dev", "ssh = 'a'\nlabel = 'dev'")
            let change = await rig.keeper.reload()
            #expect(change.changed == [])
            rig.clock.advance(by: RecordPresence.grace)
            try rig.write("dev", "ssh = 'a'\nlabel = 'new'")
            await rig.keeper.reload()
        }
        #expect(await rig.inForce.labels == [["dev"], ["new"]])
    }

    @Test(arguments: 0..<50)
    func `reloads at the same time follow each other, and the last look is in force`(round: Int) async throws
    {
        let rig = try Rig()
        await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<8 {
                group.addTask {
                    try rig.write("dev", "ssh = 'a'\nlabel = '\(number)'")
                    await rig.keeper.reload()
                }
            }
        }
        let label = try #require(await rig.keeper.current.records[dev]?.label)
        #expect(try rig.folder.read("hosts.d/dev.toml").hasSuffix("label = '\(label)'"))
        #expect(await rig.inForce.labels.last == [label])
        #expect(await rig.inForce.mostAtOnce == 1)
    }
}
