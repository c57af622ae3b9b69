import CLinux
import Glibc
import HostsModel
import HostsPOSIX

/// A TCP proxy on the loopback that breaks connections where a test wants it.
package final class FaultProxy: Sendable {
    /// What is done to the connections; counted from the moment it is set.
    package enum Fault: Hashable, Sendable {
        case none
        /// Closes both sides after so many more bytes from the server.
        case cutAfter(serverBytes: Int)
        /// Moves no byte in either direction, and closes nothing.
        case stall
        /// Moves the server's bytes in pieces of this size.
        case slice(bytes: Int)
    }

    private struct State: Sendable {
        var fault = Fault.none
        var connections = 0
        var isClosed = false
    }

    /// Where clients connect.
    package let port: UInt16
    private let target: UInt16
    private let listener: Int32
    private let wakeup: Int32
    private let state = Locked(State())

    /// Listens on a free loopback port and passes everything on to `target`.
    package init(target: UInt16) throws {
        let (descriptor, port) = try LoopbackPort.listen()
        self.port = port
        self.target = target
        listener = descriptor
        wakeup = hosts_eventfd_create()
        try DedicatedThread.start { [self] in serve() }
    }

    /// How many connections there have been.
    package var connectionCount: Int { state.withLock { $0.connections } }

    /// Changes what is done, to present connections too.
    package func set(_ fault: Fault) {
        state.withLock { $0.fault = fault }
        hosts_eventfd_signal(wakeup)
    }

    /// Ends the proxy with all of its connections.
    ///
    /// It must be called, as the proxy's thread holds it.
    package func stop() {
        state.withLock { $0.isClosed = true }
        hosts_eventfd_signal(wakeup)
    }

    private struct Pair {
        let client: Int32
        let server: Int32
    }

    private func serve() {
        var pairs: [Pair] = []
        while true {
            let (fault, isClosed) = state.withLock { ($0.fault, $0.isClosed) }
            if isClosed { break }
            var entries = [
                pollfd(fd: wakeup, events: Int16(POLLIN), revents: 0),
                pollfd(fd: listener, events: Int16(POLLIN), revents: 0),
            ]
            for pair in pairs {
                for descriptor in [pair.client, pair.server] {
                    entries.append(
                        pollfd(fd: fault == .stall ? -1 : descriptor, events: Int16(POLLIN), revents: 0))
                }
            }
            guard poll(&entries, nfds_t(entries.count), -1) >= 0 else { continue }
            if entries[0].revents != 0 {
                hosts_eventfd_clear(wakeup)
                continue
            }
            var ended: [Int] = []
            for index in pairs.indices {
                let isClientReady = entries[2 + 2 * index].revents != 0
                let isServerReady = entries[3 + 2 * index].revents != 0
                if isClientReady, !forward(pairs[index].client, pairs[index].server, limit: .max) {
                    ended.append(index)
                } else if isServerReady, !forwardFromServer(pairs[index]) {
                    ended.append(index)
                }
            }
            for index in ended.reversed() { close(pairs.remove(at: index)) }
            if entries[1].revents != 0, let pair = accept() { pairs.append(pair) }
        }
        for pair in pairs { close(pair) }
        Glibc.close(listener)
        Glibc.close(wakeup)
    }

    private func accept() -> Pair? {
        let client = hosts_socket_accept(listener)
        guard client >= 0 else { return nil }
        state.withLock { $0.connections += 1 }
        do {
            return Pair(client: client, server: try LoopbackPort.connect(port: target))
        } catch {
            // Nobody listens there: the client sees its connection closed.
            Glibc.close(client)
            return nil
        }
    }

    private func close(_ pair: Pair) {
        Glibc.close(pair.client)
        Glibc.close(pair.server)
    }

    /// Moves what the fault allows; false when the connection is to be closed.
    private func forwardFromServer(_ pair: Pair) -> Bool {
        switch state.withLock({ $0.fault }) {
        case .none: return forward(pair.server, pair.client, limit: .max)
        case .stall: return true
        case .slice(let bytes): return forward(pair.server, pair.client, limit: bytes)
        case .cutAfter(let allowed):
            guard allowed > 0 else { return false }
            return forward(pair.server, pair.client, limit: allowed) { [state] count in
                state.withLock { state in
                    guard case .cutAfter(let allowed) = state.fault else { return true }
                    state.fault = .cutAfter(serverBytes: allowed - count)
                    return allowed > count
                }
            }
        }
    }

    private func forward(_ from: Int32, _ to: Int32, limit: Int, counted: (Int) -> Bool = { _ in true })
        -> Bool
    {
        var buffer = [UInt8](repeating: 0, count: min(limit, 64 * 1024))
        let count = recv(from, &buffer, buffer.count, Int32(MSG_DONTWAIT))
        if count < 0 { return errno == EAGAIN || errno == EINTR }
        guard count > 0 else { return false }
        var sent = 0
        while sent < count {
            let moved = buffer[sent..<count].withUnsafeBytes {
                send(to, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            if moved > 0 {
                sent += moved
            } else if errno == EAGAIN {
                var entry = pollfd(fd: to, events: Int16(POLLOUT), revents: 0)
                poll(&entry, 1, -1)
            } else if errno != EINTR {
                return false
            }
        }
        return counted(count)
    }
}
