/// Decides what follows when a stream ends: where to go on, after which pause, or not at all.
package struct FollowState: Hashable, Sendable {
    /// What to do after a stream has ended.
    package enum Step: Hashable, Sendable {
        /// Connect again after a pause.
        case reconnect(after: Duration)
        case fail(ClientError)
    }

    /// The pauses between attempts; the last one repeats.
    ///
    /// A daemon that restarts is back within a second.
    package static let pauses: [Duration] = [
        .milliseconds(200), .milliseconds(500), .seconds(1), .seconds(2), .seconds(5),
    ]

    /// The id of the last line, to go on after it; nil before there was one.
    package private(set) var lastID: String?

    /// Whether the daemon was ever reached; until then nothing is tried again.
    package private(set) var hasBeenConnected = false

    /// How many attempts failed since the last line.
    package private(set) var failures = 0

    package init() {}

    /// Takes note that the daemon answered; only a line shows that the stream is of use again.
    package mutating func reached() {
        hasBeenConnected = true
    }

    /// Takes the id of a line that was handed on; nil for a line without one.
    package mutating func received(id: String?) {
        hasBeenConnected = true
        failures = 0
        if let id { lastID = id }
    }

    /// Takes note that another run of the daemon answers now, whose numbers start anew: nothing of it was seen.
    package mutating func beginAnew() {
        lastID = "0"
    }

    /// Takes the end of a stream, or of an attempt at one.
    package mutating func ended(_ error: ClientError) -> Step {
        guard hasBeenConnected, Self.isWorthRetry(error) else { return .fail(error) }
        let pause = Self.pauses[min(failures, Self.pauses.count - 1)]
        failures += 1
        return .reconnect(after: pause)
    }

    private static func isWorthRetry(_ error: ClientError) -> Bool {
        switch error {
        case .connectionLost, .streamEnded, .heartbeatMissed, .notRunning, .timedOut: true
        case .refused(let status, _, _): status == 503
        case .socketPathTooLong, .notPermitted, .deadlinePassed, .badAnswer, .tooLarge, .unavailable: false
        }
    }
}
