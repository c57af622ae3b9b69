package import HostsModel

/// How long the client waits and how much it takes.
package struct ClientLimits: Hashable, Sendable {
    /// For the connection to the socket; a daemon that lives accepts at once.
    package var connect: Duration
    /// For the whole of a call, and for the first byte of a stream.
    package var call: Duration
    /// For a call that makes the daemon dial a host or open a key: its own stages may take 65 s.
    package var check: Duration
    /// How often a stream says that it lives (the server's side of this is its own constant).
    package var heartbeat: Duration
    /// How many beats may be missed.
    package var missedBeats: Int
    package var response: ByteCount
    /// One line of a stream.
    package var line: ByteCount

    package init(
        connect: Duration = .seconds(2), call: Duration = .seconds(10), check: Duration = .seconds(75),
        heartbeat: Duration = .seconds(15), missedBeats: Int = 2, response: ByteCount = .mebibytes(16),
        line: ByteCount = .mebibytes(1)
    ) {
        self.connect = connect
        self.call = call
        self.check = check
        self.heartbeat = heartbeat
        self.missedBeats = missedBeats
        self.response = response
        self.line = line
    }

    /// The silence after which a stream counts as dead.
    package var silence: Duration { heartbeat * missedBeats }
}
