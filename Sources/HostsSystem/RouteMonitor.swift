import CLinux
import Glibc
package import HostsLog
import HostsModel

/// Tells how the machine is on the network whenever that changes (rtnetlink(7)).
///
/// On a thread of its own. The kernel's messages only say that something happened: then everything is read anew, which
/// is cheap, and the same after messages were lost. Once a minute it is read in any case.
package final class RouteMonitor: Sendable {
    /// The longest time between two looks.
    package static let interval = Duration.seconds(60)

    /// The state at first, and each that differs from the one before, until `close`; for one listener.
    ///
    /// Only the newest waits.
    package let states: AsyncStream<NetworkState>

    private let shared: Locked<Shared>

    fileprivate struct Shared: Sendable {
        var current: NetworkState?
        /// Ends the thread; nil once it has ended.
        var stop: Int32?
        var isClosed = false
    }

    /// Begins to watch the network of the thread that calls.
    ///
    /// - Parameter log: Of category `background`; told at `debug` what has changed.
    /// - Throws: When the system gives no descriptor or no thread, or forbids rtnetlink.
    package init(log: Log) throws(SystemFailure) {
        let (states, continuation) = AsyncStream<NetworkState>.makeStream(
            bufferingPolicy: .bufferingNewest(1))
        self.states = states
        let descriptors = try RouteDescriptors()
        let shared = Locked(Shared(stop: descriptors.stop))
        self.shared = shared
        do throws(SystemFailure) {
            try SystemFailure.startThread {
                var loop = RouteLoop(descriptors: descriptors, log: log)
                loop.run(while: { !shared.withLock { $0.isClosed } }) { state in
                    shared.withLock { $0.current = state }
                    continuation.yield(state)
                }
                shared.withLock { $0.stop = nil }
                descriptors.close()
                continuation.finish()
            }
        } catch {
            shared.withLock { $0.stop = nil }
            descriptors.close()
            throw error
        }
    }

    deinit { close() }

    /// The state that was told last; nil before the first.
    package var current: NetworkState? { shared.withLock { $0.current } }

    /// Whether the kernel knows a way to an address now.
    ///
    /// Asked by connecting a datagram socket, which sends nothing and waits for nothing. So a host on loopback, on the
    /// same network or behind a VPN has a route without a default route.
    ///
    /// - Parameter address: Numeric, IPv4 or IPv6, with a zone (`%eth0`) where it needs one.
    /// - Returns: Nil for what is no numeric address, and when the question cannot be asked.
    package static func hasRoute(to address: String) -> Bool? {
        switch unsafe hosts_route_exists(address) {
        case 0: false
        case 1: true
        default: nil
        }
    }

    /// Ends the thread and `states`.
    package func close() {
        shared.withLock { shared in
            shared.isClosed = true
            if let stop = shared.stop { hosts_eventfd_signal(stop) }
        }
    }
}

/// The descriptors of the thread.
private struct RouteDescriptors: Sendable {
    let stop: Int32
    /// Is told of changes.
    let listener: Int32
    /// Answers questions.
    let dump: Int32

    init() throws(SystemFailure) {
        stop = hosts_eventfd_create()
        listener = hosts_route_listener()
        dump = hosts_route_socket()
        guard stop >= 0, listener >= 0, dump >= 0 else {
            let code = errno
            close()
            throw .call("socket(AF_NETLINK)", code: code)
        }
    }

    func close() {
        for descriptor in [stop, listener, dump] where descriptor >= 0 { Glibc.close(descriptor) }
    }
}

/// Waits for changes and reads the network after them.
private struct RouteLoop {
    /// Room for any datagram of a dump: the kernel makes them of 32 KiB at most (netlink_dump in af_netlink.c).
    private static let capacity = 65_536
    /// How long the kernel may take for the next datagram of a dump, in milliseconds.
    private static let dumpLimit: Int32 = 2000
    /// Dumps that were interrupted by a change, after which it is tried again later.
    private static let dumpAttempts = 5

    /// Messages taken before the deadlines are looked at again.
    private static let batch = 1024

    let descriptors: RouteDescriptors
    let log: Log
    private var debounce = RouteDebounce()
    private var sequence: UInt32 = 0
    private var told: NetworkState?

    init(descriptors: RouteDescriptors, log: Log) {
        self.descriptors = descriptors
        self.log = log
    }

    /// Works until it is told to end.
    mutating func run(while isWanted: () -> Bool, onChange: (NetworkState) -> Void) {
        while isWanted() {
            debounce.looked()
            let next = SystemTime.monotonic &+ RouteMonitor.interval.microseconds
            if let state = read(), state != told {
                log.debug(
                    "network.changed", "the machine's addresses or routes are others",
                    .flag("has_route", state.hasRoute))
                told = state
                onChange(state)
            }
            waitForCalm(until: next)
        }
    }

    /// Waits until there is something to look at, or until the latest moment for a look.
    private mutating func waitForCalm(until latest: UInt64) {
        while true {
            let deadline = min(debounce.deadline ?? .max, latest)
            let limit = SystemTime.pollLimit(until: deadline)
            guard limit > 0 else { return }
            var entries = [descriptors.stop, descriptors.listener].map {
                pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
            }
            _ = unsafe poll(&entries, nfds_t(entries.count), limit)
            if entries[0].revents != 0 { return }
            if entries[1].revents != 0 { drain() }
        }
    }

    /// Takes all messages; what they say is read from the dump.
    private mutating func drain() {
        var buffer = [UInt8](repeating: 0, count: Self.capacity)
        var hasChanged = false
        for _ in 0..<Self.batch {
            let size = unsafe hosts_route_receive(descriptors.listener, &buffer, buffer.count)
            if size < 0 && errno == EAGAIN { break }
            // One of somebody else says nothing. Lost ones (ENOBUFS) and long ones are changes like others.
            if size != 0 { hasChanged = true }
        }
        if hasChanged {
            debounce.changed(at: SystemTime.monotonic, hasRoute: told?.hasRoute ?? false)
        }
    }

    /// Reads everything; nil when the kernel does not answer, or changes all the time.
    private mutating func read() -> NetworkState? {
        for _ in 0..<Self.dumpAttempts {
            var table = RouteTable()
            var progress = RouteTable.Progress.done
            for kind in [HOSTS_ROUTE_LINK, HOSTS_ROUTE_ADDRESS, HOSTS_ROUTE_ROUTE] where progress == .done {
                progress = dump(kind, into: &table)
            }
            switch progress {
            case .done: return table.state
            case .interrupted, .more: continue
            case .failed(let code):
                log.debug(
                    "network.unreadable", "the kernel does not tell of the network",
                    .error(SystemFailure.call("rtnetlink", code: code)))
                retrySoon()
                return nil
            }
        }
        retrySoon()
        return nil
    }

    /// Looks again after a moment, as after a change.
    private mutating func retrySoon() {
        debounce.changed(at: SystemTime.monotonic, hasRoute: true)
    }

    private mutating func dump(_ kind: Int, into table: inout RouteTable) -> RouteTable.Progress {
        sequence &+= 1
        guard hosts_route_request(descriptors.dump, Int32(kind), sequence) == 0 else {
            return .failed(code: errno)
        }
        var buffer = [UInt8](repeating: 0, count: Self.capacity)
        while true {
            let size = unsafe hosts_route_receive(descriptors.dump, &buffer, buffer.count)
            if size < 0 {
                guard errno == EAGAIN else { return .failed(code: errno) }
                var entry = pollfd(fd: descriptors.dump, events: Int16(POLLIN), revents: 0)
                guard unsafe poll(&entry, 1, Self.dumpLimit) > 0 else { return .failed(code: ETIMEDOUT) }
                continue
            }
            let progress = table.take(buffer[..<size], sequence: sequence)
            if progress != .more { return progress }
        }
    }
}
