/// The transport to one host, as the hub sees it.
///
/// The hub knows no other word about links.
///
/// A link is logged in when it exists. It is used by one caller at a time and closed exactly once; a second `close`
/// has no effect. Whoever holds a link whose token was rejected closes it (seed 001).
package protocol ProbeLink: Sendable {
    /// The generation of the attempt that made it.
    var token: Int { get }
    /// How it reaches the host, for people.
    var summary: LinkSummary { get }

    /// Runs one request on the host's shell and waits for its framed reply.
    ///
    /// - Throws: `.timedOut` when `deadline` passes first; any error leaves the link closed.
    func probe(_ request: ProbeRequest, until deadline: ContinuousClock.Instant) async throws(LinkError)
        -> ProbeReply

    /// Waits until the link has ended, and tells why. Returns at once when it has ended already.
    func untilClosed() async -> LinkError

    /// Ends the link and frees its descriptor. Never waits for the peer.
    func close(_ reason: LinkError)
}

/// Makes links.
///
/// One call is one attempt; it observes cancellation of its task.
package protocol LinkConnector: Sendable {
    /// Dials, logs in and opens the shell.
    ///
    /// - Parameters:
    ///   - record: The host to reach.
    ///   - token: The generation that the link will carry.
    /// - Returns: A link that is logged in; the caller closes it.
    /// - Throws: A `LinkError` whose `disposition` says what may follow.
    func connect(to record: HostRecord, token: Int) async throws(LinkError) -> any ProbeLink
}

/// How a link reaches its host.
package struct LinkSummary: Hashable, Sendable {
    package enum Kind: String, Hashable, Sendable {
        case libssh2, openssh, local
    }

    package enum Mode: String, Hashable, Sendable {
        /// One shell for the life of the link.
        case persistent
        /// One exec channel for each probe.
        case exec
    }

    package let kind: Kind
    package let mode: Mode
    /// What a person wants to know, such as `dev@127.0.0.1:2201, key /home/dev/.ssh/id_ed25519`; no secrets.
    package let detail: String
    /// The numeric address that was dialled, without the port; nil where there is none or where another program knows it.
    package let address: String?
    /// Why this kind was chosen, where `transport = "auto"` chose another than libssh2.
    package let reason: String?

    package init(kind: Kind, mode: Mode, detail: String, address: String? = nil, reason: String? = nil) {
        self.kind = kind
        self.mode = mode
        self.detail = detail
        self.address = address
        self.reason = reason
    }
}

/// POSIX sh functions that a link sends to a fresh shell before the first request.
package struct ShellProgram: Hashable, Sendable {
    /// Function definitions only: running them prints nothing and changes nothing on the host.
    package let definitions: String

    package init(definitions: String) {
        self.definitions = definitions
    }
}

/// One request on a host's shell: a function of the program and its arguments.
///
/// The link adds a fresh nonce as the first argument. Arguments are quoted by the link; they hold no control characters.
package struct ProbeRequest: Hashable, Sendable {
    package let function: String
    package let arguments: [String]

    package init(function: String, arguments: [String] = []) {
        self.function = function
        self.arguments = arguments
    }
}

/// What came back: the bytes between the begin and the end marker of one request.
package struct ProbeReply: Hashable, Sendable {
    /// Largest body that a link accepts.
    package static let bodyLimit = ByteCount.kibibytes(256)

    package let nonce: String
    package let body: [UInt8]
    /// `$?` of the function, carried by the end marker.
    package let status: Int32

    package init(nonce: String, body: [UInt8], status: Int32) {
        self.nonce = nonce
        self.body = body
        self.status = status
    }
}

/// Turns the replies of one host into observations; keeps what it needs from one look to the next.
///
/// It outlives the links: a lost connection is no evidence that an agent's state has changed (seed 002).
package protocol ProbeInterpreter: Sendable {
    /// The request that opens the next look.
    mutating func nextRequest() -> ProbeRequest

    /// Reads a reply.
    ///
    /// - Throws: `.badReply` when the reply is cut, unmarked or not understood: that is no observation.
    mutating func interpret(_ reply: ProbeReply, at time: WallTime) throws(LinkError) -> ProbeStep

    /// The last looks at an agent.
    ///
    /// - Parameter session: Of the host whose replies are read here.
    /// - Returns: Nil for an agent that is not known, or was gone before the last few that are remembered.
    func explain(_ session: SessionID) -> SessionExplanation?
}

/// What follows from a reply.
package enum ProbeStep: Hashable, Sendable {
    /// The look wants one more request in the same tick, such as the pane of an agent that is new.
    case followUp(ProbeRequest)
    /// The look is complete.
    case observation(HostObservation)
}
