/// Decides who may work while the machine goes to sleep, and whether time is asked for it (seed 002).
///
/// One host whose record says `background_keep_alive` asks for one delay before sleep, for the whole daemon. With nobody
/// opted in, none is ever asked for.
public enum BackgroundActivityPolicy {
    /// What of a host matters here.
    public struct Host: Hashable, Sendable {
        /// Its record says `background_keep_alive`.
        public var isOptedIn: Bool
        /// Its record says `enabled`.
        public var isEnabled: Bool
        /// A `hostsctl attach` to it is running.
        public var hasOpenWindow: Bool

        /// Makes the facts of a host.
        public init(isOptedIn: Bool, isEnabled: Bool, hasOpenWindow: Bool) {
            self.isOptedIn = isOptedIn
            self.isEnabled = isEnabled
            self.hasOpenWindow = hasOpenWindow
        }
    }

    /// The shortest delay that is worth a last round, in seconds.
    public static let shortestGrant: TimeInterval = 0.5

    /// The longest delay that is believed, in seconds; what logind grants is 5 s unless an administrator changes it, and
    /// systemd's own greatest useful value is an hour.
    public static let longestGrant: TimeInterval = 3_600

    /// What of a grant is kept for giving it back, in seconds.
    public static let margin: TimeInterval = 1

    /// The longest that a last round takes, in seconds, however much is granted: nobody waits for hostsd to sleep.
    public static let longestRound: TimeInterval = 4

    /// Whether the daemon needs time before sleep: some opted-in host is enabled or has a window.
    public static func wantsBackgroundTime(_ hosts: some Sequence<Host>) -> Bool {
        hosts.contains { $0.isOptedIn && ($0.isEnabled || $0.hasOpenWindow) }
    }

    /// Whether a host's loops may run: the feed, the probe of an open window, the monitor of an attach.
    ///
    /// - Parameters:
    ///   - phase: What the machine is doing.
    ///   - isOptedIn: Whether the host's record says `background_keep_alive`.
    ///   - hasBackgroundGrant: Whether the delay is held, or a refresh window is open.
    /// - Returns: Whether they may.
    public static func permitsLooking(
        in phase: ActivityPhase, isOptedIn: Bool, hasBackgroundGrant: Bool
    ) -> Bool {
        switch phase {
        case .active, .inactive: true
        case .background: isOptedIn && hasBackgroundGrant
        }
    }

    /// Whether a host may be dialled.
    ///
    /// Within the delay before sleep nothing is: a link that is about to be cut is no link.
    ///
    /// - Parameters:
    ///   - phase: What the machine is doing.
    ///   - isRunningBackgroundRefresh: Whether a refresh window is open, which dials whatever it refreshes.
    /// - Returns: Whether it may.
    public static func permitsDialling(
        in phase: ActivityPhase, isRunningBackgroundRefresh: Bool
    ) -> Bool {
        phase != .background || isRunningBackgroundRefresh
    }

    /// Whether a pane may be looked at every second because somebody watches it; nobody does in any other phase.
    public static func permitsWatching(in phase: ActivityPhase) -> Bool { phase == .active }

    /// How long the last round may take.
    ///
    /// The range is checked, not only whether it is a number: the greatest finite number is one, too, and stands for
    /// "not counting yet" where a system has such a value.
    ///
    /// - Parameter grant: What was granted, in seconds.
    /// - Returns: The time for the round in seconds; nil when the grant is no usable length.
    public static func roundLength(of grant: TimeInterval) -> TimeInterval? {
        guard grant >= shortestGrant + margin, grant <= longestGrant else { return nil }
        return min(grant - margin, longestRound)
    }

    /// Whether a refresh window is due at all: there is something to deliver, and somebody to deliver it.
    ///
    /// - Parameters:
    ///   - hosts: Every host.
    ///   - hasDormantHost: Whether an enabled host has used up its schedule: a window is the timer that tries it again.
    ///   - isAttentionActive: Whether alerts are switched on.
    /// - Returns: Whether it is.
    public static func wantsRefresh(
        _ hosts: some Sequence<Host>, hasDormantHost: Bool, isAttentionActive: Bool
    ) -> Bool {
        isAttentionActive && (hasDormantHost || hosts.contains { $0.isOptedIn && $0.isEnabled })
    }
}
