import Glibc
import HostsLog
import HostsModel
import HostsPolicy
import HostsSystem
import HostsTestSupport
import Testing

private let user: UInt32 = 4242

/// A login manager under test on a private bus, and the events that have come and are not yet looked at.
private final class Listener: Sendable {
    let manager: LoginManager
    let center = LogCenter(sinks: [], clock: FixedWallClock())

    init(_ bus: PrivateBus) throws {
        manager = try LoginManager(
            address: bus.address, user: user, firstPause: .milliseconds(20), longestPause: .milliseconds(100),
            log: center.log(.background))
    }

    func next() async -> LoginEvent? {
        var events = manager.events.makeAsyncIterator()
        return await events.next()
    }

    /// Fetches as many events as are expected and compares them.
    func expect(_ expected: LoginEvent..., at place: Testing.SourceLocation = #_sourceLocation) async {
        for event in expected {
            let next = await next()
            #expect(next == event, sourceLocation: place)
        }
    }

    /// Takes the delay lock once the stand-in is known.
    func inhibit() async throws -> SleepInhibitor {
        try await manager.inhibitSleep(why: "Let 2 hosts finish")
    }

    func count(of event: String) -> Int { center.records().count { $0.event == event } }
}

@Suite(.serialized, .timeLimit(.minutes(5))) struct LoginManagerTests {
    @Test func `signals of sleep are told as they come, twice or not at all`() async throws {
        let bus = try await PrivateBus()
        let logind = try await PrivateLoginManager(on: bus)
        let listener = try Listener(bus)
        await listener.expect(.managerChanged(isPresent: true), .presence(.away(.loggedOut)))
        try await logind.prepareForSleep(true, false)
        await listener.expect(.preparingForSleep(true), .preparingForSleep(false))
        try await logind.prepareForSleep(true, true, false, false, true)
        await listener.expect(
            .preparingForSleep(true), .preparingForSleep(true), .preparingForSleep(false),
            .preparingForSleep(false), .preparingForSleep(true))
    }

    @Test func `a sleep that has begun before is found, and one whose end was missed`() async throws {
        let bus = try await PrivateBus()
        let first = try await PrivateLoginManager(on: bus, isPreparingForSleep: true)
        let listener = try Listener(bus)
        await listener.expect(
            .managerChanged(isPresent: true), .preparingForSleep(true), .presence(.away(.loggedOut)))
        first.stop()
        await listener.expect(.managerChanged(isPresent: false), .presence(.unknown))
        let second = try await PrivateLoginManager(on: bus)
        await listener.expect(
            .managerChanged(isPresent: true), .preparingForSleep(false), .presence(.away(.loggedOut)))
        second.stop()
    }

    @Test func `presence follows the sessions of the user, and of nobody else`() async throws {
        let bus = try await PrivateBus()
        let logind = try await PrivateLoginManager(on: bus)
        try await logind.addSession("c1", user: user)
        let listener = try Listener(bus)
        await listener.expect(.managerChanged(isPresent: true), .presence(.active))
        try await logind.change("c1", "'LockedHint': True")
        await listener.expect(.presence(.away(.locked)))
        try await logind.change("c1", "'LockedHint': False")
        await listener.expect(.presence(.active))
        try await logind.change("c1", "'IdleHint': True, 'IdleSinceHint': dbus.UInt64(1700000000000000)")
        await listener.expect(.presence(.away(.idle)))
        try await logind.addSession("c2", user: 1)
        try await logind.change("c2", "'IdleHint': True")
        try await logind.change("c1", "'IdleHint': False, 'IdleSinceHint': dbus.UInt64(0)")
        await listener.expect(.presence(.active))
        try await logind.change("c1", "'Active': False")
        await listener.expect(.presence(.away(.elsewhere)))
        try await logind.addSession("c3", user: user)
        await listener.expect(.presence(.active))
        try await logind.removeSession("c3")
        await listener.expect(.presence(.away(.elsewhere)))
        try await logind.removeSession("c1")
        await listener.expect(.presence(.away(.loggedOut)))
    }

    @Test func `a delay lock is seen by logind until it is given back`() async throws {
        let bus = try await PrivateBus()
        let logind = try await PrivateLoginManager(on: bus, delayMicroseconds: 7_000_000)
        let listener = try Listener(bus)
        await listener.expect(.managerChanged(isPresent: true), .presence(.away(.loggedOut)))
        #expect(try await !logind.inhibitors().contains("hostsd"), "no lock is taken by itself")
        let lock = try await listener.inhibit()
        let held = try await logind.inhibitors()
        #expect(held.contains("'sleep'") && held.contains("'hostsd'") && held.contains("'delay'"))
        #expect(held.contains("Let 2 hosts finish"))
        #expect(lock.isHeld)
        lock.release()
        lock.release()
        #expect(!lock.isHeld)
        try await untilReleased(logind)
        #expect(listener.manager.delayLimit == .seconds(7))
    }

    @Test func `a lock that nobody holds any more is given back`() async throws {
        let bus = try await PrivateBus()
        let logind = try await PrivateLoginManager(on: bus)
        let listener = try Listener(bus)
        await listener.expect(.managerChanged(isPresent: true))
        _ = try await listener.inhibit()
        try await untilReleased(logind)
        // The connection may end before the lock does.
        let lock = try await listener.inhibit()
        listener.manager.close()
        #expect(try await logind.inhibitors().contains("hostsd"))
        lock.release()
        try await untilReleased(logind)
    }

    @Test func `logind that is restarted is told, read and subscribed to again`() async throws {
        let bus = try await PrivateBus()
        let first = try await PrivateLoginManager(on: bus)
        try await first.addSession("c1", user: user)
        let listener = try Listener(bus)
        await listener.expect(.managerChanged(isPresent: true), .presence(.active))
        let lock = try await listener.inhibit()
        first.stop()
        await listener.expect(.managerChanged(isPresent: false), .presence(.unknown))
        await #expect(throws: InhibitFailure.noManager) { _ = try await listener.inhibit() }
        lock.release()
        let second = try await PrivateLoginManager(on: bus, delayMicroseconds: nil)
        await listener.expect(.managerChanged(isPresent: true), .presence(.away(.loggedOut)))
        try await second.prepareForSleep(true)
        await listener.expect(.preparingForSleep(true))
        let again = try await listener.inhibit()
        #expect(try await second.inhibitors().contains("hostsd"))
        again.release()
        #expect(listener.manager.delayLimit == LoginManager.defaultDelayLimit)
    }

    @Test func `a bus without logind, no bus, and a bus that comes and goes are lived with`() async throws {
        let bus = try await PrivateBus(isStarted: false)
        let listener = try Listener(bus)
        await listener.expect(.managerChanged(isPresent: false), .presence(.unknown))
        await #expect(throws: InhibitFailure.noManager) { _ = try await listener.inhibit() }
        try await bus.start()
        var logind = try await PrivateLoginManager(on: bus)
        await listener.expect(.managerChanged(isPresent: true), .presence(.away(.loggedOut)))
        // Many attempts, one line.
        #expect(listener.count(of: "login.bus.unreachable") == 1)
        bus.stop()
        logind.stop()
        await listener.expect(.managerChanged(isPresent: false), .presence(.unknown))
        try await bus.start()
        logind = try await PrivateLoginManager(on: bus)
        await listener.expect(.managerChanged(isPresent: true), .presence(.away(.loggedOut)))
        try await logind.prepareForSleep(true)
        await listener.expect(.preparingForSleep(true))
    }

    @Test func `logind that does not answer is given up, and so is a request for a lock`() async throws {
        let bus = try await PrivateBus()
        let logind = try await PrivateLoginManager(on: bus)
        let listener = try Listener(bus)
        await listener.expect(.managerChanged(isPresent: true), .presence(.away(.loggedOut)))
        logind.suspend()
        await #expect(throws: InhibitFailure.noAnswer) { _ = try await listener.inhibit() }
        logind.resume()
        // The answer comes after all, with a lock that nobody waits for.
        try await untilReleased(logind)
        let lock = try await listener.inhibit()
        #expect(lock.isHeld)
    }

    @Test func `a signal of a stranger is no sleep`() async throws {
        let bus = try await PrivateBus()
        let logind = try await PrivateLoginManager(on: bus)
        let listener = try Listener(bus)
        await listener.expect(.managerChanged(isPresent: true), .presence(.away(.loggedOut)))
        // A signal to one connection passes the filter of the bus; ours is the highest number but the sender's.
        try await Tool.run(
            "/usr/bin/python3",
            [
                "-c",
                """
                import sys, dbus.bus, dbus.lowlevel
                bus = dbus.bus.BusConnection(sys.argv[1])
                for name in bus.list_names():
                    if not name.startswith(':'): continue
                    signal = dbus.lowlevel.SignalMessage('/org/freedesktop/login1',
                        'org.freedesktop.login1.Manager', 'PrepareForSleep')
                    signal.append(True)
                    signal.set_destination(name)
                    bus.send_message(signal)
                bus.flush()
                """, bus.address,
            ])
        try await logind.prepareForSleep(false)
        await listener.expect(.preparingForSleep(false))
    }

    @Test func `what is closed ends its stream, refuses locks and leaves the bus`() async throws {
        let bus = try await PrivateBus()
        let logind = try await PrivateLoginManager(on: bus)
        let before = try await bus.connectionCount()
        for _ in 0..<20 {
            let listener = try Listener(bus)
            await listener.expect(.managerChanged(isPresent: true))
            let lock = try await listener.inhibit()
            listener.manager.close()
            listener.manager.close()
            while await listener.next() != nil {}
            await #expect(throws: InhibitFailure.closed) { _ = try await listener.inhibit() }
            #expect(lock.isHeld)
        }
        while try await bus.connectionCount() > before {}
        #expect(try await !logind.inhibitors().contains("hostsd"))
        logind.stop()
    }

    /// Waits until nobody holds a lock: the stand-in sees it when it next looks.
    private func untilReleased(_ logind: PrivateLoginManager) async throws {
        while try await logind.inhibitors().contains("hostsd") {}
    }
}
