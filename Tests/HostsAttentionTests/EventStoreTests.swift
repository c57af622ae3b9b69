import FoundationEssentials
import Glibc
import HostsModel
import HostsTestSupport
import Testing

@testable import HostsAttention

@Suite struct EventStoreTests {
    let folder: TemporaryFolder
    let now = WallTime(milliseconds: 1_796_068_800_000)

    init() throws {
        folder = try TemporaryFolder()
    }

    private var path: String { folder.path + "/state/hostsd.db" }

    private func events(_ count: Int) -> [AttentionEvent] {
        var ids = EventIDSource()
        return (0..<count).map { number in
            AttentionEvent(
                id: ids.next(at: now), kind: .turnEnded, key: "session:devbox/1", time: now,
                host: CenterRig.devbox, session: SessionID(rawValue: "devbox/1"),
                agent: AgentName(rawValue: "claude"), place: "main:0.1", reason: nil,
                turn: "devbox/1#x.\(number)",
                gap: number == 0 ? .milliseconds(1500) : nil, summary: "claude 'quoted' – ✻ finished",
                delivery: .pending)
        }
    }

    private func delivery(of event: AttentionEvent, _ state: Delivery.State = .pending) -> Delivery {
        Delivery(
            id: Delivery.ID(event: event.id, hook: "50-log"), lane: "devbox", created: now, clears: event.id,
            state: state, attempts: 2, failures: 1, nextAttempt: now, note: "exit 1")
    }

    @Test func `what was saved comes back as it was, after a new start`() throws {
        let events = events(3)
        let deliveries = [delivery(of: events[0]), delivery(of: events[2], .delivered)]
        try EventStore(path: path).save(events: events, deliveries: deliveries, now: now)
        let contents = try EventStore(path: path).contents(limit: 10, now: now)
        #expect(contents.events == events)
        #expect(contents.deliveries == deliveries)
        #expect(contents.olderEvents.isEmpty)
    }

    @Test func `a change replaces what was there`() throws {
        let store = EventStore(path: path)
        var event = try #require(events(1).first)
        try store.save(events: [event], deliveries: [delivery(of: event)], now: now)
        event.delivery = .dropped(.noHook)
        try store.save(events: [event], deliveries: [delivery(of: event, .failed)], now: now)
        let contents = try store.contents(limit: 10, now: now)
        #expect(contents.events == [event])
        #expect(contents.deliveries == [delivery(of: event, .failed)])
    }

    @Test func `file and folder are private`() throws {
        try EventStore(path: path).save(events: events(1), deliveries: [], now: now)
        let store = EventStore(path: path)
        try store.open(now: now)
        for (file, mode) in [(folder.path + "/state", 0o700), (path, 0o600), (path + "-wal", 0o600)] {
            var status = stat()
            #expect(stat(file, &status) == 0)
            #expect(status.st_mode & 0o777 == mode, "\(file)")
        }
    }

    @Test func `an old event that is still to be told comes back beside the newest`() throws {
        let events = events(5)
        try EventStore(path: path).save(
            events: events, deliveries: [delivery(of: events[0]), delivery(of: events[1], .failed)], now: now)
        let contents = try EventStore(path: path).contents(limit: 2, now: now)
        #expect(contents.events == Array(events.suffix(2)))
        #expect(contents.olderEvents == [events[0]])
        #expect(contents.deliveries.map(\.id.event) == [events[0].id])
    }

    @Test func `pruning keeps the newest events and what is still to be told`() throws {
        let store = EventStore(path: path, capacity: 3)
        let events = events(10)
        try store.save(
            events: events, deliveries: [delivery(of: events[1]), delivery(of: events[2], .delivered)],
            now: now)
        try store.prune(now: now)
        let left = try store.events(
            after: try #require(EventID(rawValue: "0000000000000000")), limit: 100, now: now)
        #expect(left == [events[1]] + events.suffix(3))
        #expect(try store.contents(limit: 100, now: now).deliveries.map(\.id.event) == [events[1].id])
    }

    @Test func `events after one come oldest first and within the limit`() throws {
        let store = EventStore(path: path)
        let events = events(5)
        try store.save(events: events, deliveries: [], now: now)
        #expect(try store.events(after: events[1].id, limit: 2, now: now) == Array(events[2...3]))
    }

    @Test func `a full file is an error, and a smaller write works again`() throws {
        let store = EventStore(path: path, maximumPages: 12)
        #expect(throws: StoreError.full(path: path)) {
            try store.save(events: events(2000), deliveries: [], now: now)
        }
        try store.save(events: events(1), deliveries: [], now: now)
        #expect(try store.contents(limit: 10, now: now).events.count == 1)
    }

    @Test func `a file of a newer program is left alone`() throws {
        try EventStore(path: path).save(events: events(1), deliveries: [], now: now)
        try SQLiteDatabase(path: path).execute("PRAGMA user_version = 99")
        #expect(throws: StoreError.newer(path: path, version: 99)) {
            try EventStore(path: path).contents(limit: 1, now: now)
        }
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: folder.path + "/state").contains("hostsd.db"))
    }

    @Test func `a link in the place of the file is not followed`() throws {
        #expect(mkdir(folder.path + "/state", 0o700) == 0)
        #expect(symlink(folder.path + "/elsewhere", path) == 0)
        #expect(throws: StoreError.inaccessible(path: path, code: ELOOP)) {
            try EventStore(path: path).open(now: now)
        }
        #expect(access(folder.path + "/elsewhere", F_OK) != 0)
    }

    @Test func `every status has words that give it back`() {
        let all: [DeliveryStatus] =
            [.pending, .delivered, .failed, .recorded]
            + DeliveryStatus.DropReason.allCases.map { .dropped($0) }
        for status in all {
            #expect(DeliveryStatus(word: status.word, dropReason: status.dropReason?.rawValue) == status)
        }
        #expect(DeliveryStatus(word: "dropped", dropReason: nil) == nil)
        #expect(DeliveryStatus(word: "else", dropReason: nil) == nil)
    }
}
