import HostsModel

/// What carries the bytes of one SSH session: a socket, and whatever must live and end with it.
struct Carrier: ~Copyable, Sendable {
    let socket: SocketDescriptor
    /// Where it leads, for people, such as `192.0.2.1:22`.
    let address: String
    /// Nil for a TCP connection of our own.
    let conduit: (any Conduit)?

    consuming func take() -> SocketDescriptor { socket }
}

/// Passes the bytes of a session on behind its socket: a ProxyCommand, or a channel of a jump host.
protocol Conduit: AnyObject, Sendable {
    /// Ends it, on the event loop; a second call has no effect.
    func close()

    /// Waits until what can be known of its end is known; returns at once where nothing is awaited.
    ///
    /// For whoever has seen the socket end. Bounded; callable from any thread.
    func untilEnded() async

    /// What its end means for the session, or nil where it has nothing to add to the end of the socket.
    ///
    /// Asked on the event loop once the socket has ended.
    func ending(_ stage: LinkError.Stage) -> LinkError?
}
