/// Makes one phase out of all hints of sleep, wake and presence (seed 002).
///
/// The hints come from sources that know nothing of each other, in any order, twice or not at all:
///
/// - logind says that a sleep begins and that it is over. Either may come twice, and the end may be missing
///   (logind restarted, the sleep failed).
/// - The clocks say that the machine has slept, and for how long. Without a word of logind that is a sleep that was
///   missed: it is told after the fact, so that everybody sees the wake.
/// - The login manager says whether the person is there.
///
/// One sleep is told once: the first sign of its end ends it, what comes later about the same sleep changes nothing.
/// Every method takes the time in seconds of one clock that never goes back, and answers what to tell, in this
/// order. No value of the parameters traps.
public struct PhaseTracker: Hashable, Sendable {
    /// What there is to tell.
    public enum Change: Hashable, Sendable {
        /// The phase is another one.
        case phase(ActivityPhase)
        /// The machine is about to sleep; follows the phase `background`.
        case willSleep
        /// The machine is awake again; comes before the phase that follows. Seconds, nil if they are not known.
        case woke(slept: TimeInterval?)
    }

    /// Seconds after which a sleep that was announced and did not come counts as over.
    public static let announcementLimit: TimeInterval = 30

    /// Shortest sleep in seconds that counts.
    public static let shortestSleep: TimeInterval = 2

    /// Seconds after a wake of unknown length in which a sleep that the clocks find is the one that just ended.
    public static let sameWakeGrace: TimeInterval = 5

    /// Seconds after a sleep that was missed in which its own announcement may still come.
    ///
    /// The machine may sleep before we have read that it will, and we read it after the wake. A sleep that begins
    /// so soon after another is found by the clocks.
    public static let lateAnnouncementGrace: TimeInterval = 2

    private enum State: Hashable, Sendable {
        /// Can transition to: `asleep` (announcement); a missed sleep passes through and comes back.
        case awake(Since)
        /// Can transition to: `awake` (end of the sleep, a sleep of the clocks, `deadline`).
        case asleep(deadline: TimeInterval)
    }

    /// What the last wake leaves to be expected.
    private enum Since: Hashable, Sendable {
        case nothing
        /// The clocks may tell its length until then.
        case unmeasured(until: TimeInterval)
        /// Its announcement may come until then.
        case unannounced(until: TimeInterval)
    }

    private var state = State.awake(.nothing)
    private var presence = Presence.unknown

    /// Begins awake, with nothing known of the person: `active`.
    public init() {}

    /// The phase as it was told last.
    public var phase: ActivityPhase {
        switch state {
        case .asleep: .background
        case .awake: awakePhase
        }
    }

    /// When `timeReached` is to be called; nil while nothing is waited for.
    public var deadline: TimeInterval? {
        switch state {
        case .asleep(let deadline): deadline
        case .awake: nil
        }
    }

    /// Takes an announcement of logind.
    ///
    /// - Parameters:
    ///   - isBeginning: Whether a sleep begins; false: it is over.
    ///   - now: The time in seconds.
    /// - Returns: What to tell.
    public mutating func sleepAnnounced(isBeginning: Bool, at now: TimeInterval) -> [Change] {
        switch state {
        case .awake(.unannounced(let limit)) where now <= limit: return []
        case .awake where isBeginning:
            state = .asleep(deadline: now + Self.announcementLimit)
            return [.phase(.background), .willSleep]
        case .asleep where isBeginning:
            // Told twice, or the next one of which we missed the end of the last: it may take its time anew.
            state = .asleep(deadline: now + Self.announcementLimit)
            return []
        case .asleep: return wake(slept: nil, at: now)
        case .awake: return []
        }
    }

    /// Takes a sleep that the clocks have found.
    ///
    /// - Parameters:
    ///   - seconds: How long it was; what is shorter than `shortestSleep` or not a number is no sleep.
    ///   - now: The time in seconds.
    /// - Returns: What to tell.
    public mutating func slept(_ seconds: TimeInterval, at now: TimeInterval) -> [Change] {
        guard seconds.isFinite, seconds >= Self.shortestSleep else { return [] }
        switch state {
        case .asleep: return wake(slept: seconds, at: now)
        case .awake(.unmeasured(let limit)) where now <= limit:
            state = .awake(.nothing)
            return []
        case .awake:
            state = .awake(.unannounced(until: now + Self.lateAnnouncementGrace))
            return [.phase(.background), .woke(slept: seconds), .phase(awakePhase)]
        }
    }

    /// Takes what is known of the person.
    ///
    /// - Parameter presence: What the login manager says.
    /// - Returns: What to tell; nothing while the machine sleeps, the wake tells it then.
    public mutating func presenceChanged(_ presence: Presence) -> [Change] {
        let before = phase
        self.presence = presence
        return phase == before ? [] : [.phase(phase)]
    }

    /// Ends a sleep that was announced and neither came nor was called off.
    ///
    /// To be called when the clocks have been compared and no sleep was found.
    ///
    /// - Parameter now: The time in seconds.
    /// - Returns: What to tell; nothing before `deadline`.
    public mutating func timeReached(_ now: TimeInterval) -> [Change] {
        // Also true for a time that is not a number: rather awake too early than asleep for ever.
        guard case .asleep(let deadline) = state, !(now < deadline) else { return [] }
        return wake(slept: nil, at: now)
    }

    private mutating func wake(slept seconds: TimeInterval?, at now: TimeInterval) -> [Change] {
        state = .awake(seconds == nil ? .unmeasured(until: now + Self.sameWakeGrace) : .nothing)
        return [.woke(slept: seconds), .phase(awakePhase)]
    }

    private var awakePhase: ActivityPhase {
        switch presence {
        case .active, .unknown: .active
        case .away: .inactive
        }
    }
}
