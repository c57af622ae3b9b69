/// Decides whether a transport that has died is damage done by a suspension, which is repaired, or an end that is left
/// alone (seed 002).
///
/// A channel closes in the same way after both. What tells them apart: the machine left the foreground while the session
/// was live, and it has not been live since. The death may show before the return or after it; a death within
/// ``graceAfterReturn`` after the return still belongs to that suspension.
///
/// - Nothing is tried in the background.
/// - There are three attempts, after 0, 2 and 5 s, which begin anew once the session is live.
/// - No attempt is counted before there is a route to the host.
/// - A passphrase that is awaited defers to the person, always.
///
/// Time is passed in: seconds on a clock that counts through suspension. A time that is not a number counts as the
/// latest one that was.
public struct SessionResumePolicy: Hashable, Sendable {
    /// What is to be done about a session.
    public enum Decision: Hashable, Sendable {
        /// It lives, or its end was ordinary or meant: nothing is repaired.
        case leave
        /// Damage, but the machine is in the background: ask again on the return.
        case park
        /// Damage, but there is no way to the host yet: ask again when there is one.
        case awaitRoute
        /// A passphrase is awaited: the person goes on from here.
        case deferToPerson
        /// Make the attempt with this number, 1 to 3, after this wait in seconds.
        case repair(attempt: Int, after: TimeInterval)
        /// Every attempt has been made.
        case exhausted
    }

    /// How long after the return a death still belongs to the suspension, in seconds.
    public static let graceAfterReturn: TimeInterval = 10

    /// The waits before the attempts, in seconds.
    public static let delays: [TimeInterval] = [0, 2, 5]

    private enum Life: Hashable, Sendable {
        /// Never live, or its end was taken note of and is no damage. Can become `live`.
        case ended
        /// Can become `away` or `ended`.
        case live
        /// Live when the machine left the foreground, and not live since. Can become `live`, `damaged` or `ended`.
        case away
        /// Dead by suspension. Can become `live`.
        case damaged
    }

    private var life = Life.ended
    private var isInBackground = false
    private var returnedAt: TimeInterval?
    private var latest: TimeInterval = -.greatestFiniteMagnitude

    /// The attempts made since the session was live last.
    public private(set) var attempts = 0

    /// Makes the policy of a session that has not been live yet, in the foreground.
    public init() {}

    /// Takes note that the session is known to be live: connected, or verified after a return.
    public mutating func sessionBecameLive(at now: TimeInterval) {
        _ = advance(to: now)
        attempts = 0
        // Live in the background is live before the machine leaves: the suspension is still to come.
        life = isInBackground ? .away : .live
    }

    /// Takes note that the machine leaves the foreground; said twice, it is said once.
    public mutating func leftForeground(at now: TimeInterval) {
        let now = advance(to: now)
        settle(at: now)
        isInBackground = true
        returnedAt = nil
        if life == .live { life = .away }
    }

    /// Takes note that the machine is back in the foreground; said twice, the first time counts.
    public mutating func returnedToForeground(at now: TimeInterval) {
        let now = advance(to: now)
        guard isInBackground else { return }
        isInBackground = false
        returnedAt = now
    }

    /// Takes note that the transport is gone.
    public mutating func transportDied(at now: TimeInterval) {
        let now = advance(to: now)
        settle(at: now)
        switch life {
        case .away, .damaged: life = .damaged
        case .live, .ended: life = .ended
        }
    }

    /// Takes note that an attempt begins; more than there are count as the last one.
    public mutating func attemptBegan() {
        attempts = min(attempts + 1, Self.delays.count)
    }

    /// What is to be done now; asking changes nothing.
    ///
    /// - Parameters:
    ///   - now: The time in seconds.
    ///   - hasRoute: Whether packets to the host would leave this machine.
    ///   - awaitsPassphrase: Whether a key of the host waits for its passphrase.
    /// - Returns: The decision; it stands until one of the facts changes.
    public func decision(at now: TimeInterval, hasRoute: Bool, awaitsPassphrase: Bool) -> Decision {
        guard life == .damaged else { return .leave }
        guard !awaitsPassphrase else { return .deferToPerson }
        guard !isInBackground else { return .park }
        guard attempts < Self.delays.count else { return .exhausted }
        guard hasRoute else { return .awaitRoute }
        return .repair(attempt: attempts + 1, after: Self.delays[attempts])
    }

    /// A session whose transport has outlived the grace is live again, verified or not.
    private mutating func settle(at now: TimeInterval) {
        guard life == .away, !isInBackground, let returnedAt, now - returnedAt > Self.graceAfterReturn else {
            return
        }
        life = .live
        attempts = 0
    }

    /// Time does not run backwards, and is a number.
    private mutating func advance(to now: TimeInterval) -> TimeInterval {
        if now.isFinite { latest = max(latest, now) }
        return latest
    }
}
