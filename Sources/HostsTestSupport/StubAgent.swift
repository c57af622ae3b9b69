import CLinux
import FoundationEssentials
import Glibc
import HostsModel
import HostsPOSIX

/// An ssh-agent that does as the test says; at first it offers keys and never signs, as one that waits for a touch
/// that does not come.
package final class StubAgent: Sendable {
    /// What it does with a request.
    package enum Conduct: Hashable, Sendable {
        /// It offers its keys, and does not answer a request to sign.
        case waitsForTouch
        /// It offers its keys, and refuses to sign.
        case refusesToSign
        /// It offers no keys, and refuses to sign.
        case isLocked
        /// It answers with these bytes, whatever they are.
        case says([UInt8])
        /// It asks a real agent, and hands over its answer.
        case asks(String)
        /// The same, but only the first bytes of the answer; then it hangs up.
        case cuts(String, after: Int)
    }

    private struct State: Sendable {
        var conduct = Conduct.waitsForTouch
        var isHeld = false
        var signRequests = 0
        var isClosed = false
    }

    /// What is sent for a request.
    private struct Reply {
        let bytes: [UInt8]
        let isLast: Bool
    }

    /// Messages of the ssh-agent protocol (draft-miller-ssh-agent section 5.1).
    private static let failure: [UInt8] = [0, 0, 0, 1, 5]
    private static let noIdentities: [UInt8] = [0, 0, 0, 5, 12, 0, 0, 0, 0]
    private static let replyLimit = 256 * 1024
    private static let requestIdentities: UInt8 = 11
    private static let identitiesAnswer: UInt8 = 12
    private static let signRequest: UInt8 = 13

    /// The path of its socket.
    package let socket: String
    private let folder: TemporaryFolder
    private let listener: Int32
    private let wakeup: Int32
    private let answer: [UInt8]
    private let state = Locked(State())

    /// Starts it.
    ///
    /// - Parameter publicKeys: Paths of the `.pub` files that it offers, in this order.
    /// - Throws: When the system refuses; the test cannot go on.
    package init(publicKeys: [String] = []) throws {
        folder = try TemporaryFolder()
        socket = folder.path("agent")
        listener = try LoopbackPort.listen(unixPath: socket)
        wakeup = hosts_eventfd_create()
        var body = [Self.identitiesAnswer] + Self.number(publicKeys.count)
        for path in publicKeys {
            let words = try String(contentsOfFile: path, encoding: .utf8).split(separator: " ")
            guard words.count > 1, let blob = Data(base64Encoded: String(words[1])) else {
                throw FixtureError("\(path) holds no public key")
            }
            body += Self.number(blob.count) + blob + Self.number(path.utf8.count) + Array(path.utf8)
        }
        answer = Self.number(body.count) + body
        try DedicatedThread.start { [self] in serve() }
    }

    /// How often a signature was asked for.
    package var signRequestCount: Int { state.withLock { $0.signRequests } }

    /// What it does from the next request on.
    package var conduct: Conduct {
        get { state.withLock { $0.conduct } }
        set { state.withLock { $0.conduct = newValue } }
    }

    /// Reads no more requests until `release`; they wait in the socket.
    package func hold() {
        state.withLock { $0.isHeld = true }
        hosts_eventfd_signal(wakeup)
    }

    /// Reads what has waited.
    package func release() {
        state.withLock { $0.isHeld = false }
        hosts_eventfd_signal(wakeup)
    }

    /// Ends it with all conversations.
    ///
    /// It must be called, as the agent's thread holds it.
    package func stop() {
        state.withLock { state in
            guard !state.isClosed else { return }
            state.isClosed = true
            hosts_eventfd_signal(wakeup)
        }
    }

    private static func number(_ value: Int) -> [UInt8] {
        withUnsafeBytes(of: UInt32(value).bigEndian) { Array($0) }
    }

    private func serve() {
        var clients: [(socket: Int32, bytes: [UInt8])] = []
        while !state.withLock({ $0.isClosed }) {
            var entries = [wakeup, listener].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
            let isHeld = state.withLock { $0.isHeld }
            // A negative number is skipped.
            entries += clients.map {
                pollfd(fd: isHeld ? -1 : $0.socket, events: Int16(POLLIN), revents: 0)
            }
            guard poll(&entries, nfds_t(entries.count), -1) > 0 else { continue }
            if entries[0].revents != 0 { hosts_eventfd_clear(wakeup) }
            for index in clients.indices.reversed() where entries[2 + index].revents != 0 {
                if !converse(clients[index].socket, &clients[index].bytes) {
                    close(clients.remove(at: index).socket)
                }
            }
            if entries[1].revents != 0 {
                let client = hosts_socket_accept(listener)
                if client >= 0 { clients.append((client, [])) }
            }
        }
        for client in clients { close(client.socket) }
        close(listener)
        close(wakeup)
    }

    /// Reads and answers; false when the conversation is over.
    private func converse(_ client: Int32, _ bytes: inout [UInt8]) -> Bool {
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = recv(client, &buffer, buffer.count, 0)
        guard count > 0 else { return count < 0 && (errno == EAGAIN || errno == EINTR) }
        bytes += buffer[..<count]
        while bytes.count > 4 {
            let length = bytes[..<4].reduce(0) { $0 << 8 | Int($1) }
            guard length > 0, length <= 256 * 1024 else { return false }
            guard bytes.count >= 4 + length else { return true }
            let reply = reply(to: Array(bytes[..<(4 + length)]))
            bytes.removeFirst(4 + length)
            // An answer of a few keys fits into the socket's buffer.
            _ = reply.bytes.withUnsafeBytes { send(client, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            if reply.isLast { return false }
        }
        return true
    }

    private func reply(to request: [UInt8]) -> Reply {
        let isSigning = request[4] == Self.signRequest
        let conduct = state.withLock { state in
            state.signRequests += isSigning ? 1 : 0
            return state.conduct
        }
        guard isSigning || request[4] == Self.requestIdentities else { return Reply(bytes: [], isLast: true) }
        switch conduct {
        case .waitsForTouch: return Reply(bytes: isSigning ? [] : answer, isLast: false)
        case .refusesToSign: return Reply(bytes: isSigning ? Self.failure : answer, isLast: false)
        case .isLocked: return Reply(bytes: isSigning ? Self.failure : Self.noIdentities, isLast: false)
        case .says(let bytes): return Reply(bytes: bytes, isLast: false)
        case .asks(let agent): return Reply(bytes: Self.ask(agent, request), isLast: false)
        case .cuts(let agent, let count):
            return Reply(bytes: Array(Self.ask(agent, request).prefix(count)), isLast: true)
        }
    }

    /// What a real agent answers; empty when it does not.
    private static func ask(_ agent: String, _ request: [UInt8]) -> [UInt8] {
        let descriptor = LoopbackPort.connect(unixPath: agent)
        guard descriptor >= 0 else { return [] }
        defer { close(descriptor) }
        guard send(descriptor, request, request.count, Int32(MSG_NOSIGNAL)) == request.count else {
            return []
        }
        var reply: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while reply.count < 4 || reply.count < 4 + reply[..<4].reduce(0, { $0 << 8 | Int($1) }) {
            let count = recv(descriptor, &buffer, buffer.count, 0)
            guard count > 0, reply.count < replyLimit else { return [] }
            reply += buffer[..<count]
        }
        return reply
    }
}
