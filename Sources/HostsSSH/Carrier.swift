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

    /// What is known of its end, such as the last lines of a ProxyCommand's standard error; empty when nothing is.
    ///
    /// Asked on the event loop once the socket has ended.
    var lastWords: String { get }
}
