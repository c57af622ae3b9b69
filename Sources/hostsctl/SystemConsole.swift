import CTerminal
import Glibc
import HostsAPI
import HostsCommand
import HostsModel

/// Standard output and standard error, unbuffered: each call is one `write` where the system takes it whole.
///
/// Questions go to the controlling terminal.
final class SystemConsole: Console {
    func write(_ bytes: [UInt8], to stream: ConsoleStream) -> Bool {
        let descriptor = stream == .output ? STDOUT_FILENO : STDERR_FILENO
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count > 0 {
                rest = rest.dropFirst(count)
            } else if errno == EAGAIN {
                // Someone made the terminal non-blocking; it is waited for like a blocking one.
                var wanted = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                poll(&wanted, 1, -1)
            } else if errno != EINTR {
                return false
            }
        }
        return true
    }

    var canAsk: Bool { isatty(STDIN_FILENO) == 1 }

    func ask(_ question: String, isHidden: Bool) -> ConsoleAnswer {
        let terminal = open("/dev/tty", O_RDWR | O_CLOEXEC)
        defer { if terminal >= 0 { close(terminal) } }
        return answer { room in
            // A process without a controlling terminal may have one as its input all the same.
            hosts_terminal_ask(
                terminal >= 0 ? terminal : STDIN_FILENO, question, isHidden ? 1 : 0, room.baseAddress,
                room.count)
        }
    }

    func readLine() -> ConsoleAnswer {
        answer { hosts_terminal_read_line(STDIN_FILENO, $0.baseAddress, $0.count) }
    }

    /// Has a line read into memory that is overwritten later.
    ///
    /// - Parameter read: Gives the bytes of the line, or an errno value below zero.
    /// - Returns: What came of it.
    private func answer(_ read: (UnsafeMutableRawBufferPointer) -> Int) -> ConsoleAnswer {
        let builder = SecretBytes.Builder(capacity: ConsoleAnswer.limit.bytes)
        var result = 0
        builder.fill { room in
            result = read(room)
            return result
        }
        switch Int32(-result) {
        case ENODATA: return .none
        case E2BIG: return .tooLong
        case let code where code > 0: return .failed(strerror(code).map { String(cString: $0) } ?? "\(code)")
        default: return .line(builder.finish())
        }
    }
}
