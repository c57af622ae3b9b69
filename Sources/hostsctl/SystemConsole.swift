import Glibc
import HostsCommand

/// Standard output and standard error, unbuffered: each call is one `write` where the system takes it whole.
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
}
