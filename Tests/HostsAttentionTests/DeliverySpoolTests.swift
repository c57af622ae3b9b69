import HostsModel
import Testing

@testable import HostsAttention

@Suite struct DeliverySpoolTests {
    private let start = ContinuousClock.now
    private let ids: [EventID]

    init() {
        var source = EventIDSource()
        ids = (0..<10).map { _ in source.next(at: WallTime(milliseconds: 0)) }
    }

    private func delivery(_ index: Int, hook: String = "a", lane: String = "devbox") -> Delivery {
        Delivery(
            id: Delivery.ID(event: ids[index], hook: hook), lane: lane, created: WallTime(milliseconds: 0))
    }

    @Test func `the oldest of a lane comes first, however they were added`() {
        var spool = DeliverySpool()
        for index in [2, 0, 1] { spool.add(delivery(index), due: start) }
        var order: [EventID] = []
        while let next = spool.start(now: start, hooks: ["a"]).first {
            order.append(next.id.event)
            spool.finish(next, due: nil)
        }
        #expect(order == Array(ids.prefix(3)))
        #expect(spool.count == 0)
    }

    @Test func `hosts and hooks do not wait for each other`() {
        var spool = DeliverySpool()
        spool.add(delivery(0), due: start)
        spool.add(delivery(1), due: start)
        spool.add(delivery(2, lane: "gpu"), due: start)
        spool.add(delivery(3, hook: "b"), due: start)
        let started = spool.start(now: start, hooks: ["a", "b"])
        #expect(started.map(\.id.event) == [ids[0], ids[2], ids[3]])
    }

    @Test func `a hook that cannot be run holds its deliveries`() {
        var spool = DeliverySpool()
        spool.add(delivery(0), due: start)
        let started = spool.start(now: start, hooks: ["b"])
        #expect(started.isEmpty)
        #expect(spool.nextDue(hooks: ["b"]) == nil)
        #expect(spool.count == 1)
    }

    @Test func `a retry holds its lane until it is due, or until something new comes`() {
        var spool = DeliverySpool()
        spool.add(delivery(0), due: start)
        let first = spool.start(now: start, hooks: ["a"])
        for started in first { spool.finish(started, due: start + .seconds(30)) }
        #expect(spool.nextDue(hooks: ["a"]) == start + .seconds(30))
        spool.add(delivery(1), due: start + .seconds(1))
        let early = spool.start(now: start, hooks: ["a"])
        #expect(early.isEmpty)
        let again = spool.start(now: start + .seconds(1), hooks: ["a"])
        #expect(again.map(\.id.event) == [ids[0]])
    }

    @Test func `what runs cannot be removed`() {
        var spool = DeliverySpool()
        spool.add(delivery(0), due: start)
        spool.add(delivery(1), due: start)
        _ = spool.start(now: start, hooks: ["a"])
        let running = spool.remove(delivery(0).id, lane: "devbox")
        let waiting = spool.remove(delivery(1).id, lane: "devbox")
        #expect(running == nil)
        #expect(waiting?.id.event == ids[1])
        #expect(spool.count == 1)
    }

    @Test func `a full spool gives up its oldest first`() {
        var spool = DeliverySpool()
        spool.add(delivery(1, lane: "gpu"), due: start)
        spool.add(delivery(0), due: start)
        let oldest = spool.removeOldest()
        #expect(oldest?.id.event == ids[0])
    }
}
