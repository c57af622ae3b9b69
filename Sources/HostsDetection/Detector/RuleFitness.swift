import HostsModel

/// Notices that the rules of an agent have grown old: its output moves on, look after look, and no rule sees work or a
/// need.
///
/// A screen at rest stands still, but for the composer and the rows below it, which are left out here.
struct RuleFitness: Hashable, Sendable {
    /// Looks in a row with changed output and no such sign: a minute of looks every 5 s.
    static let looks = 12

    /// The rules do not fit; until one sees work again.
    private(set) var areStale = false
    private var unread = 0
    private var digest: Int?

    /// Takes a drawn screen into account.
    ///
    /// - Parameters:
    ///   - reading: What the rules see on it.
    ///   - isWork: The movement itself is taken for work (`moving_is_busy`).
    mutating func observe(_ reading: ScreenReading, isWork: Bool) {
        let hasMoved = digest.map { $0 != reading.outputDigest } ?? false
        digest = reading.outputDigest
        switch reading.meaning {
        case .busy, .needsYou:
            unread = 0
            areStale = false
        case .previous: break
        case .idle where reading.strength == .strong: unread = 0
        case .idle, nil:
            guard hasMoved, !isWork else {
                unread = 0
                return
            }
            unread = min(unread + 1, Self.looks)
            if unread == Self.looks { areStale = true }
        }
    }

    /// The screen was not written to since the look before.
    mutating func observeStillness() { unread = 0 }
}
