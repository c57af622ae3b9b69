import CLinux
import Glibc
import HostsModel
import HostsPOSIX

/// A TCP proxy on the loopback that breaks connections where a test wants it.
///
/// One thread moves all bytes, in real time: a proxy is a fixture, not a part under test.
package final class FaultProxy: Sendable {
    private struct State: Sendable {
        var faults = ProxyFaults.none
        /// Counts the settings of `faults`.
        var version = 0
        var connections = 0
        var openConnections = 0
        var traffic = Traffic(toServer: 0, toClient: 0)
        var isClosed = false
    }

    /// How many bytes have been passed on.
    package struct Traffic: Hashable, Sendable {
        package var toServer: Int
        package var toClient: Int

        package init(toServer: Int, toClient: Int) {
            self.toServer = toServer
            self.toClient = toClient
        }
    }

    /// How often another port is tried when somebody was faster.
    private static let listenAttempts = 5

    /// Where clients connect.
    package let port: UInt16
    private let target: UInt16
    private let listener: Int32
    private let wakeup: Int32
    private let seed: UInt64
    private let state = Locked(State())

    /// Listens on a free loopback port and passes everything on to `target`.
    ///
    /// - Parameters:
    ///   - target: A port on 127.0.0.1.
    ///   - seed: Of what is random: jitter and losses.
    /// - Throws: When the system refuses; the test cannot go on.
    package init(target: UInt16, seed: UInt64 = 1) throws {
        self.target = target
        self.seed = seed
        (listener, port) = try Self.listen()
        wakeup = hosts_eventfd_create()
        try DedicatedThread.start { [self] in serve() }
    }

    /// How many connections there have been.
    package var connectionCount: Int { state.withLock { $0.connections } }

    /// How many there are now.
    package var openConnectionCount: Int { state.withLock { $0.openConnections } }

    /// How many bytes have been passed on since the faults were set, on all connections together.
    package var traffic: Traffic { state.withLock { $0.traffic } }

    /// Changes what is done, to present connections too; bytes that come later find it done.
    package func set(_ faults: ProxyFaults) {
        state.withLock { state in
            guard !state.isClosed else { return }
            if (faults.admission == .refuse) != (state.faults.admission == .refuse) {
                // A socket that is bound and does not listen refuses connections, and keeps the port.
                if faults.admission == .refuse {
                    shutdown(listener, Int32(SHUT_RD))
                } else {
                    Glibc.listen(listener, LoopbackPort.backlog)
                }
            }
            state.faults = faults
            state.version += 1
            state.traffic = Traffic(toServer: 0, toClient: 0)
            hosts_eventfd_signal(wakeup)
        }
    }

    /// Ends the proxy with all of its connections.
    ///
    /// It must be called, as the proxy's thread holds it.
    package func stop() {
        state.withLock { state in
            guard !state.isClosed else { return }
            state.isClosed = true
            hosts_eventfd_signal(wakeup)
        }
    }

    /// A listening socket whose port was named when it was bound: it then keeps the port while it refuses.
    private static func listen() throws -> (Int32, UInt16) {
        for _ in 1..<listenAttempts {
            do { return try LoopbackPort.listen(port: LoopbackPort.free()) } catch { continue }
        }
        return try LoopbackPort.listen(port: LoopbackPort.free())
    }

    // MARK: The thread

    private func serve() {
        var connections: [FaultConnection] = []
        var random = SeededGenerator(seed: seed)
        var version = 0
        while true {
            let state = state.withLock { $0 }
            if state.isClosed { break }
            if state.version != version {
                version = state.version
                for index in connections.indices { connections[index].faultsChanged() }
            }
            let now = ContinuousClock.now
            for index in connections.indices.reversed() {
                let moved = connections[index].pump(state.faults, now: now)
                count(moved, version)
                if connections[index].isOver { connections.remove(at: index).close() }
            }
            publish(connections.count)
            var entries = [
                pollfd(fd: wakeup, events: Int16(POLLIN), revents: 0),
                pollfd(
                    fd: state.faults.admission == .refuse ? -1 : listener, events: Int16(POLLIN), revents: 0),
            ]
            for connection in connections { entries += connection.entries(state.faults, now: now) }
            let due = connections.compactMap { $0.nextDue(state.faults, after: now) }.min()
            guard poll(&entries, nfds_t(entries.count), Self.milliseconds(until: due)) >= 0 else { continue }
            if entries[0].revents != 0 {
                // Bytes that came with the order to do something else are for the new order.
                hosts_eventfd_clear(wakeup)
                continue
            }
            let arrival = ContinuousClock.now
            for index in connections.indices {
                connections[index].receive(
                    state.faults, client: entries[2 + 2 * index].revents,
                    server: entries[3 + 2 * index].revents, now: arrival, random: &random)
            }
            if entries[1].revents != 0, let made = accept(state.faults) { connections.append(made) }
        }
        for connection in connections { connection.close() }
        publish(0)
        Glibc.close(listener)
        Glibc.close(wakeup)
    }

    private static func milliseconds(until due: ContinuousClock.Instant?) -> Int32 {
        guard let due else { return -1 }
        let rest = (due - ContinuousClock.now).seconds * 1000
        return Int32(min(max(rest.rounded(.up), 0), 60_000))
    }

    private func count(_ moved: Traffic, _ version: Int) {
        guard moved.toServer > 0 || moved.toClient > 0 else { return }
        state.withLock { state in
            guard state.version == version else { return }
            state.traffic.toServer += moved.toServer
            state.traffic.toClient += moved.toClient
        }
    }

    private func publish(_ count: Int) {
        state.withLock { $0.openConnections = count }
    }

    private func accept(_ faults: ProxyFaults) -> FaultConnection? {
        let client = hosts_socket_accept(listener)
        guard client >= 0 else { return nil }
        state.withLock { $0.connections += 1 }
        if faults.admission == .silent {
            return FaultConnection(client: client, server: nil, faults.preamble)
        }
        do {
            let server = try LoopbackPort.connect(port: target)
            return FaultConnection(client: client, server: server, faults.preamble)
        } catch {
            // Nobody listens there: the client sees its connection closed.
            Glibc.close(client)
            return nil
        }
    }
}
