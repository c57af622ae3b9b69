package import HostsAPI
package import HostsModel

/// Where a program's words go.
package enum ConsoleStream: Hashable, Sendable {
    /// What was asked for.
    case output
    /// Errors, hints and notices.
    case error
}

/// One line that was asked for.
package enum ConsoleAnswer: Hashable, Sendable {
    /// Most bytes of a line; a terminal gives no longer one (termios(3), canonical mode).
    package static let limit = ByteCount.bytes(4095)

    /// Without its end; may be empty.
    case line(SecretBytes)
    /// The input has ended before a line.
    case none
    case tooLong
    case failed(String)
}

/// Writes to the person or to the next program, and asks.
package protocol Console: AnyObject {
    /// Writes all of the bytes, in one piece where the system allows it.
    ///
    /// - Returns: Whether they were written.
    func write(_ bytes: [UInt8], to stream: ConsoleStream) -> Bool

    /// Whether standard input is a terminal, so that somebody can be asked.
    var canAsk: Bool { get }

    /// Asks on the terminal.
    ///
    /// - Parameters:
    ///   - question: Written to the terminal wherever the program's output goes.
    ///   - isHidden: Whether what is typed must not be seen. Whatever ends or stops the program meanwhile, the
    ///     terminal is as it was before.
    /// - Returns: The line that was typed.
    func ask(_ question: String, isHidden: Bool) -> ConsoleAnswer

    /// Reads the first line of a standard input that is no terminal.
    func readLine() -> ConsoleAnswer
}
