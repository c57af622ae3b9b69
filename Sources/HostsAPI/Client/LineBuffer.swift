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

    /// Takes a piece and adds the lines that it completes to `lines`, without their ends; blank ones too.
    ///
    /// - Throws: `.tooLarge` when a line outgrows the limit; the lines before it are there, the buffer is of no
    ///   use afterwards.
    package mutating func append(
        _ piece: some Sequence<UInt8>, to lines: inout [[UInt8]]
    ) throws(ClientError) {
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
    }
}
