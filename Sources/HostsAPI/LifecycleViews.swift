/// The answer to `POST /v1/refresh`: what a refresh window was for, after it has closed.
package struct RefreshDocument: Codable, Hashable, Sendable {
    package var schema: Int
    /// False when there was nothing to deliver, or nobody who may be told.
    package var refreshed: Bool
    /// The hosts that the window was for, as they are now.
    package var hosts: [HostView]
    /// One line for people.
    package var message: String

    package init(refreshed: Bool, hosts: [HostView], message: String) {
        schema = apiSchema
        self.refreshed = refreshed
        self.hosts = hosts
        self.message = message
    }
}

/// What `POST /v1/debug/NAME` can play, beside the real thing: the same code runs.
package enum DebugAction: String, Codable, Hashable, Sendable, CaseIterable {
    /// Turns `background_keep_alive` of a host on or off.
    case keepalive
    /// Opens a refresh window.
    case refresh
    /// Plays the announcement of a sleep.
    case sleep
    /// Plays the announcement of its end.
    case wake
}

/// The answer to `POST /v1/debug/sleep` and `POST /v1/debug/wake`.
package struct DebugDocument: Codable, Hashable, Sendable {
    package var schema: Int
    /// `active inactive background`.
    package var phase: String
    /// Whether the delay before sleep is held.
    package var holding: Bool
    /// One line for people.
    package var message: String

    package init(phase: String, holding: Bool, message: String) {
        schema = apiSchema
        self.phase = phase
        self.holding = holding
        self.message = message
    }
}
