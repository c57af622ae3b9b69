import Glibc
import HostsModel

/// Writes whole lines to a descriptor that others may write to as well, and never waits long for a slow reader.
///
/// A line that the reader has no room for is lost, and the next line that fits is preceded by a notice of how many were.
final class LineWriter: Sendable {
    /// Longest line with its newline, in bytes.
    ///
    /// POSIX writes so much to a pipe whole or not at all (PIPE_BUF).
    static let lineLimit = 4096

    /// How long one line waits for room; while lines are being lost, none waits.
    private static let patience = Duration.milliseconds(50)

    private let descriptor: Int32
    private let lostNotice: @Sendable (Int) -> String
    private let lost = Locked(0)

    /// Makes a writer.
    ///
    /// - Parameters:
    ///   - descriptor: Stays its owner's, who keeps it open for as long as the writer lives.
    ///   - lostNotice: The line, without a newline, that tells how many lines were lost.
    init(descriptor: Int32, lostNotice: @escaping @Sendable (Int) -> String) {
        self.descriptor = descriptor
        self.lostNotice = lostNotice
    }

    /// Writes one line.
    ///
    /// - Parameter line: Without its newline; cut to the limit.
    func write(_ line: String) {
        // Written under the lock: that is what keeps the lines of two threads apart. The wait is bounded.
        lost.withLock { lost in
            let wait = lost == 0 ? Self.patience : .zero
            guard hasRoom(within: wait) else {
                lost += 1
                return
            }
            if lost > 0 {
                guard writeAll(Self.bytes(lostNotice(lost))), hasRoom(within: .zero) else {
                    lost += 1
                    return
                }
                lost = 0
            }
            if !writeAll(Self.bytes(line)) { lost += 1 }
        }
    }

    /// A line that ends within the limit, at a character's end.
    private static func bytes(_ line: String) -> [UInt8] {
        guard line.utf8.count >= lineLimit else { return Array(line.utf8) + [0x0a] }
        var bytes = Array(line.utf8.prefix(lineLimit - 1))
        while let last = bytes.last, last & 0xc0 == 0x80 { bytes.removeLast() }
        if let last = bytes.last, last >= 0xc0 { bytes.removeLast() }
        return bytes + [0x0a]
    }

    private func hasRoom(within limit: Duration) -> Bool {
        var target = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        let milliseconds = Int32(limit.seconds * 1000)
        while true {
            let count = poll(&target, 1, milliseconds)
            if count < 0, errno == EINTR { continue }
            return count > 0 && target.revents & Int16(POLLOUT) != 0
        }
    }

    private func writeAll(_ bytes: [UInt8]) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count > 0 {
                rest = rest.dropFirst(count)
            } else if count < 0, errno == EINTR {
                continue
            } else {
                // Half a line is out: finish it as soon as there is room, or leave it, for then the reader is gone.
                guard count < 0, errno == EAGAIN, hasRoom(within: Self.patience) else { return false }
            }
        }
        return true
    }
}
