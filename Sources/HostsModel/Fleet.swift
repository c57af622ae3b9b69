/// What a host shows (design: the hub).
package enum HostCondition: Hashable, Sendable {
    case online
    /// A probe is late; the last observation still stands.
    case checking
    case connecting
    case reconnecting(attempt: Int, at: WallTime)
    case asleep
    case disabled
    /// The person must act; nothing is tried until then.
    case needsYou(LinkError)
    /// The reconnect schedule is used up; the host dials on the next occasion.
    case dormant(LinkError)
    case limited(until: WallTime, LinkError)
    case unsupported(LinkError)
    /// Its record cannot be used, and there is no earlier good one.
    case badRecord(SourceLocation, message: String)
}

extension HostCondition {
    /// The word of the API.
    package var word: String {
        switch self {
        case .online: "online"
        case .checking: "checking"
        case .connecting: "connecting"
        case .reconnecting: "reconnecting"
        case .asleep: "asleep"
        case .disabled: "disabled"
        case .needsYou: "needsYou"
        case .dormant: "dormant"
        case .limited: "limited"
        case .unsupported: "unsupported"
        case .badRecord: "badRecord"
        }
    }
}

/// One host as the hub knows it.
package struct HostSnapshot: Hashable, Sendable {
    package let record: HostRecord
    package let condition: HostCondition
    /// The last error of the link, kept until the host is online again.
    package let lastError: LinkError?
    package let link: LinkSummary?
    package let generation: Int
    /// The last observation, however old.
    package let observation: HostObservation?
    /// What the current link has not confirmed yet is stale.
    package let isStale: Bool

    package init(
        record: HostRecord, condition: HostCondition, lastError: LinkError?, link: LinkSummary?,
        generation: Int,
        observation: HostObservation?, isStale: Bool
    ) {
        self.record = record
        self.condition = condition
        self.lastError = lastError
        self.link = link
        self.generation = generation
        self.observation = observation
        self.isStale = isStale
    }
}

/// What the hub tells whoever listens; it never knows who does.
package enum FleetEvent: Hashable, Sendable {
    /// A current look at a host. `gap` is the time since the look before, when the host was out of sight in
    /// between (link lost, suspended, or a probe overdue); nil when the looks follow each other.
    case observed(HostObservation, gap: Duration?)
    /// What a host shows has changed.
    case condition(HostID, from: HostCondition?, to: HostCondition, at: WallTime)
    /// What is shown of a host can no longer be known to be true; once per entry.
    case outOfSync(HostID, at: WallTime)
    /// The host's record is gone, and everything known of it.
    case removed(HostID, at: WallTime)
    /// Nothing has happened: whoever set the mark wants to know that what came before it is handled.
    case mark(Int)
}
