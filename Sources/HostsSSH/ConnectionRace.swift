import HostsModel

/// Which address is tried when, as a value: attempts start one after another and race (RFC 8305, Happy Eyeballs).
///
/// An attempt is never cut short to try another: a slow network is not a dead one.
struct ConnectionRace: Sendable {
    /// Connection Attempt Delay (RFC 8305 section 5).
    static let delay: Duration = .milliseconds(250)
    /// Most addresses of one name that are tried.
    static let addressLimit = 16

    enum Action: Hashable, Sendable {
        /// Connect to the address with this index.
        case start(Int)
        /// Nothing to do before an attempt ends, or before this instant.
        case wait(until: ContinuousClock.Instant?)
        /// No attempt is left.
        case fail(LinkError)
    }

    private let count: Int
    private var started = 0
    private var failures: [LinkError] = []
    private var nextStart: ContinuousClock.Instant?

    init(addresses count: Int) {
        self.count = min(count, Self.addressLimit)
    }

    /// What is to be done now.
    mutating func next(now: ContinuousClock.Instant) -> Action {
        let mayStart = nextStart.map { $0 <= now } ?? true
        if started < count, mayStart {
            started += 1
            nextStart = now.advanced(by: Self.delay)
            return .start(started - 1)
        }
        guard failures.count < started else { return .fail(error) }
        return .wait(until: started < count ? nextStart : nil)
    }

    /// An attempt has failed: the next one begins at once.
    mutating func failed(_ error: LinkError) {
        failures.append(error)
        nextStart = nil
    }

    /// The most useful of what went wrong: a host that refuses is there.
    private var error: LinkError {
        let worth = failures.map { error in
            switch error {
            case .connectionRefused: 2
            case .timedOut: 1
            default: 0
            }
        }
        guard let best = worth.max(), let index = worth.firstIndex(of: best) else {
            preconditionFailure("a race has at least one address")
        }
        return failures[index]
    }

    /// The families in turn, beginning with that of the first address, each in its own order (RFC 8305 section 4).
    static func interleaved<Address>(_ addresses: [Address], family: (Address) -> Int32) -> [Address] {
        guard let first = addresses.first.map(family) else { return [] }
        var preferred = addresses.filter { family($0) == first }[...]
        var others = addresses.filter { family($0) != first }[...]
        var result: [Address] = []
        while let one = preferred.popFirst() ?? others.popFirst() {
            result.append(one)
            if let other = others.popFirst() { result.append(other) }
        }
        return result
    }
}
