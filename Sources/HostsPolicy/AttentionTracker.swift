/// Turns observations of the agents of one host into edges (seed 002).
///
/// - Without a prior observation of an agent there is no edge about it: the first look, after a cold start too, only
///   sets the baseline. `started` is the exception by nature; it needs an earlier look at the host.
/// - A lost link is no evidence. The owner keeps the tracker and calls ``update(_:)`` again when there is a current
///   look; what changed in between is found then, once.
/// - `unknown`, `stopped` and absence are no evidence either: the last known state is kept through them.
/// - A turn is a run of busy. It ends at most once: by idle or exit (`turnEnded`) or by the need for the person
///   (`needsYou`). An interrupted end is quiet. Idle with background work ends the turn only when that work is
///   gone, unless the agent itself says that the turn is over.
public struct AttentionTracker<ID: Hashable & Sendable>: Hashable, Sendable {
    /// How many looks in a row may miss an agent before it is forgotten without an edge; 10 min at 5 s.
    public static var absenceLimit: Int { 120 }

    private(set) var records: [ID: AttentionRecord]
    private(set) var hasLooked: Bool

    /// Makes a tracker that has seen nothing.
    public init() {
        self.init(records: [:], hasLooked: false)
    }

    init(records: [ID: AttentionRecord], hasLooked: Bool) {
        self.records = records
        self.hasLooked = hasLooked
    }

    /// The agents that have a baseline or at least were seen.
    public var ids: Set<ID> { Set(records.keys) }

    /// Takes one successful look at the host and says what has changed since the last one.
    ///
    /// - Parameter observed: Every agent found. One that has exited is listed once more as `.exited`.
    /// - Returns: The edges; those of one agent stand together and in their order, the agents in no order.
    public mutating func update(_ observed: [ID: AttentionObservation]) -> [AttentionEdge<ID>] {
        var edges: [AttentionEdge<ID>] = []
        for (id, observation) in observed { update(id, observation, &edges) }
        for id in records.keys where observed[id] == nil { miss(id) }
        hasLooked = true
        return edges
    }

    /// Forgets agents: the next look at them only sets a baseline.
    public mutating func forget(_ ids: some Sequence<ID>) {
        for id in ids { records[id] = nil }
    }

    private mutating func miss(_ id: ID) {
        guard var record = records[id] else { return }
        record.absences += 1
        records[id] = record.absences > Self.absenceLimit ? nil : record
    }

    private mutating func update(
        _ id: ID, _ observation: AttentionObservation, _ edges: inout [AttentionEdge<ID>]
    ) {
        let known = records[id]
        guard known != nil || observation.state != .exited else { return }
        var record = known ?? AttentionRecord()
        record.absences = 0
        var changes = record.take(observation)
        if known == nil {
            changes = hasLooked ? [.started] : []
        } else if known?.state == nil {
            // Seen, but never in a state that it could have changed from. That it is gone is certain all the same.
            changes.removeAll { $0 != .exited }
        }
        records[id] = observation.state == .exited ? nil : record
        edges += changes.map { AttentionEdge(id: id, change: $0, turn: record.turn) }
    }
}
