import FoundationEssentials
import HostsLog
import HostsModel
import HostsTestSupport
import Testing

@testable import HostsSystem

/// What the kernel sends, put together by hand: rtnetlink(7) on a machine with little-endian numbers.
private enum Message {
    static let sequence: UInt32 = 7

    static func bytes(_ type: UInt16, _ body: [UInt8], flags: UInt16 = 2, sequence: UInt32 = sequence)
        -> [UInt8]
    {
        little(UInt32(16 + body.count)) + little(type) + little(flags) + little(sequence) + little(UInt32(0))
            + padded(body)
    }

    static func link(_ index: UInt32, flags: UInt32 = 0x1 | 0x40) -> [UInt8] {
        bytes(16, [0, 0] + little(UInt16(1)) + little(index) + little(flags) + little(UInt32(0)))
    }

    static func address(_ address: [UInt8], on index: UInt32, prefix: UInt8 = 24, flags: UInt32 = 0)
        -> [UInt8]
    {
        let family: UInt8 = address.count == 4 ? 2 : 10
        return bytes(
            20,
            [family, prefix, 0, 0] + little(index) + attribute(1, address)
                + (family == 2 ? attribute(2, address) : []) + attribute(8, little(flags)))
    }

    /// A route; the default one for an empty destination.
    static func route(
        _ destination: [UInt8] = [], prefix: UInt8 = 0, family: UInt8 = 2, over index: UInt32,
        type: UInt8 = 1,
        table: UInt8 = 254, flags: UInt32 = 0, gateway: [UInt8] = []
    ) -> [UInt8] {
        bytes(
            24,
            [family, prefix, 0, 0, table, 3, 0, type] + little(flags)
                + (destination.isEmpty ? [] : attribute(1, destination)) + attribute(4, little(index))
                + (gateway.isEmpty ? [] : attribute(5, gateway)))
    }

    static func multipath(over indices: [UInt32]) -> [UInt8] {
        var hops: [UInt8] = []
        for index in indices { hops += little(UInt16(8)) + [0, 0] + little(index) }
        return bytes(24, [2, 0, 0, 0, 254, 3, 0, 1] + little(UInt32(0)) + attribute(9, hops))
    }

    static let done = bytes(3, little(UInt32(0)))

    private static func attribute(_ type: UInt16, _ value: [UInt8]) -> [UInt8] {
        padded(little(UInt16(4 + value.count)) + little(type) + value)
    }

    private static func padded(_ bytes: [UInt8]) -> [UInt8] {
        bytes + Array(repeating: 0, count: (4 - bytes.count % 4) % 4)
    }

    static func little<Number: FixedWidthInteger>(_ number: Number) -> [UInt8] {
        (0..<(Number.bitWidth / 8)).map { UInt8(truncatingIfNeeded: number >> Number($0 * 8)) }
    }
}

private func state(_ messages: [[UInt8]]) -> NetworkState {
    var table = RouteTable()
    for message in messages { _ = table.take(message, sequence: Message.sequence) }
    return table.state
}

private let global4: [UInt8] = [192, 0, 2, 7]
private let global6: [UInt8] = [0x20, 0x01, 0x0d, 0xb8] + Array(repeating: 0, count: 11) + [7]
private let near6: [UInt8] = [0xfe, 0x80] + Array(repeating: 0, count: 13) + [7]

@Suite struct RouteTableTests {
    private struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let messages: [[UInt8]]
        let hasRoute: Bool

        init(_ name: String, _ messages: [[UInt8]], hasRoute: Bool) {
            testDescription = name
            self.messages = messages
            self.hasRoute = hasRoute
        }
    }

    @Test(arguments: [
        Case("nothing", [], hasRoute: false),
        Case(
            "a line that is up, an address and a default route",
            [Message.link(2), Message.address(global4, on: 2), Message.route(over: 2)], hasRoute: true),
        Case(
            "the same with IPv6",
            [Message.link(2), Message.address(global6, on: 2), Message.route(family: 10, over: 2)],
            hasRoute: true),
        Case(
            "an address of the other version",
            [Message.link(2), Message.address(global4, on: 2), Message.route(family: 10, over: 2)],
            hasRoute: false),
        Case("no address", [Message.link(2), Message.route(over: 2)], hasRoute: false),
        Case("no route", [Message.link(2), Message.address(global4, on: 2)], hasRoute: false),
        Case(
            "a route to one network only",
            [
                Message.link(2), Message.address(global4, on: 2),
                Message.route([10, 0, 0, 0], prefix: 8, over: 2),
            ], hasRoute: false),
        Case(
            "a line that is down",
            [Message.link(2, flags: 0), Message.address(global4, on: 2), Message.route(over: 2)],
            hasRoute: false),
        Case(
            "a cable that is pulled",
            [Message.link(2, flags: 1), Message.address(global4, on: 2), Message.route(over: 2)],
            hasRoute: false),
        Case(
            "loopback",
            [Message.link(1, flags: 0x49), Message.address(global4, on: 1), Message.route(over: 1)],
            hasRoute: false),
        Case(
            "an address that is still looked for twice",
            [
                Message.link(2), Message.address(global6, on: 2, flags: 0x40),
                Message.route(family: 10, over: 2),
            ], hasRoute: false),
        Case(
            "an address that somebody else has",
            [
                Message.link(2), Message.address(global6, on: 2, flags: 0x08),
                Message.route(family: 10, over: 2),
            ], hasRoute: false),
        Case(
            "an address of the link only",
            [Message.link(2), Message.address(near6, on: 2), Message.route(family: 10, over: 2)],
            hasRoute: false),
        Case(
            "169.254/16",
            [Message.link(2), Message.address([169, 254, 1, 1], on: 2), Message.route(over: 2)],
            hasRoute: false),
        Case(
            "an address on another line",
            [Message.link(2), Message.link(3), Message.address(global4, on: 3), Message.route(over: 2)],
            hasRoute: false),
        Case(
            "a route that refuses",
            [Message.link(2), Message.address(global4, on: 2), Message.route(over: 2, type: 7)],
            hasRoute: false),
        Case(
            "a route that the kernel calls dead",
            [Message.link(2), Message.address(global4, on: 2), Message.route(over: 2, flags: 16)],
            hasRoute: false),
        Case(
            "the table of local addresses",
            [Message.link(2), Message.address(global4, on: 2), Message.route(over: 2, table: 255)],
            hasRoute: false),
        Case(
            "two ways, of which one is up",
            [
                Message.link(2, flags: 0), Message.link(3), Message.address(global4, on: 3),
                Message.multipath(over: [2, 3]),
            ], hasRoute: true),
        Case(
            "a way over a line that nobody knows",
            [Message.link(2), Message.address(global4, on: 2), Message.route(over: 9)], hasRoute: false),
    ])
    private func route(_ c: Case) {
        #expect(state(c.messages).hasRoute == c.hasRoute)
    }

    private let usual = [Message.link(2), Message.address(global4, on: 2), Message.route(over: 2)]

    @Test func `what matters changes the digest`() {
        let digests = [
            usual,
            usual + [Message.address([192, 0, 2, 8], on: 2)],
            usual + [Message.route([10, 0, 0, 0], prefix: 8, over: 2)],
            usual + [Message.route([10, 0, 0, 0], prefix: 9, over: 2)],
            [Message.link(2), Message.address([192, 0, 2, 8], on: 2), Message.route(over: 2)],
            [
                Message.link(2), Message.address(global4, on: 2),
                Message.route(over: 2, gateway: [192, 0, 2, 1]),
            ],
            [Message.link(2, flags: 1), Message.address(global4, on: 2), Message.route(over: 2)],
        ].map { state($0) }
        #expect(Set(digests).count == digests.count)
    }

    @Test(arguments: [
        [Message.link(3)], [Message.link(3, flags: 0), Message.address([10, 0, 0, 1], on: 3)],
        [Message.address(near6, on: 2)], [Message.route(near6, prefix: 64, family: 10, over: 2)],
        [Message.route([10, 0, 0, 0], prefix: 8, over: 2, table: 255)],
        [Message.route([10, 0, 0, 0], prefix: 8, over: 2, type: 5)],
        [Message.bytes(999, [1, 2, 3, 4])], [Message.bytes(24, Array(repeating: 9, count: 12))],
    ])
    private func `what does not matter leaves it`(_ more: [[UInt8]]) {
        #expect(state(usual + more) == state(usual))
    }

    @Test func `the order of a dump does not matter, and removals and answers to others are passed over`() {
        let first = Message.route([10, 0, 0, 0], prefix: 8, over: 2)
        let second = Message.route([172, 16, 0, 0], prefix: 12, over: 2)
        #expect(state(usual + [first, second]) == state(usual + [second, first]))
        let other = Message.bytes(21, Array(Message.address([10, 9, 9, 9], on: 2).dropFirst(16)))
        #expect(state(usual + [other]) == state(usual))
        var table = RouteTable()
        let progress = table.take(Message.done, sequence: Message.sequence + 1)
        #expect(progress == .more)
    }

    @Test func `the end of a dump, a refusal and an interruption are told`() {
        var table = RouteTable()
        let isDone = table.take(Message.done, sequence: Message.sequence)
        #expect(isDone == .done)
        let refusal = Message.bytes(2, Message.little(Int32(-1)) + Array(repeating: 0, count: 16))
        let refused = table.take(refusal, sequence: Message.sequence)
        #expect(refused == .failed(code: 1))
        let strange = Message.bytes(2, Message.little(Int32.min) + Array(repeating: 0, count: 16))
        let failed = table.take(strange, sequence: Message.sequence)
        #expect(failed == .failed(code: 5))
        _ = table.take(
            Message.bytes(16, [UInt8](repeating: 0, count: 16), flags: 0x12), sequence: Message.sequence)
        let interrupted = table.take(Message.done, sequence: Message.sequence)
        #expect(interrupted == .interrupted)
    }

    @Test func `a datagram that is cut anywhere is read as far as it goes`() {
        let all = (usual + [Message.multipath(over: [2, 3]), Message.done]).flatMap { $0 }
        for length in 0...all.count {
            var table = RouteTable()
            let progress = table.take(all[..<length], sequence: Message.sequence)
            // The last four bytes are the padding-free body of the end.
            #expect((progress == .done) == (length == all.count))
        }
    }

    @Test(arguments: 0..<50) func `bytes changed at random trap nothing`(_ seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let all = (usual + [Message.multipath(over: [2, 3]), Message.done]).flatMap { $0 }
        for _ in 0..<400 {
            var bytes = all
            for _ in 0..<Int.random(in: 1...12, using: &generator) {
                bytes[Int.random(in: 0..<bytes.count, using: &generator)] = UInt8.random(
                    in: 0...255, using: &generator)
            }
            var table = RouteTable()
            _ = table.take(
                bytes.prefix(Int.random(in: 0...bytes.count, using: &generator)), sequence: Message.sequence)
            _ = table.state
        }
    }
}

@Suite struct RouteDebounceTests {
    @Test func `a burst is looked at once it is over, and in time if it is not`() {
        var debounce = RouteDebounce()
        #expect(debounce.deadline == nil)
        debounce.changed(at: 0, hasRoute: true)
        #expect(debounce.deadline == 1_000_000)
        debounce.changed(at: 900_000, hasRoute: true)
        #expect(debounce.deadline == 1_900_000)
        debounce.changed(at: 2_900_000, hasRoute: true)
        #expect(debounce.deadline == 3_000_000)
        debounce.looked()
        #expect(debounce.deadline == nil)
    }

    @Test func `whoever waits for a route waits for a quarter of a second`() {
        var debounce = RouteDebounce()
        debounce.changed(at: 10, hasRoute: false)
        debounce.changed(at: 200_000, hasRoute: false)
        #expect(debounce.deadline == 250_010)
    }
}

@Suite(.timeLimit(.minutes(5))) struct RouteMonitorTests {
    private static let isRoot = ConditionTrait.enabled(
        if: NetworkNamespace.isAvailable, "only root can make a network of its own")

    private func log() -> Log { LogCenter(sinks: [], clock: FixedWallClock()).log(.background) }

    private func next(_ monitor: RouteMonitor) async -> NetworkState? {
        var states = monitor.states.makeAsyncIterator()
        return await states.next()
    }

    @Test(isRoot) func `a route that comes and goes is told, and so is another address`() async throws {
        let network = try await NetworkNamespace()
        let log = log()
        let monitor = try await network.run { try RouteMonitor(log: log) }
        #expect(await next(monitor)?.hasRoute == false)
        try await network.ip(
            "link set lo up", "link add out type veth peer name far", "link set far up", "link set out up",
            "address add 192.0.2.2/24 dev out")
        let near = await next(monitor)
        #expect(near?.hasRoute == false, "an address, and no default route")
        try await network.ip("route add default via 192.0.2.1")
        let online = try await until(monitor) { $0.hasRoute }
        #expect(monitor.current == online)
        try await network.ip("address add 192.0.2.3/24 dev out")
        let moved = try await until(monitor) { $0 != online }
        #expect(moved.hasRoute)
        try await network.ip("link set far down")
        let cut = try await until(monitor) { !$0.hasRoute }
        #expect(cut != near)
        try await network.ip("link set far up")
        _ = try await until(monitor) { $0.hasRoute }
        monitor.close()
        while await next(monitor) != nil {}
    }

    @Test(isRoot) func `a route of IPv6 counts once its address is no longer tentative`() async throws {
        let network = try await NetworkNamespace()
        let log = log()
        let monitor = try await network.run { try RouteMonitor(log: log) }
        try await network.ip(
            "link add out type veth peer name far", "link set far up", "link set out up",
            "-6 address add 2001:db8::2/64 dev out", "-6 route add default via 2001:db8::1 dev out")
        _ = try await until(monitor) { $0.hasRoute }
        monitor.close()
    }

    @Test(isRoot) func `messages that are lost for want of room are made up for`() async throws {
        let network = try await NetworkNamespace()
        let log = log()
        let monitor = try await network.run { try RouteMonitor(log: log) }
        _ = await next(monitor)
        try await network.ip(
            "link add out type veth peer name far", "link set far up", "link set out up",
            "-6 address add 2001:db8::2/64 dev out nodad", "address add 192.0.2.2/24 dev out")
        // A line that goes down takes its routes with it in one go, faster than anybody can read.
        let folder = try TemporaryFolder()
        let routes = (1...5000).map { "route replace 2001:db8:\(String($0, radix: 16))::/48 dev out" }
        try folder.write("routes", routes.joined(separator: "\n"))
        repeat {
            try await network.ip(
                "link set out up", "-6 -batch " + folder.path("routes"), "link set out down")
        } while try await network.run { try Self.droppedMessages() } == 0
        try await network.ip("link set out up", "route add default via 192.0.2.1")
        _ = try await until(monitor) { $0.hasRoute }
        monitor.close()
    }

    /// Messages that the kernel dropped at sockets of this network (`/proc/net/netlink`, column Drops).
    private static func droppedMessages() throws -> Int {
        let table = try String(contentsOfFile: "/proc/thread-self/net/netlink", encoding: .utf8)
        return table.split(separator: "\n").dropFirst().reduce(0) { sum, line in
            let columns = line.split(separator: " ")
            return sum + (columns.count > 8 ? Int(columns[8]) ?? 0 : 0)
        }
    }

    @Test(isRoot) func `a way to an address is known without a default route`() async throws {
        let network = try await NetworkNamespace()
        let ask = { @Sendable (address: String) in
            try await network.run { RouteMonitor.hasRoute(to: address) }
        }
        #expect(try await ask("127.0.0.1") == false, "loopback is down")
        #expect(try await ask("192.0.2.9") == false)
        try await network.ip(
            "link set lo up", "link add out type veth peer name far", "link set far up", "link set out up",
            "address add 192.0.2.2/24 dev out")
        #expect(try await ask("127.0.0.1") == true)
        #expect(try await ask("192.0.2.9") == true)
        #expect(try await ask("198.51.100.1") == false)
        #expect(try await ask("2001:db8::9") == false)
        try await network.ip("route add unreachable 192.0.2.128/25")
        #expect(try await ask("192.0.2.200") == false)
        try await network.ip("route add default via 192.0.2.1")
        #expect(try await ask("198.51.100.1") == true)
    }

    @Test(arguments: ["", "localhost", "example.org", "1.2.3.4.5", "fe80::1%", "[::1]"])
    func `a name is no address`(_ name: String) {
        #expect(RouteMonitor.hasRoute(to: name) == nil)
    }

    @Test func `the network of this machine can be read, and what is closed ends its stream`() async throws {
        for _ in 0..<20 {
            let monitor = try RouteMonitor(log: log())
            #expect(await next(monitor) != nil)
            monitor.close()
            while await next(monitor) != nil {}
        }
    }

    private func until(_ monitor: RouteMonitor, _ isIt: (NetworkState) -> Bool) async throws -> NetworkState {
        while let state = await next(monitor) {
            if isIt(state) { return state }
        }
        throw FixtureError("the stream has ended")
    }
}
