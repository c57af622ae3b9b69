/// What a `FaultProxy` does to its connections.
package struct ProxyFaults: Hashable, Sendable {
    /// What becomes of a new connection.
    package enum Admission: Hashable, Sendable {
        case pass
        /// Nobody listens.
        case refuse
        /// It is accepted, leads nowhere, and nothing is ever said on it.
        case silent
    }

    /// One bit that is turned over.
    package struct Flip: Hashable, Sendable {
        /// Counted from 0, per connection and from the moment that the faults are set.
        package var byte: Int
        /// 0–7; 0 is the least significant.
        package var bit: Int

        package init(byte: Int, bit: Int = 0) {
            self.byte = byte
            self.bit = bit
        }
    }

    /// What is done to the bytes that go one way.
    package struct Way: Hashable, Sendable {
        /// How long each byte is under way.
        package var delay = Duration.zero
        /// How much longer or shorter that may be, at most; no byte overtakes another.
        package var jitter = Duration.zero
        /// Whether nothing is moved for the time being; what comes waits, and nothing is closed.
        package var isStalled = false
        /// Most bytes that are moved at a time; nil: no limit.
        package var pieceSize: Int?
        /// The time from one piece to the next.
        package var piecePause = Duration.zero
        /// One chunk in so many is lost and sent again: it and all that follow come later by `lossDelay`.
        ///
        /// 0: none is.
        package var lossOneIn = 0
        /// What a loss costs.
        package var lossDelay = Duration.zero
        package var flip: Flip?

        package init() {}
    }

    /// How a connection is ended on purpose.
    package enum Ending: Hashable, Sendable {
        /// As a program that closes its socket: FIN.
        case finish
        /// As a machine that knows of no such connection: RST.
        case reset
    }

    /// Which bytes count.
    package enum Counted: Hashable, Sendable {
        case toServer, toClient, both
    }

    /// The end of each connection after so many bytes.
    package struct Cut: Hashable, Sendable {
        package var ending: Ending
        /// Counted per connection and from the moment that the faults are set; 0: at once.
        package var bytes: Int
        package var counted: Counted

        package init(_ ending: Ending, after bytes: Int = 0, _ counted: Counted = .both) {
            self.ending = ending
            self.bytes = bytes
            self.counted = counted
        }
    }

    package var admission = Admission.pass
    package var toServer = Way()
    package var toClient = Way()
    package var cut: Cut?
    /// What each new client is told before anything that the server says.
    package var preamble: [UInt8] = []

    package init() {}

    /// Passes everything on.
    package static let none = ProxyFaults()

    /// Moves no byte in either direction, and closes nothing.
    package static let stall = both { $0.isStalled = true }

    /// The same thing is done to both ways.
    package static func both(_ change: (inout Way) -> Void) -> ProxyFaults {
        var faults = ProxyFaults()
        change(&faults.toServer)
        change(&faults.toClient)
        return faults
    }

    /// Closes a connection after so many more bytes from the server.
    package static func cutAfter(serverBytes: Int) -> ProxyFaults {
        .cut(.finish, after: serverBytes, .toClient)
    }

    /// Ends a connection after so many more bytes.
    package static func cut(
        _ ending: Ending, after bytes: Int = 0, _ counted: Counted = .both
    ) -> ProxyFaults {
        var faults = ProxyFaults()
        faults.cut = Cut(ending, after: bytes, counted)
        return faults
    }

    /// Moves the server's bytes in pieces of this size.
    package static func slice(bytes: Int, pause: Duration = .zero) -> ProxyFaults {
        var faults = ProxyFaults()
        faults.toClient.pieceSize = bytes
        faults.toClient.piecePause = pause
        return faults
    }

    /// Does this to new connections, and passes the bytes of present ones on.
    package static func admission(_ admission: Admission) -> ProxyFaults {
        var faults = ProxyFaults()
        faults.admission = admission
        return faults
    }
}
