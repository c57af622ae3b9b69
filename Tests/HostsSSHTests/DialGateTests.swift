import HostsModel
import HostsTestSupport
import Testing

@testable import HostsSSH

@Suite struct DialQueueTests {
    @Test func `a key has its limit, and all together have theirs`() {
        var queue = DialQueue()
        let first = (0..<6).map { queue.enter($0, "a") }
        #expect(first == [.admitted, .admitted, .admitted, .admitted, .waiting, .waiting])
        let others = (10..<30).map { queue.enter($0, "k\($0)") }
        #expect(others.filter { $0 == .admitted }.count == 12)
        #expect(queue.count == DialQueue.totalLimit)
    }

    @Test func `who came first is the first of a key, and the keys take turns`() {
        var queue = DialQueue()
        for id in 0..<16 { _ = queue.enter(id, "x\(id)") }
        for id in [20, 21, 22] { _ = queue.enter(id, "a") }
        for id in [30, 31] { _ = queue.enter(id, "b") }
        let order = (0..<5).flatMap { queue.leave("x\($0)") }
        #expect(order == [20, 30, 21, 31, 22])
    }

    @Test func `a full key does not hold up the others`() {
        var queue = DialQueue()
        for id in 0..<8 { _ = queue.enter(id, "a") }
        #expect(queue.enter(100, "b") == .admitted)
        #expect(queue.leave("b") == [])
        #expect(queue.leave("a") == [4])
    }

    @Test func `who gives up leaves no trace`() {
        var queue = DialQueue()
        for id in 0..<6 { _ = queue.enter(id, "a") }
        let isCancelled = queue.cancel(4, "a")
        #expect(isCancelled)
        let isInside = queue.cancel(0, "a")
        #expect(!isInside)
        #expect(queue.leave("a") == [5])
        for _ in 0..<4 { #expect(queue.leave("a") == []) }
        #expect(queue == DialQueue())
    }

    @Test func `beyond the bound nobody may wait`() {
        var queue = DialQueue()
        for id in 0..<(DialQueue.waiterLimit + DialQueue.keyLimit) { _ = queue.enter(id, "a") }
        #expect(queue.enter(-1, "a") == .refused)
    }
}

/// Somebody on the event loop who wants to dial.
private actor Caller {
    nonisolated var unownedExecutor: UnownedSerialExecutor {
        unsafe LinkFixture.loop.asUnownedSerialExecutor()
    }

    func enter(_ gate: DialGate, _ key: String) async throws(LinkError) -> DialGate.Pass {
        try await gate.enter(key)
    }
}

@Suite struct DialGateTests {
    private actor Peak {
        private var inside: [String: Int] = [:]
        private(set) var highest = 0
        private(set) var highestOfKey = 0

        func enter(_ key: String) {
            inside[key, default: 0] += 1
            highest = max(highest, inside.values.reduce(0, +))
            highestOfKey = max(highestOfKey, inside[key] ?? 0)
        }

        func leave(_ key: String) { inside[key, default: 0] -= 1 }
    }

    @Test(arguments: 0..<20)
    func `never more than the limits, everybody gets in, nothing is left`(round: Int) async {
        let gate = DialGate(loop: LinkFixture.loop)
        let peak = Peak()
        let entered = await withTaskGroup(of: Bool.self) { group in
            for index in 0..<200 {
                let key = "k\(index % 7)"
                group.addTask {
                    do {
                        let pass = try await Caller().enter(gate, key)
                        await peak.enter(key)
                        await Task.yield()
                        await peak.leave(key)
                        pass.leave()
                        return true
                    } catch {
                        return false
                    }
                }
            }
            return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(entered == 200)
        #expect(await peak.highest <= DialQueue.totalLimit)
        #expect(await peak.highestOfKey <= DialQueue.keyLimit)
        #expect(gate.count == 0)
    }

    @Test(arguments: 0..<20)
    func `waiters that are cancelled in the moment of their turn keep nothing`(round: Int) async {
        let gate = DialGate(loop: LinkFixture.loop)
        await withTaskGroup(of: Void.self) { group in
            for index in 0..<100 {
                group.addTask {
                    do {
                        let pass = try await Caller().enter(gate, "k")
                        await Task.yield()
                        pass.leave()
                    } catch {
                        #expect((error as? LinkError) == .cancelled)
                    }
                }
                if index % 3 == 0 { await Task.yield() }
            }
            group.cancelAll()
        }
        #expect(gate.count == 0)
    }
}
