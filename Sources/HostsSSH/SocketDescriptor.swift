import CLinux
import Glibc

/// A socket with one owner; closed when the owner lets go of it.
struct SocketDescriptor: ~Copyable, Sendable {
    /// Result of one try to move bytes.
    enum Transfer: Hashable, Sendable {
        case moved(Int)
        case wouldBlock
        case ended
        case failed(Int32)
    }

    let raw: Int32

    /// Takes over an open, non-blocking socket.
    init(owning raw: Int32) {
        self.raw = raw
    }

    /// Makes a stream socket, or answers nil when no descriptor is left.
    init?(family: Int32) {
        let raw = hosts_socket_create(family)
        guard raw >= 0 else { return nil }
        self.raw = raw
    }

    /// Two connected Unix sockets, or nil when no descriptor is left.
    static func pair() -> Pair? {
        var ends: [Int32] = [-1, -1]
        guard unsafe hosts_socket_pair_nonblocking(&ends) == 0 else { return nil }
        return Pair(first: SocketDescriptor(owning: ends[0]), second: SocketDescriptor(owning: ends[1]))
    }

    /// What is written to one is read from the other.
    struct Pair: ~Copyable {
        let first: SocketDescriptor
        let second: SocketDescriptor
    }

    deinit { Glibc.close(raw) }

    /// Gives up ownership; the caller closes it.
    consuming func take() -> Int32 {
        let raw = raw
        discard self
        return raw
    }

    borrowing func send(_ bytes: ArraySlice<UInt8>) -> Transfer {
        while true {
            let count = unsafe bytes.withUnsafeBytes {
                unsafe Glibc.send(raw, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            if count >= 0 { return .moved(count) }
            if errno == EINTR { continue }
            return errno == EAGAIN ? .wouldBlock : .failed(errno)
        }
    }

    borrowing func receive(into buffer: inout [UInt8]) -> Transfer {
        while true {
            let count = unsafe recv(raw, &buffer, buffer.count, 0)
            if count > 0 { return .moved(count) }
            if count == 0 { return .ended }
            if errno == EINTR { continue }
            return errno == EAGAIN ? .wouldBlock : .failed(errno)
        }
    }

    /// The error that a connect in the background ended with; 0 for none.
    borrowing func pendingError() -> Int32 {
        var code: Int32 = 0
        var size = socklen_t(MemoryLayout<Int32>.size)
        guard unsafe getsockopt(raw, SOL_SOCKET, SO_ERROR, &code, &size) == 0 else { return errno }
        return code
    }
}
