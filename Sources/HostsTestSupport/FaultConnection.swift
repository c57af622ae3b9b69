import Glibc

/// One connection of a `FaultProxy`: two sockets and what is under way between them; used by its thread only.
struct FaultConnection {
    /// Read from a socket at one go, in bytes.
    private static let chunkSize = 16 * 1024

    private let client: Int32
    /// Nil: it leads nowhere.
    private let server: Int32?
    private var toServer = FaultPipe()
    private var toClient = FaultPipe()
    /// Told to the client first, untouched by faults.
    private var preamble: ArraySlice<UInt8>
    /// Whether both sockets can be closed.
    private(set) var isOver = false
    /// Whether only the client's end is waited for, so that it sees a FIN and no RST.
    private var isLingering = false

    /// Takes over both sockets.
    init(client: Int32, server: Int32?, _ preamble: [UInt8]) {
        self.client = client
        self.server = server
        self.preamble = preamble[...]
        for descriptor in [client, server].compactMap({ $0 }) {
            _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
            var on: Int32 = 1
            setsockopt(
                descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
        }
    }

    mutating func faultsChanged() {
        toServer.faultsChanged()
        toClient.faultsChanged()
    }

    func close() {
        Glibc.close(client)
        if let server { Glibc.close(server) }
    }

    // MARK: Out

    /// Sends what is due and may go, and ends the connection where the faults say so.
    ///
    /// - Parameters:
    ///   - faults: What is done now.
    ///   - now: The present.
    /// - Returns: How many bytes went out.
    mutating func pump(_ faults: ProxyFaults, now: ContinuousClock.Instant) -> FaultProxy.Traffic {
        let before = FaultProxy.Traffic(toServer: toServer.passed, toClient: toClient.passed)
        if !isOver, !isLingering {
            if cutIsReached(faults) {
                end(faults)
            } else {
                if !preamble.isEmpty {
                    preamble = preamble.dropFirst(send(preamble, to: client) ?? preamble.count)
                }
                if preamble.isEmpty { move(\.toClient, to: client, faults.toClient, faults, now) }
                if let server { move(\.toServer, to: server, faults.toServer, faults, now) }
                if cutIsReached(faults) { end(faults) }
            }
            if toServer.isFinished, toClient.isFinished { isOver = true }
        }
        return FaultProxy.Traffic(
            toServer: toServer.passed - before.toServer, toClient: toClient.passed - before.toClient)
    }

    private mutating func move(
        _ pipe: WritableKeyPath<Self, FaultPipe>, to target: Int32, _ way: ProxyFaults.Way,
        _ faults: ProxyFaults, _ now: ContinuousClock.Instant
    ) {
        guard !way.isStalled else { return }
        while !isOver, let bytes = self[keyPath: pipe].due(now: now) {
            let allowed = bytes.prefix(allowance(pipe, faults))
            guard !allowed.isEmpty else { return }
            guard let count = send(allowed, to: target) else { return reset() }
            if count == 0 { return }
            self[keyPath: pipe].pass(count)
        }
        guard self[keyPath: pipe].isDrained else { return }
        shutdown(target, Int32(SHUT_WR))
        self[keyPath: pipe].isFinished = true
    }

    /// Sends; nil when the connection is broken, 0 when it has to wait.
    private func send(_ bytes: ArraySlice<UInt8>, to target: Int32) -> Int? {
        while true {
            let count = bytes.withUnsafeBytes {
                Glibc.send(target, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            if count >= 0 { return count }
            if errno != EINTR { return errno == EAGAIN ? 0 : nil }
        }
    }

    /// How many bytes may go this way before the cut.
    private func allowance(_ pipe: KeyPath<Self, FaultPipe>, _ faults: ProxyFaults) -> Int {
        guard let cut = faults.cut else { return .max }
        let counts =
            switch cut.counted {
            case .both: true
            case .toServer: pipe == \Self.toServer
            case .toClient: pipe == \Self.toClient
            }
        return counts ? cut.bytes - counted(cut) : .max
    }

    private func counted(_ cut: ProxyFaults.Cut) -> Int {
        switch cut.counted {
        case .toServer: toServer.passed
        case .toClient: toClient.passed
        case .both: toServer.passed + toClient.passed
        }
    }

    private func cutIsReached(_ faults: ProxyFaults) -> Bool {
        guard let cut = faults.cut, server != nil else { return false }
        return counted(cut) >= cut.bytes
    }

    private mutating func end(_ faults: ProxyFaults) {
        switch faults.cut?.ending {
        case .reset: reset()
        case .finish, nil:
            shutdown(client, Int32(SHUT_WR))
            if let server { shutdown(server, Int32(SHUT_RDWR)) }
            isLingering = true
        }
    }

    private mutating func reset() {
        for descriptor in [client, server].compactMap({ $0 }) {
            var now = linger(l_onoff: 1, l_linger: 0)
            setsockopt(
                descriptor, SOL_SOCKET, SO_LINGER, &now, socklen_t(MemoryLayout<linger>.size))
        }
        isOver = true
    }

    // MARK: In

    /// What is waited for: the client's entry, then the server's.
    func entries(_ faults: ProxyFaults, now: ContinuousClock.Instant) -> [pollfd] {
        if isLingering {
            return [pollfd(fd: client, events: Int16(POLLIN), revents: 0), Self.noEntry]
        }
        let clientEvents = Self.events(
            reading: toServer, faults.toServer, writing: toClient, faults.toClient, now)
        guard let server else { return [Self.entry(client, clientEvents & Int16(POLLIN)), Self.noEntry] }
        let serverEvents = Self.events(
            reading: toClient, faults.toClient, writing: toServer, faults.toServer, now)
        return [Self.entry(client, clientEvents), Self.entry(server, serverEvents)]
    }

    /// When bytes are due that are not due yet; nil when there are none.
    func nextDue(_ faults: ProxyFaults, after now: ContinuousClock.Instant) -> ContinuousClock.Instant? {
        guard !isLingering else { return nil }
        let ways = [(toServer, faults.toServer), (toClient, faults.toClient)]
        // What is due already waits for the socket.
        return ways.filter { !$1.isStalled }.compactMap { $0.0.nextDue }.filter { $0 > now }.min()
    }

    /// Reads what has come.
    mutating func receive(
        _ faults: ProxyFaults, client clientReady: Int16, server serverReady: Int16,
        now: ContinuousClock.Instant, random: inout SeededGenerator
    ) {
        if isLingering {
            if clientReady != 0 { drain() }
            return
        }
        let failed = Int16(POLLIN | POLLHUP | POLLERR)
        if clientReady & failed != 0, !isOver {
            read(client, \.toServer, faults.toServer, now, &random)
        }
        if let server, serverReady & failed != 0, !isOver {
            read(server, \.toClient, faults.toClient, now, &random)
        }
    }

    private mutating func read(
        _ source: Int32, _ pipe: WritableKeyPath<Self, FaultPipe>, _ way: ProxyFaults.Way,
        _ now: ContinuousClock.Instant, _ random: inout SeededGenerator
    ) {
        let room = self[keyPath: pipe].room
        guard room > 0, !way.isStalled else { return }
        var buffer = [UInt8](repeating: 0, count: min(room, Self.chunkSize))
        let count = recv(source, &buffer, buffer.count, 0)
        if count > 0 {
            // What leads nowhere is read, as a program does that says nothing.
            if server == nil { return }
            self[keyPath: pipe].take(Array(buffer[..<count]), way, now: now, random: &random)
        } else if count == 0 {
            self[keyPath: pipe].hasSourceEnded = true
            if server == nil { isOver = true }
        } else if errno != EAGAIN, errno != EINTR {
            reset()
        }
    }

    /// Throws away what the client still says, until it has closed its side.
    private mutating func drain() {
        var buffer = [UInt8](repeating: 0, count: Self.chunkSize)
        let count = recv(client, &buffer, buffer.count, 0)
        if count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR) { isOver = true }
    }

    private static let noEntry = pollfd(fd: -1, events: 0, revents: 0)

    /// A descriptor of which nothing is wanted is not watched: its end would be told again and again.
    private static func entry(_ descriptor: Int32, _ events: Int16) -> pollfd {
        pollfd(fd: events == 0 ? -1 : descriptor, events: events, revents: 0)
    }

    private static func events(
        reading incoming: FaultPipe, _ inWay: ProxyFaults.Way, writing outgoing: FaultPipe,
        _ outWay: ProxyFaults.Way, _ now: ContinuousClock.Instant
    ) -> Int16 {
        var events: Int16 = 0
        if incoming.room > 0, !inWay.isStalled { events |= Int16(POLLIN) }
        // What was due and is still there did not fit into the socket.
        if !outWay.isStalled, outgoing.due(now: now) != nil { events |= Int16(POLLOUT) }
        return events
    }
}
