/// Where a program's words go.
package enum ConsoleStream: Hashable, Sendable {
    /// What was asked for.
    case output
    /// Errors, hints and notices.
    case error
}

/// Writes to the person or to the next program.
package protocol Console: AnyObject {
    /// Writes all of the bytes, in one piece where the system allows it.
    ///
    /// - Returns: Whether they were written.
    func write(_ bytes: [UInt8], to stream: ConsoleStream) -> Bool
}
