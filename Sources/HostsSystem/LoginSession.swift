import HostsModel
import HostsPolicy

/// One session of the user as the login manager describes it (org.freedesktop.login1(5)).
struct LoginSession: Hashable, Sendable {
    /// In front on its seat.
    var isActive = true
    var isLocked = false
    var isIdle = false
    /// Came over the network: whoever uses it does not sit here.
    var isRemote = false
    var idleSince: WallTime?
    /// `tty`, `x11`, `wayland` and others; for the log.
    var type = "tty"
    /// `user` for a person; greeters, lock screens, cron and the user's manager have others.
    var className = "user"
    /// `closing` when the person has logged out and something of theirs still runs.
    var state = "active"

    /// Whether somebody may sit at it.
    var isOfPerson: Bool { className.hasPrefix("user") && !isRemote && state != "closing" }

    /// What a set of sessions says about the person.
    ///
    /// One session in use suffices. Of several that are not in use the one in front tells the reason.
    static func presence(_ sessions: some Collection<LoginSession>) -> Presence {
        let own = sessions.filter(\.isOfPerson)
        let inFront = own.filter(\.isActive)
        if inFront.contains(where: { !$0.isLocked && !$0.isIdle }) { return .active }
        if inFront.contains(where: \.isLocked) { return .away(.locked) }
        if !inFront.isEmpty { return .away(.idle) }
        return .away(own.isEmpty ? .loggedOut : .elsewhere)
    }
}
