import HostsModel

/// The deliveries that are still to be made: which may start now, and when the next one may.
///
/// For each hook and host one runs at a time and in the order of the events; different hooks, and different hosts,
/// do not wait for each other. A wait for a retry holds its lane: what comes later tells of later things.
struct DeliverySpool {
    /// How many hooks run at the same time.
    static let concurrency = 4
    /// How many deliveries are held; the oldest ones give way.
    static let capacity = 10_000

    private struct Lane: Hashable {
        let hook: String
        let host: String
    }

    private struct Entry {
        var delivery: Delivery
        var due: ContinuousClock.Instant
    }

    /// Each in the order of the events.
    private var lanes: [Lane: [Entry]] = [:]
    private(set) var running: Set<Delivery.ID> = []
    private(set) var count = 0
    /// How many may run at the same time; at least one.
    var limit: Int

    init(concurrency: Int = Self.concurrency) {
        limit = concurrency
    }

    var deliveries: [Delivery] { lanes.values.flatMap { $0.map(\.delivery) } }

    /// Adds a delivery at its place in its lane.
    ///
    /// The head of the lane gets another try at once: it would only hold back what is new.
    mutating func add(_ delivery: Delivery, due: ContinuousClock.Instant) {
        let lane = Lane(hook: delivery.id.hook, host: delivery.lane)
        var entries = lanes[lane] ?? []
        if let head = entries.first, !running.contains(head.delivery.id) {
            entries[0].due = min(head.due, due)
        }
        let index = entries.lastIndex { $0.delivery.id.event < delivery.id.event }.map { $0 + 1 } ?? 0
        entries.insert(Entry(delivery: delivery, due: due), at: index)
        lanes[lane] = entries
        count += 1
    }

    /// Removes a delivery that is not to be made any more.
    ///
    /// - Returns: What was known of it, or nil when it is not there or runs.
    mutating func remove(_ id: Delivery.ID, lane host: String) -> Delivery? {
        let lane = Lane(hook: id.hook, host: host)
        guard !running.contains(id), let index = lanes[lane]?.firstIndex(where: { $0.delivery.id == id })
        else {
            return nil
        }
        return take(lane, index)
    }

    /// The oldest delivery that does not run, taken out; for a spool that is full.
    mutating func removeOldest() -> Delivery? {
        let waiting = lanes.compactMap { lane, entries in
            entries.firstIndex { !running.contains($0.delivery.id) }.map {
                (lane, $0, entries[$0].delivery.id.event)
            }
        }
        guard let (lane, index, _) = waiting.min(by: { $0.2 < $1.2 }) else { return nil }
        return take(lane, index)
    }

    /// Takes out the tellings to the same hook that the trouble of `delivery` is over.
    mutating func removeClearances(of delivery: Delivery) -> [Delivery] {
        let lane = Lane(hook: delivery.id.hook, host: delivery.lane)
        let clearances = (lanes[lane] ?? []).map(\.delivery).filter { $0.clears == delivery.id.event }
        return clearances.compactMap { remove($0.id, lane: $0.lane) }
    }

    /// Takes out what is older than its time to live.
    mutating func removeExpired(now: WallTime) -> [Delivery] {
        let expired = deliveries.filter { DeliveryPolicy.isExpired($0, now: now) && !running.contains($0.id) }
        return expired.compactMap { remove($0.id, lane: $0.lane) }
    }

    /// Marks the deliveries that may start now as running.
    ///
    /// - Parameters:
    ///   - now: The time.
    ///   - hooks: The names of the hooks that can be run.
    /// - Returns: The deliveries, those of older events first, and of one event in the order of the hooks' names.
    mutating func start(now: ContinuousClock.Instant, hooks: Set<String>) -> [Delivery] {
        let due = heads(hooks).filter { $0.due <= now }.map(\.delivery)
        let ready = due.sorted { ($0.id.event, $0.id.hook) < ($1.id.event, $1.id.hook) }
        let started = Array(ready.prefix(max(limit - running.count, 0)))
        running.formUnion(started.map(\.id))
        return started
    }

    /// When `start` has something to do next, as far as time decides it.
    func nextDue(hooks: Set<String>) -> ContinuousClock.Instant? {
        running.count < limit ? heads(hooks).map(\.due).min() : nil
    }

    /// Ends the run of a delivery: `due` is when it runs again, nil takes it out.
    mutating func finish(_ delivery: Delivery, due: ContinuousClock.Instant?) {
        running.remove(delivery.id)
        let lane = Lane(hook: delivery.id.hook, host: delivery.lane)
        guard let index = lanes[lane]?.firstIndex(where: { $0.delivery.id == delivery.id }) else { return }
        guard let due else { return _ = take(lane, index) }
        lanes[lane]?[index] = Entry(delivery: delivery, due: due)
    }

    private func heads(_ hooks: Set<String>) -> [Entry] {
        lanes.compactMap { lane, entries in
            guard hooks.contains(lane.hook), let head = entries.first, !running.contains(head.delivery.id)
            else {
                return nil
            }
            return head
        }
    }

    private mutating func take(_ lane: Lane, _ index: Int) -> Delivery? {
        let entry = lanes[lane]?.remove(at: index)
        if lanes[lane]?.isEmpty == true { lanes[lane] = nil }
        if entry != nil { count -= 1 }
        return entry?.delivery
    }
}
