import CLinux
import Glibc
import HostsModel
import HostsPOSIX

/// A TCP server that is no SSH server: it says one thing to everybody, or nothing at all.
package final class ScriptedServer: Sendable {
    private struct State: Sendable {
        var connections = 0
        var isClosed = false
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    /// Where it listens, on 127.0.0.1; 0 for a Unix socket.
    package let port: UInt16
    private let greeting: [UInt8]
    private let closesAfterwards: Bool
    private let listener: Int32
    private let wakeup: Int32
    private let state = Locked(State())

    /// Starts it.
    ///
    /// - Parameters:
    ///   - greeting: What it says at once; empty: it accepts and stays silent.
    ///   - closesAfterwards: Whether it then closes the connection.
    /// - Throws: When the system refuses; the test cannot go on.
    package convenience init(greeting: String, closesAfterwards: Bool = false) throws {
        let (descriptor, port) = try LoopbackPort.listen()
        try self.init(
            listener: descriptor, port: port, greeting: Array(greeting.utf8),
            closesAfterwards: closesAfterwards)
    }

    /// Starts it on a Unix socket.
    ///
    /// - Parameters:
    ///   - path: Of the socket.
    ///   - greeting: What it says at once, before it is asked; empty: it accepts and stays silent.
    ///   - closesAfterwards: Whether it then closes the connection.
    /// - Throws: When the system refuses; the test cannot go on.
    package convenience init(unixPath path: String, greeting: [UInt8], closesAfterwards: Bool = false) throws
    {
        try self.init(
            listener: try LoopbackPort.listen(unixPath: path), port: 0, greeting: greeting,
            closesAfterwards: closesAfterwards)
    }

    private init(listener: Int32, port: UInt16, greeting: [UInt8], closesAfterwards: Bool) throws {
        self.port = port
        self.greeting = greeting
        self.closesAfterwards = closesAfterwards
        self.listener = listener
        wakeup = hosts_eventfd_create()
        try DedicatedThread.start { [self] in serve() }
    }

    /// How many connections there have been.
    package var connectionCount: Int { state.withLock { $0.connections } }

    /// Waits until there has been a connection.
    package func untilConnected() async {
        await withCheckedContinuation { continuation in
            let isConnected = state.withLock { state in
                if state.connections == 0 { state.waiters.append(continuation) }
                return state.connections > 0
            }
            if isConnected { continuation.resume() }
        }
    }

    /// Ends it with all of its connections.
    ///
    /// It must be called, as the server's thread holds it.
    package func stop() {
        state.withLock { $0.isClosed = true }
        hosts_eventfd_signal(wakeup)
    }

    private func serve() {
        var clients: [Int32] = []
        while !state.withLock({ $0.isClosed }) {
            var entries = [
                pollfd(fd: wakeup, events: Int16(POLLIN), revents: 0),
                pollfd(fd: listener, events: Int16(POLLIN), revents: 0),
            ]
            guard poll(&entries, nfds_t(entries.count), -1) >= 0, entries[1].revents != 0 else { continue }
            let client = hosts_socket_accept(listener)
            guard client >= 0 else { continue }
            let waiters = state.withLock { state in
                state.connections += 1
                defer { state.waiters = [] }
                return state.waiters
            }
            for waiter in waiters { waiter.resume() }
            // A greeting fits into the socket's buffer.
            _ = greeting.withUnsafeBytes { send(client, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            if closesAfterwards { close(client) } else { clients.append(client) }
        }
        for client in clients { close(client) }
        close(listener)
        close(wakeup)
    }
}
