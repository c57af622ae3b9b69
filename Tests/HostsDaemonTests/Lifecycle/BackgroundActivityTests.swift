import Glibc
import HostsHub
import HostsLog
import HostsModel
import HostsPolicy
import HostsSystem
import HostsTestSupport
import Testing

@testable import HostsDaemon

/// The delay before sleep, with a stand-in for logind on a private bus and a hub of simulated hosts.
@Suite(.serialized, .timeLimit(.minutes(5))) struct BackgroundActivityTests {
    @Test func `with nobody opted in no lock is ever taken`() async throws {
        try await LifecycleRig.run { rig in
            await rig.set(["a": false, "b": false])
            try await rig.until { await rig.condition("a") == .online }
            try await rig.logind.prepareForSleep(true)
            try await rig.until { await rig.condition("a") == .asleep }
            try await rig.logind.prepareForSleep(false)
            try await rig.until { await rig.condition("a") == .online }
            #expect(rig.count(of: "background.held") == 0)
            #expect(try await !rig.logind.inhibitors().contains("hostsd"))
        }
    }

    @Test func `it is held while some opted-in host is enabled, and for no longer`() async throws {
        try await LifecycleRig.run { rig in
            await rig.set(["a": true, "b": false])
            try await rig.until { try await rig.isHeld() }
            #expect(await rig.hub.isHoldingBackgroundTime)
            await rig.set(["a": false, "b": false])
            try await rig.until { try await !rig.isHeld() }
            await rig.set(["a": true, "b": false], disabled: ["a"])
            await rig.set(["a": true, "b": true], disabled: ["a"])
            try await rig.until { try await rig.isHeld() }
            await rig.set(["a": true, "b": true], disabled: ["a", "b"])
            try await rig.until { try await !rig.isHeld() }
        }
    }

    @Test func `an open window of an opted-in host that is disabled counts`() async throws {
        try await LifecycleRig.run { rig in
            await rig.set(["a": true])
            let window = try await rig.hub.openWindow(rig.host("a"))
            await rig.set(["a": true], disabled: ["a"])
            try await rig.until { try await rig.isHeld() }
            await rig.hub.closeWindow(window)
            try await rig.until { try await !rig.isHeld() }
        }
    }

    @Test func `before sleep there is one more look, its news is delivered, the flag goes, then the lock`()
        async throws
    {
        // The time of the round does not run out, however busy this machine is.
        try await LifecycleRig.run(backgroundClock: ManualClock()) { rig in
            await rig.set(["a": true, "b": false])
            try await rig.until { try await rig.isHeld() }
            try await rig.until { await rig.areOnline("a", "b") }
            let before = rig.fleet.looks(at: rig.host("a"))
            rig.deliveries.withLock { $0 = [] }
            try await rig.logind.prepareForSleep(true)
            try await rig.until { await rig.condition("a") == .asleep }
            #expect(rig.fleet.looks(at: rig.host("a")) > before)
            try await rig.until { try await !rig.isHeld() }
            #expect(rig.deliveries.withLock { $0 } == [true], "delivered once, while the delay was held")
            #expect(
                rig.events(of: ["background.held", "background.round", "background.given-back"])
                    == ["background.held", "background.round", "background.given-back"])
            // The link lives on, and is verified after the wake, when the lock is taken again.
            #expect(rig.fleet.openLinks(of: rig.host("a")) == 1)
            try await rig.logind.prepareForSleep(false)
            try await rig.until { await rig.areOnline("a", "b") }
            try await rig.until { try await rig.isHeld() }
            #expect(rig.fleet.dials(of: rig.host("a")) == 1)
        }
    }

    @Test func `a last look that hangs does not keep the lock`() async throws {
        // 1.6 s are granted: 0.6 s for the round.
        try await LifecycleRig.run(delayMicroseconds: 1_600_000) { rig in
            await rig.set(["a": true])
            try await rig.until { try await rig.isHeld() }
            try await rig.until { await rig.condition("a") == .online }
            rig.fleet.set(looks: .hang, for: rig.host("a"))
            try await rig.logind.prepareForSleep(true)
            try await rig.until { try await !rig.isHeld() }
            #expect(await rig.condition("a") == .asleep)
            // The look could not be waited for: its link is closed.
            #expect(rig.fleet.openLinks == 0)
        }
    }

    @Test(arguments: [0, UInt64.max, 100])
    func `a grant of no usable length is given back without a round`(microseconds: UInt64) async throws {
        try await LifecycleRig.run(delayMicroseconds: microseconds) { rig in
            await rig.set(["a": true])
            try await rig.until { try await rig.isHeld() }
            try await rig.until { await rig.condition("a") == .online }
            try await rig.logind.prepareForSleep(true)
            try await rig.until { try await !rig.isHeld() }
            try await rig.until { await rig.condition("a") == .asleep }
        }
    }

    @Test func `two announcements of each are one sleep`() async throws {
        try await LifecycleRig.run { rig in
            await rig.set(["a": true])
            try await rig.until { try await rig.isHeld() }
            try await rig.logind.prepareForSleep(true, true)
            try await rig.until { try await !rig.isHeld() }
            try await rig.logind.prepareForSleep(false, false)
            try await rig.until { try await rig.isHeld() }
            #expect(rig.count(of: "background.held") == 2)
            #expect(rig.count(of: "background.given-back") == 1)
        }
    }

    @Test func `a login manager that is restarted gets a lock again`() async throws {
        try await LifecycleRig.run { rig in
            await rig.set(["a": true])
            try await rig.until { try await rig.isHeld() }
            rig.logind.stop()
            try await rig.until { rig.count(of: "background.given-back") == 1 }
            #expect(await !rig.hub.isHoldingBackgroundTime)
            let second = try await PrivateLoginManager(on: rig.bus)
            try await rig.until { try await second.inhibitors().contains("hostsd") }
            #expect(await rig.hub.isHoldingBackgroundTime)
            second.stop()
        }
    }

    @Test func `a login manager that refuses is asked again after a minute, and told of once`() async throws {
        let clock = ManualClock()
        try await LifecycleRig.run(backgroundClock: clock) { rig in
            try await rig.logind.refusesLocks(true)
            await rig.set(["a": true])
            try await rig.until { rig.count(of: "background.refused") == 1 }
            await clock.untilSleeping()
            #expect(await rig.background.refusal == .refused("org.freedesktop.DBus.Error.AccessDenied"))
            await rig.hub.tellWishes()
            clock.advance(by: BackgroundActivity.retryPause)
            await clock.untilSleeping()
            try await rig.logind.refusesLocks(false)
            clock.advance(by: BackgroundActivity.retryPause)
            try await rig.until { try await rig.isHeld() }
            #expect(rig.count(of: "background.refused") == 1)
            #expect(await rig.background.refusal == nil)
        }
    }

    @Test func `when the daemon stops nothing is held`() async throws {
        let stopped = Locked<PrivateLoginManager?>(nil)
        try await LifecycleRig.run { rig in
            await rig.set(["a": true])
            try await rig.until { try await rig.isHeld() }
            stopped.withLock { $0 = rig.logind }
            rig.keepsLogind.withLock { $0 = true }
        }
        let left = try #require(stopped.withLock { $0 })
        while try await left.inhibitors().contains("hostsd") {}
        left.stop()
    }

    @Test func `without any bus there is no lock, and everything else works`() async throws {
        try await LifecycleRig.run(hasBus: false) { rig in
            await rig.set(["a": true])
            try await rig.until { await rig.condition("a") == .online }
            rig.observer.rehearse(.sleep)
            try await rig.until { await rig.condition("a") == .asleep }
            rig.observer.rehearse(.wake)
            try await rig.until { await rig.condition("a") == .online }
            #expect(rig.count(of: "background.held") == 0)
        }
    }
}
