import CLinux
import FoundationEssentials
import Glibc
import HostsModel
import HostsPOSIX

/// An ssh-agent that offers keys and never signs: it waits for a touch that does not come.
package final class StubAgent: Sendable {
    private struct State: Sendable {
        var signRequests = 0
        var isClosed = false
    }

    /// Messages of the ssh-agent protocol (draft-miller-ssh-agent section 5.1).
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
    package init(publicKeys: [String]) throws {
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
            entries += clients.map { pollfd(fd: $0.socket, events: Int16(POLLIN), revents: 0) }
            guard poll(&entries, nfds_t(entries.count), -1) > 0 else { continue }
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
            switch bytes[4] {
            case Self.requestIdentities:
                // An answer of a few keys fits into the socket's buffer.
                _ = answer.withUnsafeBytes { send(client, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            case Self.signRequest: state.withLock { $0.signRequests += 1 }
            default: return false
            }
            bytes.removeFirst(4 + length)
        }
        return true
    }
}
