import CLinux
import Glibc

/// TCP sockets that listen on a loopback address.
package enum LoopbackPort {
    /// How many connections may wait to be accepted.
    static let backlog: Int32 = 64

    /// A listening socket.
    ///
    /// - Parameters:
    ///   - address: `127.0.0.1` or `::1`.
    ///   - port: 0: any free one.
    /// - Returns: The descriptor, which the caller closes, and the port.
    /// - Throws: When the system refuses; the test cannot go on.
    static func listen(_ address: String = "127.0.0.1", port: UInt16 = 0) throws -> (
        descriptor: Int32, port: UInt16
    ) {
        let isV6 = address.contains(":")
        let descriptor = hosts_socket_create(isV6 ? AF_INET6 : AF_INET)
        guard descriptor >= 0 else { throw FixtureError("no socket: errno \(errno)") }
        var on: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, socklen_t(MemoryLayout<Int32>.size))
        let code = withAddress(address, port) { bind(descriptor, $0, $1) }
        guard code == 0, Glibc.listen(descriptor, backlog) == 0 else {
            let failure = errno
            close(descriptor)
            throw FixtureError("cannot listen on \(address):\(port): errno \(failure)")
        }
        return (descriptor, try self.port(of: descriptor))
    }

    /// A listening Unix socket; the caller closes the descriptor.
    static func listen(unixPath path: String) throws -> Int32 {
        let descriptor = hosts_socket_create(AF_UNIX)
        guard descriptor >= 0 else { throw FixtureError("no socket: errno \(errno)") }
        let code = withAddress(unixPath: path) { bind(descriptor, $0, $1) }
        guard code == 0, Glibc.listen(descriptor, backlog) == 0 else {
            let failure = errno
            close(descriptor)
            throw FixtureError("cannot listen on \(path): errno \(failure)")
        }
        return descriptor
    }

    /// A blocking connection to a Unix socket, which the caller closes; -1 when nobody listens there.
    static func connect(unixPath path: String) -> Int32 {
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        guard descriptor >= 0 else { return -1 }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        guard withAddress(unixPath: path, { Glibc.connect(descriptor, $0, $1) }) == 0 else {
            close(descriptor)
            return -1
        }
        return descriptor
    }

    /// A port that is free now.
    package static func free(_ address: String = "127.0.0.1") throws -> UInt16 {
        let (descriptor, port) = try listen(address)
        close(descriptor)
        return port
    }

    /// Connects to a port; blocks for as long as the loopback takes.
    static func connect(_ address: String = "127.0.0.1", port: UInt16) throws -> Int32 {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard descriptor >= 0 else { throw FixtureError("no socket: errno \(errno)") }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        guard withAddress(address, port, { Glibc.connect(descriptor, $0, $1) }) == 0 else {
            let failure = errno
            close(descriptor)
            throw FixtureError("cannot connect to \(address):\(port): errno \(failure)")
        }
        return descriptor
    }

    private static func withAddress(
        unixPath path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
    ) -> Int32 {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix($0.count - 1)) }
        return withUnsafeBytes(of: &address) { raw in
            guard let base = raw.baseAddress else { return -1 }
            return body(base.assumingMemoryBound(to: sockaddr.self), socklen_t(raw.count))
        }
    }

    private static func withAddress(
        _ text: String, _ port: UInt16, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
    ) -> Int32 {
        if text.contains(":") {
            var address = sockaddr_in6()
            address.sin6_family = sa_family_t(AF_INET6)
            address.sin6_port = port.bigEndian
            inet_pton(AF_INET6, text, &address.sin6_addr)
            return withUnsafeBytes(of: &address) { raw in
                guard let base = raw.baseAddress else { return -1 }
                return body(base.assumingMemoryBound(to: sockaddr.self), socklen_t(raw.count))
            }
        }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        inet_pton(AF_INET, text, &address.sin_addr)
        return withUnsafeBytes(of: &address) { raw in
            guard let base = raw.baseAddress else { return -1 }
            return body(base.assumingMemoryBound(to: sockaddr.self), socklen_t(raw.count))
        }
    }

    private static func port(of descriptor: Int32) throws -> UInt16 {
        var storage = sockaddr_storage()
        var size = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let code = withUnsafeMutablePointer(to: &storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &size) }
        }
        guard code == 0 else { throw FixtureError("no port: errno \(errno)") }
        // The port stands at the same place in both families.
        return withUnsafeBytes(of: &storage) { UInt16($0[2]) << 8 | UInt16($0[3]) }
    }
}
