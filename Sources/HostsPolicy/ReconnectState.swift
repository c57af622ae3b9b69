/// The state of one link (seed 001).
public enum LinkState: Hashable, Sendable {
    /// Nothing is there and nothing is tried. Can become `connecting`.
    case disconnected
    /// An attempt runs. Can become `connected`, `suspended` or `disconnected`.
    case connecting
    /// The current attempt has succeeded. Can become `suspended`, `disconnected`, or `connecting` anew.
    case connected
    /// The transport is of a time before a suspension: not a connection until it is verified.
    case suspended
}

/// Tells current attempts from obsolete ones by a generation number (seed 001).
///
/// Every attempt, timer, probe result and close event carries the token that `begin()` gave. Only the current token may
/// change state; whoever holds a transport whose token was rejected closes it. Owned by one actor.
public struct ReconnectState: Hashable, Sendable {
    /// What the link is now.
    public private(set) var state: LinkState = .disconnected

    /// The current generation.
    ///
    /// Wraps around at `Int.max`, which no daemon lives to see.
    public private(set) var generation = 0

    /// Makes the state of a link that was never tried.
    public init() {}

    /// Makes the state of a link that takes the place of an earlier one, whose tokens must stay obsolete.
    ///
    /// - Parameter generation: The last generation of the earlier one.
    package init(after generation: Int) {
        self.generation = generation
    }

    /// Starts an attempt and makes all earlier ones obsolete.
    ///
    /// - Returns: The token of the attempt.
    public mutating func begin() -> Int {
        generation &+= 1
        state = .connecting
        return generation
    }

    /// Takes the success of an attempt.
    ///
    /// - Parameter token: The token of the attempt that succeeded.
    /// - Returns: Whether it is the current one. If not, close the transport that came with it.
    public mutating func established(_ token: Int) -> Bool {
        guard token == generation, state == .connecting else { return false }
        state = .connected
        return true
    }

    /// Takes note that the machine goes to sleep: the transport is no connection any more.
    public mutating func suspend() {
        generation &+= 1
        state = .suspended
    }

    /// Ends the link, whatever it was doing.
    public mutating func disconnect() {
        generation &+= 1
        state = .disconnected
    }
}
