/// How long a server that refuses us for a while is left alone: 60 s, doubling to 10 min.
///
/// A server that limits logins (OpenSSH's PerSourcePenalties since 9.8, MaxStartups, fail2ban) counts connections; to
/// knock again soon keeps the block alive and locks the person's own `ssh` out.
package struct PenaltyBackoff: Hashable, Sendable {
    package static let shortest: Duration = .seconds(60)
    package static let longest: Duration = .seconds(600)

    private var refusals = 0

    package init() {}

    /// Takes one more refusal and tells how long to wait.
    package mutating func refused() -> Duration {
        let factor = 1 << min(refusals, 10)
        refusals += 1
        return min(Self.shortest * factor, Self.longest)
    }
}
