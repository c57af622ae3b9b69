import Glibc
import HostsModel
import HostsPolicy
import Testing

@testable import HostsSystem

@Suite struct LoginStateTests {
    private struct PresenceCase: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let sessions: [LoginSession]
        let presence: Presence

        init(_ name: String, _ sessions: [LoginSession], _ presence: Presence) {
            testDescription = name
            self.sessions = sessions
            self.presence = presence
        }
    }

    @Test(arguments: [
        PresenceCase("no session", [], .away(.loggedOut)),
        PresenceCase("a session in use", [LoginSession()], .active),
        PresenceCase("locked", [LoginSession(isLocked: true)], .away(.locked)),
        PresenceCase("idle", [LoginSession(isIdle: true)], .away(.idle)),
        PresenceCase("locked and idle", [LoginSession(isLocked: true, isIdle: true)], .away(.locked)),
        PresenceCase("not in front", [LoginSession(isActive: false)], .away(.elsewhere)),
        PresenceCase(
            "the one in front tells the reason",
            [LoginSession(isActive: false, isLocked: true), LoginSession(isIdle: true)], .away(.idle)),
        PresenceCase("one in use suffices", [LoginSession(isLocked: true), LoginSession()], .active),
        PresenceCase("over the network is not here", [LoginSession(isRemote: true)], .away(.loggedOut)),
        PresenceCase("a greeter is nobody", [LoginSession(className: "greeter")], .away(.loggedOut)),
        PresenceCase("cron is nobody", [LoginSession(className: "background")], .away(.loggedOut)),
        PresenceCase("what is left after a logout", [LoginSession(state: "closing")], .away(.loggedOut)),
    ])
    private func presence(_ c: PresenceCase) {
        #expect(LoginSession.presence(c.sessions) == c.presence)
    }

    @Test(
        arguments: [
            (0, 5_000_000), (UInt64.max, 5_000_000), (99_999, 5_000_000), (600_000_001, 5_000_000),
            (100_000, 100_000), (5_000_000, 5_000_000), (30_000_000, 30_000_000), (600_000_000, 600_000_000),
        ] as [(UInt64, Int64)])
    private func `the limit of a delay is checked for its range`(_ given: UInt64, _ expected: Int64) {
        let properties = LoginProperties(isPreparingForSleep: false, delayMicroseconds: given)
        #expect(properties.delayLimit == .microseconds(expected))
    }

    private typealias Step = LoginState.Step

    /// What a mutating method answered, which `#expect` cannot call.
    private func expect(
        _ steps: [Step], _ expected: [Step], at place: Testing.SourceLocation = #_sourceLocation
    ) {
        #expect(steps == expected, sourceLocation: place)
    }

    @Test func `presence is told once all sessions are read, and only when it changes`() {
        var state = LoginState()
        expect(
            state.ownerChanged(":1.2"),
            [
                .readManager, .listSessions, .tell(.managerChanged(isPresent: true)),
            ])
        expect(state.sessionsListed(["/a", "/b"]), [.readSession(path: "/a"), .readSession(path: "/b")])
        expect(state.sessionRead("/a", LoginSession(isLocked: true)), [])
        expect(state.sessionRead("/b", LoginSession()), [.tell(.presence(.active))])
        expect(state.sessionChanged("/b"), [.readSession(path: "/b")])
        expect(state.sessionRead("/b", LoginSession(type: "x11")), [])
        expect(state.sessionChanged("/b"), [.readSession(path: "/b")])
        expect(state.sessionRead("/b", nil), [.tell(.presence(.away(.locked)))])
    }

    @Test func `a session that changes while it is read is read once more`() {
        var state = LoginState()
        _ = state.ownerChanged(":1.2")
        _ = state.sessionsListed(["/a"])
        expect(state.sessionChanged("/a"), [])
        expect(state.sessionChanged("/a"), [])
        expect(state.sessionRead("/a", LoginSession()), [.readSession(path: "/a")])
        expect(state.sessionRead("/a", LoginSession(isIdle: true)), [.tell(.presence(.away(.idle)))])
        expect(state.sessionRead("/a", LoginSession()), [])
    }

    @Test func `sessions that come while they are listed are listed once more`() {
        var state = LoginState()
        _ = state.ownerChanged(":1.2")
        expect(state.sessionsChanged(), [])
        expect(state.sessionsChanged(), [])
        expect(state.sessionsListed([]), [.listSessions])
        expect(state.sessionsListed([]), [.tell(.presence(.away(.loggedOut)))])
        expect(state.sessionsChanged(), [.listSessions])
        expect(state.sessionChanged("/of-somebody-else"), [])
    }

    @Test func `a session that goes while it is read is waited for no longer`() {
        var state = LoginState()
        _ = state.ownerChanged(":1.2")
        _ = state.sessionsListed(["/a"])
        _ = state.sessionsChanged()
        expect(state.sessionsListed([]), [.tell(.presence(.away(.loggedOut)))])
        expect(state.sessionRead("/a", LoginSession()), [])
    }

    @Test func `a manager that goes is told once, and leaves nothing behind`() {
        var state = LoginState()
        expect(
            state.ownerChanged(nil),
            [
                .tell(.managerChanged(isPresent: false)), .tell(.presence(.unknown)),
            ])
        expect(state.ownerChanged(nil), [])
        _ = state.ownerChanged(":1.2")
        _ = state.sessionsListed(["/a"])
        expect(
            state.ownerChanged(":1.9"),
            [
                .readManager, .listSessions, .tell(.managerChanged(isPresent: true)),
            ])
        expect(state.sessionRead("/a", LoginSession()), [])
        expect(state.ownerChanged(":1.9"), [])
    }

    @Test func `a sleep that was missed is told by the properties, one that was told is not`() {
        var state = LoginState()
        _ = state.ownerChanged(":1.2")
        let limit = Step.limitDelay(.seconds(5))
        var properties = LoginProperties(isPreparingForSleep: true, delayMicroseconds: 5_000_000)
        expect(state.managerRead(properties), [limit, .tell(.preparingForSleep(true))])
        expect(state.managerRead(properties), [limit])
        expect(state.sleepAnnounced(isBeginning: true), [.tell(.preparingForSleep(true))])
        properties.isPreparingForSleep = false
        expect(state.managerRead(properties), [limit, .tell(.preparingForSleep(false))])
    }

    @Test func `the pause before the bus is tried again doubles up to its limit`() {
        var pause = ReconnectPause(first: .seconds(1), longest: .seconds(60))
        var pauses: [Duration] = []
        for _ in 0..<8 { pauses.append(pause.next()) }
        #expect(pauses == [1, 2, 4, 8, 16, 32, 60, 60].map { .seconds($0) })
        pause.succeeded()
        let next = pause.next()
        #expect(next == .seconds(1))
    }
}

@Suite struct SleepInhibitorTests {
    @Test func `the descriptor is closed by the release, once, or with the object`() throws {
        let (readEnd, writeEnd) = try pipeEnds()
        let lock = SleepInhibitor(descriptor: writeEnd)
        #expect(lock.isHeld)
        #expect(!isClosed(readEnd))
        lock.release()
        #expect(!lock.isHeld)
        #expect(isClosed(readEnd))
        close(readEnd)

        let (otherRead, otherWrite) = try pipeEnds()
        var other: SleepInhibitor? = SleepInhibitor(descriptor: otherWrite)
        #expect(other?.isHeld == true)
        #expect(!isClosed(otherRead))
        other = nil
        #expect(isClosed(otherRead))
        close(otherRead)
    }

    private func pipeEnds() throws -> (Int32, Int32) {
        var ends: [Int32] = [-1, -1]
        try #require(pipe(&ends) == 0)
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        return (ends[0], ends[1])
    }

    /// Whether nobody has the other end any more: the kernel tells at once.
    private func isClosed(_ readEnd: Int32) -> Bool {
        var entry = pollfd(fd: readEnd, events: Int16(POLLIN), revents: 0)
        return poll(&entry, 1, 0) == 1 && entry.revents & Int16(POLLHUP) != 0
    }
}
