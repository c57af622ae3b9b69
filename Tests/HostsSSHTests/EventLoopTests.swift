import CLinux
import Glibc
import HostsModel
import HostsTestSupport
import Testing

@testable import HostsSSH

struct EventLoopTests {
    private actor Pinned {
        nonisolated let loop: EventLoop
        nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

        init(_ loop: EventLoop) { self.loop = loop }

        func isOnLoop() -> Bool { loop.isCurrent }

        func wait(_ signal: LoopSignal, _ duration: Duration) async -> LoopSignal.Wake {
            await signal.wait(until: .now + duration)
        }

        func order(_ offsets: [Int]) async -> [Int] {
            let fired = Locked<[Int]>([])
            let signal = LoopSignal(on: loop)
            let start = ContinuousClock.now
            for offset in offsets {
                _ = loop.schedule(at: start + .milliseconds(offset)) {
                    fired.withLock { $0.append(offset) }
                    if fired.withLock({ $0.count }) == offsets.count { signal.raise() }
                }
            }
            _ = await signal.wait(until: .now + .seconds(120))
            return fired.withLock { $0 }
        }

        func echo() async -> Bool {
            var ends: [Int32] = [-1, -1]
            guard hosts_socket_pair(&ends) == 0 else { return false }
            defer { for end in ends { close(end) } }
            let signal = LoopSignal(on: loop)
            guard let registration = loop.register(ends[0], for: [.read], { _ in signal.raise() }) else {
                return false
            }
            var byte: UInt8 = 1
            write(ends[1], &byte, 1)
            let wake = await signal.wait(until: .now + .seconds(120))
            loop.deregister(registration)
            // Twice is once.
            loop.deregister(registration)
            return wake == .raised
        }

        func wakesOfADeadRegistration() async -> Int {
            var ends: [Int32] = [-1, -1]
            guard hosts_socket_pair(&ends) == 0 else { return -1 }
            defer { for end in ends { close(end) } }
            let wakes = Locked(0)
            let signal = LoopSignal(on: loop)
            guard let dead = loop.register(ends[0], for: [.read], { _ in wakes.withLock { $0 += 1 } }) else {
                return -1
            }
            loop.deregister(dead)
            guard let live = loop.register(ends[0], for: [.read], { _ in signal.raise() }) else { return -1 }
            // A change by way of the old registration must not reach the new one.
            loop.change(dead, to: [])
            var byte: UInt8 = 1
            write(ends[1], &byte, 1)
            let wake = await signal.wait(until: .now + .seconds(120))
            loop.deregister(live)
            return wake == .raised ? wakes.withLock { $0 } : -1
        }
    }

    private let pinned = Pinned(LinkFixture.loop)

    @Test func `an actor that is pinned to the loop runs there`() async {
        #expect(await pinned.isOnLoop())
        #expect(!LinkFixture.loop.isCurrent)
    }

    @Test func `a descriptor that becomes readable calls its handler`() async {
        #expect(await pinned.echo())
    }

    @Test func `a registration of the past neither wakes nor changes the present one`() async {
        #expect(await pinned.wakesOfADeadRegistration() == 0)
    }

    @Test func `timers fire in the order of their deadlines`() async {
        #expect(await pinned.order([5, 1, 3, 0, 2, 4, 1]) == [0, 1, 1, 2, 3, 4, 5])
    }

    @Test func `calls from many threads all arrive`() async {
        let count = Locked(0)
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<64 {
                group.addTask {
                    for _ in 0..<100 { LinkFixture.loop.execute { count.withLock { $0 += 1 } } }
                }
            }
        }
        await withCheckedContinuation { continuation in LinkFixture.loop.execute { continuation.resume() } }
        #expect(count.withLock { $0 } == 6400)
    }

    @Test func `code that belongs on the loop traps elsewhere`() async {
        await #expect(processExitsWith: .failure) {
            let loop = try EventLoop()
            loop.checkIsolated()
        }
    }

    @Test func `a signal ends a wait, now or later, and a deadline and a cancellation do, too`() async {
        let signal = LoopSignal(on: LinkFixture.loop)
        signal.raise()
        signal.raise()
        #expect(await pinned.wait(signal, .seconds(120)) == .raised)
        #expect(await pinned.wait(signal, .milliseconds(1)) == .deadline)
        let pinned = pinned
        let task = Task { await pinned.wait(signal, .seconds(120)) }
        task.cancel()
        #expect(await task.value == .cancelled)
        let waiting = Task { await pinned.wait(signal, .seconds(120)) }
        signal.raise()
        #expect(await waiting.value == .raised)
    }

    @Test func `a signal raised again and again holds up neither a deadline nor a cancellation`() async {
        let signal = LoopSignal(on: LinkFixture.loop)
        signal.raise()
        #expect(await pinned.wait(signal, .zero) == .deadline)
        let pinned = pinned
        let task = Task {
            withUnsafeCurrentTask { unsafe $0?.cancel() }
            return await pinned.wait(signal, .seconds(30))
        }
        #expect(await task.value == .cancelled)
        #expect(await pinned.wait(signal, .seconds(30)) == .raised)
    }

    @Test(arguments: 0..<50)
    func `a signal, a deadline and a cancellation race without a loss`(round: Int) async {
        let signal = LoopSignal(on: LinkFixture.loop)
        let pinned = pinned
        let task = Task { await pinned.wait(signal, .microseconds(round * 20)) }
        let raiser = Task { signal.raise() }
        if round % 3 == 0 { task.cancel() }
        _ = await task.value
        await raiser.value
    }

    @Test func `a blocking call gives its result, and is left alone at its deadline`() async {
        actor Caller {
            nonisolated var unownedExecutor: UnownedSerialExecutor {
                LinkFixture.loop.asUnownedSerialExecutor()
            }
            let pool = WorkerPool()

            func call(_ limit: Duration, _ body: @escaping @Sendable () -> Int) async -> Result<
                Int, WorkerPool.Interruption
            > {
                await pool.result(on: LinkFixture.loop, until: .now + limit, body)
            }
        }
        let caller = Caller()
        #expect(await caller.call(.seconds(120)) { 7 } == .success(7))
        var ends: [Int32] = [-1, -1]
        #expect(hosts_socket_pair(&ends) == 0)
        let (ours, theirs) = (ends[0], ends[1])
        let hung = await caller.call(.milliseconds(10)) {
            var byte: UInt8 = 0
            return read(theirs, &byte, 1)
        }
        #expect(hung == .failure(.deadline))
        // Its thread ends now; more calls than threads go through all the same.
        close(ours)
        await withTaskGroup(of: Bool.self) { group in
            for number in 0..<200 {
                group.addTask { await caller.call(.seconds(120)) { number } == .success(number) }
            }
            for await isRight in group { #expect(isRight) }
        }
        close(theirs)
    }
}

struct TimerQueueTests {
    @Test(arguments: 0..<50)
    func `timers come out in order whatever is inserted and removed`(seed: Int) {
        var generator = SeededGenerator(seed: UInt64(seed))
        let start = ContinuousClock.now
        var queue = TimerQueue<Int>()
        var expected: [(offset: Int, number: Int)] = []
        for number in 0..<300 {
            let offset = Int.random(in: 0..<50, using: &generator)
            let id = queue.insert(number, at: start + .seconds(offset))
            if Bool.random(using: &generator) {
                queue.remove(id)
                queue.remove(id)
            } else {
                expected.append((offset, number))
            }
        }
        expected.sort { ($0.offset, $0.number) < ($1.offset, $1.number) }
        #expect(queue.count == expected.count)
        for (offset, number) in expected {
            #expect(queue.earliest() == start + .seconds(offset))
            let early = queue.takeDue(now: start + .seconds(offset) - .nanoseconds(1))
            #expect(early == nil)
            let due = queue.takeDue(now: start + .seconds(offset))
            #expect(due == number)
        }
        let rest = queue.takeDue(now: start + .seconds(100))
        #expect(rest == nil)
    }
}
