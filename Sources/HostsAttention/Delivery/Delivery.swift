package import HostsModel

/// The telling of one event to one hook.
package struct Delivery: Hashable, Sendable {
    /// Where it stands.
    package enum State: String, Hashable, Sendable {
        /// To be tried, now or later.
        case pending
        /// The hook exited 0.
        case delivered
        /// The hook failed each time it was allowed to try.
        case failed
        /// It was still undelivered when its time to live was over.
        case dead
        /// What it would tell was over before it could be told.
        case cleared
    }

    /// What tells it from every other.
    package struct ID: Hashable, Sendable {
        package let event: EventID
        /// The file name of the hook.
        package let hook: String

        package init(event: EventID, hook: String) {
            self.event = event
            self.hook = hook
        }
    }

    package let id: ID
    /// The host that the event is about, empty for the daemon itself: order is kept for each hook and host.
    package let lane: String
    package let created: WallTime
    /// The event that this one clears: told only if that one was delivered to the same hook.
    package let clears: EventID?
    package internal(set) var state: State
    /// How often the hook was run for it.
    package internal(set) var attempts: Int
    /// How often it ended in a failure that is not a request to come back later.
    package internal(set) var failures: Int
    /// When it is tried again, in civil time, so that it means something after a restart.
    package internal(set) var nextAttempt: WallTime?
    /// How the last attempt ended, in a few words.
    package internal(set) var note: String?

    package init(
        id: ID, lane: String, created: WallTime, clears: EventID? = nil, state: State = .pending,
        attempts: Int = 0,
        failures: Int = 0, nextAttempt: WallTime? = nil, note: String? = nil
    ) {
        self.id = id
        self.lane = lane
        self.created = created
        self.clears = clears
        self.state = state
        self.attempts = attempts
        self.failures = failures
        self.nextAttempt = nextAttempt
        self.note = note
    }
}
