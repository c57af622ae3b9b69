import HostsLog
import HostsModel

/// The events in memory, and their way to the store.
///
/// What cannot be stored stays in memory and is written as soon as it can be; nothing is lost silently.
final class EventJournal {
    /// How many of the newest events are held in memory.
    static let recentLimit = 1000
    /// How many unsaved events are held while the store cannot be used.
    static let unsavedLimit = 10_000
    /// The pause before the store is tried again.
    static let retryPause = Duration.seconds(30)
    /// How many events are written between two prunings.
    private static let pruneInterval = 500

    private let store: EventStore
    private let log: Log
    private let clock: any MonotonicClock
    private let wall: any WallClock
    private var ids = EventIDSource()
    private(set) var recent: [AttentionEvent] = []
    private var unsavedEvents: [EventID: AttentionEvent] = [:]
    private var unsavedDeliveries: [Delivery.ID: Delivery] = [:]
    private var savedSincePruning = 0
    private var retryAt: ContinuousClock.Instant?
    /// Why the store cannot be used now; nil while it can.
    private(set) var failure: StoreError?

    init(store: EventStore, log: Log, clock: any MonotonicClock, wall: any WallClock) {
        self.store = store
        self.log = log
        self.clock = clock
        self.wall = wall
    }

    /// Reads what an earlier run has left.
    func load() -> EventStore.Contents {
        for _ in 0..<2 {
            do throws(StoreError) {
                let contents = try store.contents(limit: Self.recentLimit, now: wall.now)
                recent = contents.events
                if let last = recent.last { ids.advance(past: last.id) }
                report(nil)
                return contents
            } catch {
                report(error)
                // A damaged file was set aside; the second try begins a new one.
                guard case .corrupt = error else { break }
            }
        }
        return EventStore.Contents()
    }

    func nextID() -> EventID { ids.next(at: wall.now) }

    /// Takes new events.
    func append(_ events: [AttentionEvent]) {
        for event in events { unsavedEvents[event.id] = event }
        recent += events
        if recent.count > Self.recentLimit { recent.removeFirst(recent.count - Self.recentLimit) }
        boundUnsaved()
    }

    /// Takes a change of an event.
    func update(_ event: AttentionEvent) {
        unsavedEvents[event.id] = event
        guard let index = recent.lastIndex(where: { $0.id == event.id }) else { return }
        recent[index] = event
    }

    /// Takes a new or changed delivery.
    func update(_ delivery: Delivery) {
        unsavedDeliveries[delivery.id] = delivery
    }

    /// Writes what is not written yet, unless the store failed a moment ago.
    ///
    /// - Parameter known: What a new file must hold when the old one turns out to be damaged or gone.
    func flush(known: () -> (events: [AttentionEvent], deliveries: [Delivery])) {
        guard !unsavedEvents.isEmpty || !unsavedDeliveries.isEmpty else { return }
        if let retryAt, clock.now < retryAt { return }
        do throws(StoreError) {
            try save()
        } catch {
            switch error {
            case .corrupt, .removed: report(error)
            case .full, .inaccessible, .newer, .busy, .failed: return report(error)
            }
            let known = known()
            for event in recent + known.events { unsavedEvents[event.id] = event }
            for delivery in known.deliveries { unsavedDeliveries[delivery.id] = delivery }
            do throws(StoreError) { try save() } catch { return report(error) }
        }
        report(nil)
    }

    /// When `flush` is worth a call although nothing new has come; nil while the store works.
    var nextDue: ContinuousClock.Instant? { retryAt }

    /// Events for a reader, oldest first: those after `id`, or the newest ones.
    func events(after id: EventID?, limit: Int) -> [AttentionEvent] {
        let limit = max(limit, 0)
        guard let id else { return recent.suffix(limit) }
        let isInMemory = recent.first.map { $0.id <= id } ?? true
        if !isInMemory, failure == nil {
            do throws(StoreError) {
                return try store.events(after: id, limit: limit, now: wall.now)
            } catch {
                // Answered from memory instead, which holds the newer part.
                report(error)
            }
        }
        return Array(recent.filter { $0.id > id }.prefix(limit))
    }

    /// How many deliveries were given up, by the name of the hook; empty while the store cannot be read.
    func deadDeliveries() -> [String: Int] {
        guard failure == nil else { return [:] }
        do throws(StoreError) {
            return try store.deadDeliveries(now: wall.now)
        } catch {
            report(error)
            return [:]
        }
    }

    /// Leaves a document for the next run.
    func leave(handover: String) {
        do throws(StoreError) { try store.save(handover: handover, now: wall.now) } catch { report(error) }
    }

    /// Takes the document that the last run has left, if it has left one.
    func takeHandover() -> String? {
        do throws(StoreError) {
            return try store.takeHandover(now: wall.now)
        } catch {
            report(error)
            return nil
        }
    }

    func close() {
        store.close()
    }

    private func save() throws(StoreError) {
        let events = unsavedEvents.values.sorted { $0.id < $1.id }
        try store.save(events: events, deliveries: Array(unsavedDeliveries.values), now: wall.now)
        unsavedEvents = [:]
        unsavedDeliveries = [:]
        savedSincePruning += events.count
        guard savedSincePruning >= Self.pruneInterval else { return }
        savedSincePruning = 0
        try store.prune(now: wall.now)
    }

    /// Logs a change of the store's health, once.
    private func report(_ error: StoreError?) {
        defer { failure = error }
        guard let error else {
            retryAt = nil
            if failure != nil { log.notice("store.recovered", "events are stored again in \(store.path)") }
            return
        }
        retryAt = clock.now + Self.retryPause
        guard failure != error else { return }
        log.error(
            "store.failed", "\(error.message); events are kept in memory; \(error.help)",
            .text("code", error.code))
    }

    private func boundUnsaved() {
        guard unsavedEvents.count > Self.unsavedLimit else { return }
        let surplus = unsavedEvents.values.filter { $0.delivery != .pending }.map(\.id).min()
        guard let surplus else { return }
        unsavedEvents[surplus] = nil
        unsavedDeliveries = unsavedDeliveries.filter { $0.key.event != surplus }
        log.warning(
            "store.overflow", "an event could not be stored for long and is forgotten",
            .text("id", surplus.rawValue))
    }
}
