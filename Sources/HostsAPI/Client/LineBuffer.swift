/// Cuts a stream of bytes into lines, however it arrives in pieces.
package struct LineBuffer: Sendable {
    private let limit: Int
    private var partial: [UInt8] = []

    /// Makes an empty buffer.
    ///
    /// - Parameter limit: Longest line, in bytes.
    package init(limit: Int) {
        self.limit = limit
    }

    /// Takes a piece and gives the lines that it completes, without their ends; blank ones too.
    ///
    /// - Throws: `.tooLarge` when a line outgrows the limit; the buffer is of no use afterwards.
    package mutating func append(_ piece: some Sequence<UInt8>) throws(ClientError) -> [[UInt8]] {
        var lines: [[UInt8]] = []
        for byte in piece {
            if byte == 0x0a {
                if partial.last == 0x0d { partial.removeLast() }
                lines.append(partial)
                partial.removeAll(keepingCapacity: true)
            } else {
                guard partial.count < limit else { throw .tooLarge(limit: limit) }
                partial.append(byte)
            }
        }
        return lines
    }

    /// Whether bytes wait for the end of their line. At the end of a stream they are a cut line and worth nothing.
    package var holdsPartialLine: Bool { !partial.isEmpty }
}
