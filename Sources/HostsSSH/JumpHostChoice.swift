import HostsModel

/// Which session of a jump host opens the next tunnel, as a value.
///
/// libssh2 opens one tunnel at a time in a session, and the jump host's server answers when it has connected: a
/// host behind it that drops every packet would hold up all others for minutes. So an opening that takes long
/// makes room for another session, up to a bound.
struct JumpHostChoice: Hashable, Sendable {
    /// How long an opening may keep others waiting before another session is made.
    static let patience: Duration = .milliseconds(500)
    /// Most sessions to one jump host.
    static let sessionLimit = 4

    enum Action: Hashable, Sendable {
        /// The session with this index opens it.
        case use(Int)
        /// Nothing can be done before something changes, or before this instant.
        case wait(until: ContinuousClock.Instant?)
        /// One more session is needed.
        case logIn
    }

    /// For each living session: since when it opens a tunnel; nil when it is free to.
    var sessions: [ContinuousClock.Instant?] = []
    var isLoggingIn = false

    func next(now: ContinuousClock.Instant) -> Action {
        if let free = sessions.firstIndex(of: nil) { return .use(free) }
        if isLoggingIn { return .wait(until: nil) }
        guard !sessions.isEmpty else { return .logIn }
        guard sessions.count < Self.sessionLimit else { return .wait(until: nil) }
        // The one that began last is the likeliest to be done soon.
        let latest = sessions.compactMap { $0 }.max() ?? now
        let patience = latest.advanced(by: Self.patience)
        return now < patience ? .wait(until: patience) : .logIn
    }
}
