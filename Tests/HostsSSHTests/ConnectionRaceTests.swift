import HostsModel
import HostsTestSupport
import Testing

@testable import HostsSSH

@Suite struct ConnectionRaceTests {
    private let start = ContinuousClock.now
    private func at(_ milliseconds: Int) -> ContinuousClock.Instant { start + .milliseconds(milliseconds) }

    @Test func `attempts start one after another, a moment apart`() {
        var race = ConnectionRace(addresses: 3)
        #expect(race.next(now: at(0)) == .start(0))
        #expect(race.next(now: at(0)) == .wait(until: at(250)))
        #expect(race.next(now: at(249)) == .wait(until: at(250)))
        #expect(race.next(now: at(250)) == .start(1))
        #expect(race.next(now: at(600)) == .start(2))
        #expect(race.next(now: at(600)) == .wait(until: nil))
    }

    @Test func `a failure starts the next at once`() {
        var race = ConnectionRace(addresses: 2)
        #expect(race.next(now: at(0)) == .start(0))
        race.failed(.unreachable(address: "a", detail: "d"))
        #expect(race.next(now: at(1)) == .start(1))
        #expect(race.next(now: at(1)) == .wait(until: nil))
        race.failed(.connectionRefused(address: "b"))
        #expect(race.next(now: at(2)) == .fail(.connectionRefused(address: "b")))
    }

    @Test func `a host that refuses is there, and says more than one that is silent`() {
        var race = ConnectionRace(addresses: 3)
        for index in 0..<3 {
            #expect(race.next(now: at(index)) == .start(index))
            race.failed(
                [
                    .timedOut(.connect, after: .seconds(1)), .connectionRefused(address: "b"),
                    .unreachable(address: "c", detail: "d"),
                ][index])
        }
        #expect(race.next(now: at(9)) == .fail(.connectionRefused(address: "b")))
    }

    @Test func `no more than the limit are tried`() {
        var race = ConnectionRace(addresses: 100)
        var count = 0
        while case .start = race.next(now: at(count * 1000)) { count += 1 }
        #expect(count == ConnectionRace.addressLimit)
    }

    @Test func `the families take turns, beginning with the first`() {
        let addresses = ["6a", "6b", "6c", "4a", "4b"]
        let order = ConnectionRace.interleaved(addresses) { $0.hasPrefix("6") ? 10 : 2 }
        #expect(order == ["6a", "4a", "6b", "4b", "6c"])
        #expect(ConnectionRace.interleaved([String]()) { _ in 0 } == [])
    }
}

@Suite struct DialerTests {
    private func addresses(_ hosts: [(String, UInt16)]) throws -> [SocketAddress] {
        try hosts.flatMap { host, port in
            try NameLookup.addresses(of: host, port: port, family: .any).get()
        }
    }

    private func race(_ addresses: [SocketAddress], timeout: Duration = .seconds(60)) async throws(LinkError)
        -> String
    {
        let dialer = Dialer(loop: LinkFixture.loop, pool: WorkerPool())
        return try await dialer.race(addresses, from: nil, until: .now + timeout, timeout: timeout).address
    }

    @Test func `the address that answers wins over one that drops everything`() async throws {
        let deaf = try DeafPort()
        let server = try ScriptedServer(greeting: "")
        defer { server.stop() }
        let port = server.port
        let address = try await race(try addresses([("127.0.0.1", deaf.port), ("127.0.0.1", port)]))
        #expect(address == "127.0.0.1:\(port)")
    }

    @Test func `the address that answers wins over one that refuses`() async throws {
        let closed = try LoopbackPort.free()
        let server = try ScriptedServer(greeting: "")
        defer { server.stop() }
        let port = server.port
        let address = try await race(
            try addresses([("::1", closed), ("127.0.0.1", closed), ("127.0.0.1", port)]))
        #expect(address == "127.0.0.1:\(port)")
    }

    @Test func `nobody answers`() async throws {
        let deaf = try DeafPort()
        let closed = try LoopbackPort.free()
        let refused = await #expect(throws: LinkError.self) {
            try await race(try addresses([("127.0.0.1", closed)]))
        }
        #expect(refused == .connectionRefused(address: "127.0.0.1:\(closed)"))
        let silent = await #expect(throws: LinkError.self) {
            try await race(try addresses([("127.0.0.1", deaf.port)]), timeout: .milliseconds(400))
        }
        #expect(silent == .timedOut(.connect, after: .milliseconds(400)))
    }
}
