/// What the machine and its person are doing, as far as it decides what may run (seed 002).
public enum ActivityPhase: String, Hashable, Sendable, CaseIterable {
    /// Awake, and somebody is at a local session that is neither locked nor idle; also where nobody can tell.
    case active
    /// Awake, but nobody is there: locked, idle, on another terminal, or not logged in.
    case inactive
    /// About to sleep, or asleep.
    case background
}

/// Whether the person is at the machine.
public enum Presence: Hashable, Sendable {
    /// A local session is in front, unlocked and in use.
    case active
    /// Nobody is there.
    case away(AwayReason)
    /// There is no login manager to ask; counts as `active`, for an alert too many is better than none.
    case unknown
}

extension Presence: CustomStringConvertible {
    /// In words, for a log.
    public var description: String {
        switch self {
        case .active: "active"
        case .away(.locked): "locked"
        case .away(.idle): "idle"
        case .away(.elsewhere): "elsewhere"
        case .away(.loggedOut): "logged out"
        case .unknown: "unknown"
        }
    }
}

/// Why nobody is there.
public enum AwayReason: String, Hashable, Sendable, CaseIterable {
    /// The session is locked.
    case locked
    /// The session has not been used for as long as the desktop calls idle.
    case idle
    /// The person's sessions are on a terminal that is not in front.
    case elsewhere
    /// No local session.
    case loggedOut
}
