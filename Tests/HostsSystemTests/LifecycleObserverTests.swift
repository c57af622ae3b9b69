import HostsLog
import HostsModel
import HostsPolicy
import HostsTestSupport
import Testing

@testable import HostsSystem

/// An observer whose hints a test gives, on a clock that is moved by hand.
private final class Stage: Sendable {
    let login: AsyncStream<LoginEvent>.Continuation
    let findings: AsyncStream<SuspendDetector.Finding>.Continuation
    let networks: AsyncStream<NetworkState>.Continuation
    let clock = ManualClock()
    let observer: LifecycleObserver
    let isClosed = Locked(false)
    /// What the next comparison of the clocks finds.
    let pending = Locked<SuspendDetector.Finding?>(nil)

    init() {
        let (loginEvents, login) = AsyncStream<LoginEvent>.makeStream()
        let (found, findings) = AsyncStream<SuspendDetector.Finding>.makeStream()
        let (states, networks) = AsyncStream<NetworkState>.makeStream()
        (self.login, self.findings, self.networks) = (login, findings, networks)
        let (isClosed, pending) = (isClosed, pending)
        observer = LifecycleObserver(
            sources: LifecycleObserver.Sources(
                login: loginEvents, findings: found, networks: states,
                compareClocks: {
                    pending.withLock { pending in
                        let finding = pending
                        pending = nil
                        return finding
                    }
                }, close: { isClosed.withLock { $0 = true } }),
            clock: clock, log: LogCenter(sinks: [], clock: FixedWallClock()).log(.background))
    }

    /// Runs the observer while `body` runs.
    func run(_ body: () async throws -> Void) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await self.observer.run() }
            try await body()
            group.cancelAll()
        }
        #expect(isClosed.withLock { $0 })
        #expect(await next() == nil)
    }

    func next() async -> LifecycleEvent? {
        var events = observer.events.makeAsyncIterator()
        return await events.next()
    }

    func expect(_ expected: LifecycleEvent..., at place: Testing.SourceLocation = #_sourceLocation) async {
        for event in expected {
            let next = await next()
            #expect(next == event, sourceLocation: place)
        }
    }
}

@Suite(.timeLimit(.minutes(5))) struct LifecycleObserverTests {
    @Test func `one observer tells sleep, presence, network and manager in their order`() async throws {
        let stage = Stage()
        #expect(stage.observer.phase == .active)
        #expect(stage.observer.hasRoute == nil)
        try await stage.run {
            stage.login.yield(.managerChanged(isPresent: true))
            await stage.expect(.managerChanged(isPresent: true))
            stage.login.yield(.presence(.away(.locked)))
            await stage.expect(.phase(.inactive))
            stage.networks.yield(NetworkState(hasRoute: true, digest: 1))
            await stage.expect(.networkChanged(hasRoute: true))
            #expect(stage.observer.hasRoute == true)
            stage.login.yield(.preparingForSleep(true))
            await stage.expect(.phase(.background), .willSleep)
            #expect(stage.observer.phase == .background)
            stage.login.yield(.preparingForSleep(false))
            await stage.expect(.woke(slept: nil), .phase(.inactive))
            #expect(stage.observer.phase == .inactive)
        }
    }

    @Test func `the end of a sleep knows how long it was, and the clocks tell it no second time`()
        async throws
    {
        let stage = Stage()
        try await stage.run {
            stage.login.yield(.preparingForSleep(true))
            await stage.expect(.phase(.background), .willSleep)
            stage.pending.withLock { $0 = .slept(3600) }
            stage.login.yield(.preparingForSleep(false))
            await stage.expect(.woke(slept: .seconds(3600)), .phase(.active))
            stage.login.yield(.presence(.away(.idle)))
            await stage.expect(.phase(.inactive))
        }
    }

    @Test func `a sleep without any signal is told after the fact`() async throws {
        let stage = Stage()
        try await stage.run {
            stage.findings.yield(.slept(120))
            await stage.expect(.phase(.background), .woke(slept: .seconds(120)), .phase(.active))
        }
    }

    @Test func `a sleep that does not come is over after its limit`() async throws {
        let stage = Stage()
        try await stage.run {
            stage.observer.rehearse(.sleep)
            await stage.expect(.phase(.background), .willSleep)
            await stage.clock.untilSleeping()
            stage.clock.advance(by: .seconds(PhaseTracker.announcementLimit))
            await stage.expect(.woke(slept: nil), .phase(.active))
            // And so is the next one: the reminder is set anew.
            stage.observer.rehearse(.sleep)
            await stage.expect(.phase(.background), .willSleep)
            await stage.clock.untilSleeping()
            stage.pending.withLock { $0 = .slept(29) }
            stage.clock.advance(by: .seconds(PhaseTracker.announcementLimit))
            await stage.expect(.woke(slept: .seconds(29)), .phase(.active))
        }
    }

    @Test func `an announcement that comes twice gets its time anew`() async throws {
        let stage = Stage()
        try await stage.run {
            stage.observer.rehearse(.sleep)
            await stage.expect(.phase(.background), .willSleep)
            await stage.clock.untilSleeping()
            stage.clock.advance(by: .seconds(20))
            stage.observer.rehearse(.sleep)
            // Told after it, so that the second announcement has been judged.
            stage.networks.yield(NetworkState(hasRoute: false, digest: 1))
            await stage.expect(.networkChanged(hasRoute: false))
            stage.clock.advance(by: .seconds(10))
            await stage.clock.untilSleeping()
            #expect(stage.observer.phase == .background)
            stage.clock.advance(by: .seconds(20))
            await stage.expect(.woke(slept: nil), .phase(.active))
        }
    }

    @Test func `a rehearsal is a sleep and a wake`() async throws {
        let stage = Stage()
        try await stage.run {
            stage.observer.rehearse(.sleep)
            stage.observer.rehearse(.wake)
            await stage.expect(.phase(.background), .willSleep, .woke(slept: nil), .phase(.active))
        }
    }

    @Test func `a wall clock that is set is a hint, and no sleep`() async throws {
        let stage = Stage()
        try await stage.run {
            stage.findings.yield(.wallClockSet(by: -3600))
            await stage.expect(.clockSet(by: .seconds(-3600)))
            #expect(stage.observer.phase == .active)
        }
    }

    @Test func `real sources are joined, and none of them must be there`() async throws {
        let log = LogCenter(sinks: [], clock: FixedWallClock()).log(.background)
        let alone = LifecycleObserver(
            login: nil, suspend: nil, routes: nil, clock: SystemClock(), log: log)
        try await observe(alone) { next in
            alone.rehearse(.sleep)
            #expect(await next() == .phase(.background))
        }

        let bus = try await PrivateBus()
        let logind = try await PrivateLoginManager(on: bus)
        let login = try LoginManager(address: bus.address, user: 7, log: log)
        let observer = LifecycleObserver(
            login: login, suspend: try SuspendClock(), routes: try RouteMonitor(log: log),
            clock: SystemClock(),
            log: log)
        try await observe(observer) { next in
            var seen: Set<LifecycleEvent> = []
            while let event = await next() {
                if case .networkChanged = event { continue }
                seen.insert(event)
                if seen == [.managerChanged(isPresent: true), .phase(.inactive)] { break }
            }
            try await logind.prepareForSleep(true, false)
            var order: [LifecycleEvent] = []
            while order.count < 4, let event = await next() {
                if case .networkChanged = event { continue }
                order.append(event)
            }
            #expect(order == [.phase(.background), .willSleep, .woke(slept: nil), .phase(.inactive)])
        }
        await #expect(throws: InhibitFailure.closed) { _ = try await login.inhibitSleep(why: "it is over") }
    }

    private func observe(
        _ observer: LifecycleObserver, _ body: (() async -> LifecycleEvent?) async throws -> Void
    ) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await observer.run() }
            try await body {
                var events = observer.events.makeAsyncIterator()
                return await events.next()
            }
            group.cancelAll()
        }
    }
}
