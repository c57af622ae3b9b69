/// When to look at the network after it has changed: changes come in bursts, and a cable is many of them.
///
/// Times are microseconds of one clock.
struct RouteDebounce: Hashable, Sendable {
    /// How long nothing must happen before it is looked at.
    static let calm: UInt64 = 1_000_000
    /// How long after the first change it is looked at although others go on.
    static let longestUnrest: UInt64 = 3_000_000
    /// How long after a change it is looked at while there is no route: somebody may be waiting for one.
    static let withoutRoute: UInt64 = 250_000

    private var first: UInt64?
    /// When to look; nil while nothing has changed.
    private(set) var deadline: UInt64?

    /// Takes that something has changed.
    mutating func changed(at now: UInt64, hasRoute: Bool) {
        let start = first ?? now
        first = start
        deadline =
            hasRoute
            ? min(now &+ Self.calm, start &+ Self.longestUnrest)
            : min(deadline ?? .max, start &+ Self.withoutRoute)
    }

    /// Takes that it is being looked at.
    mutating func looked() {
        first = nil
        deadline = nil
    }
}
