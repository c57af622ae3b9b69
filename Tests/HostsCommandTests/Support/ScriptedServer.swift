import Glibc
import HostsModel

/// A tiny HTTP server on a Unix socket that plays a script: the real client is tested against it.
///
/// One thread serves one connection at a time. Each connection takes the next act: it reads requests and answers each
/// with the next reply of the act, then closes.
final class ScriptedServer: Sendable {
    /// What is done after the head of a request has been read.
    enum Reply: Sendable {
        /// Bytes, sent in pieces of so many; then the next request is awaited.
        case send([UInt8], piece: Int)
        /// Bytes, then the connection is closed.
        case sendAndClose([UInt8])
        /// Bytes, then silence until the client goes away.
        case sendAndHang([UInt8])
    }

    let path: String
    private let folder: String
    private let listener: Int32
    private let acts: [[Reply]]
    private let heads = Locked<[String]>([])
    /// Whether the listener's descriptor is closed: its number may be another server's then.
    private let isClosed = Locked(false)
    /// Readable when the thread has ended.
    private let ended: (reader: Int32, writer: Int32)

    /// Starts the server.
    ///
    /// - Parameter acts: One for each connection.
    /// - Throws: When the socket cannot be made.
    init(_ acts: [Reply]...) throws {
        var template = Array("/tmp/hostsctl-test-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw ServerError.setUp("mkdtemp", errno) }
        folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        path = folder + "/api.sock"
        self.acts = acts
        listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard listener >= 0 else { throw ServerError.setUp("socket", errno) }
        try Self.bind(listener, to: path)
        guard listen(listener, 8) == 0 else { throw ServerError.setUp("listen", errno) }
        var ends: [Int32] = [-1, -1]
        let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else { throw ServerError.setUp("socketpair", errno) }
        ended = (ends[0], ends[1])
        var thread = pthread_t()
        let me = Unmanaged.passRetained(self)
        let result = pthread_create(
            &thread, nil,
            { context in
                guard let context else { return nil }
                Unmanaged<ScriptedServer>.fromOpaque(context).takeRetainedValue().serve()
                return nil
            }, me.toOpaque())
        guard result == 0 else {
            me.release()
            throw ServerError.setUp("pthread_create", result)
        }
        pthread_detach(thread)
    }

    enum ServerError: Error {
        case setUp(String, Int32)
        case stillPlaying
    }

    private static func bind(_ descriptor: Int32, to path: String) throws {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard result == 0 else { throw ServerError.setUp("bind", errno) }
    }

    /// Takes the socket away, so that the next connection is refused.
    func stop() {
        isClosed.withLock { if !$0 { shutdown(listener, Int32(SHUT_RDWR)) } }
        unlink(path)
        rmdir(folder)
    }

    deinit { close(ended.reader) }

    /// Waits until every act was played: a client that gives up early may be faster than this server's thread.
    ///
    /// - Throws: When that takes longer than a minute.
    func untilPlayed() throws {
        var end = pollfd(fd: ended.reader, events: Int16(POLLIN), revents: 0)
        guard poll(&end, 1, 60_000) == 1 else { throw ServerError.stillPlaying }
    }

    /// The heads of the requests so far.
    var requests: [String] { heads.withLock { $0 } }

    private func serve() {
        defer {
            isClosed.withLock { isClosed in
                close(listener)
                isClosed = true
            }
            close(ended.writer)
        }
        for act in acts {
            let connection = accept(listener, nil, nil)
            guard connection >= 0 else { return }
            play(act, on: connection)
            close(connection)
        }
    }

    private func play(_ act: [Reply], on connection: Int32) {
        for reply in act {
            guard readHead(from: connection) else { return }
            switch reply {
            case .send(let bytes, let piece):
                var rest = bytes[...]
                while !rest.isEmpty {
                    guard send(Array(rest.prefix(piece)), to: connection) else { return }
                    rest = rest.dropFirst(piece)
                }
            case .sendAndClose(let bytes):
                _ = send(bytes, to: connection)
                return
            case .sendAndHang(let bytes):
                _ = send(bytes, to: connection)
                var byte: UInt8 = 0
                while recv(connection, &byte, 1, 0) > 0 {}
                return
            }
        }
        // A client that keeps the connection may send more, which no act answers.
    }

    private func readHead(from connection: Int32) -> Bool {
        var head: [UInt8] = []
        while !head.suffix(4).elementsEqual("\r\n\r\n".utf8) {
            var byte: UInt8 = 0
            guard recv(connection, &byte, 1, 0) == 1, head.count < 16_384 else { return false }
            head.append(byte)
        }
        var left = Self.contentLength(of: String(decoding: head, as: UTF8.self))
        while left > 0 {
            var part = [UInt8](repeating: 0, count: left)
            let count = recv(connection, &part, left, 0)
            guard count > 0 else { return false }
            head += part[..<count]
            left -= count
        }
        heads.withLock { $0.append(String(decoding: head, as: UTF8.self)) }
        return true
    }

    private static func contentLength(of head: String) -> Int {
        let field = head.split(separator: "\r\n").first { $0.hasPrefix("Content-Length: ") }
        return field.flatMap { Int($0.dropFirst("Content-Length: ".count)) } ?? 0
    }

    private func send(_ bytes: [UInt8], to connection: Int32) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes {
                Glibc.send(connection, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }
}

/// Texts of HTTP answers.
enum HTTPText {
    static func whole(_ body: String, status: String = "200 OK") -> [UInt8] {
        Array(
            "HTTP/1.1 \(status)\r\nContent-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
                .utf8)
    }

    static let streamHead =
        "HTTP/1.1 200 OK\r\nContent-Type: application/x-ndjson\r\nTransfer-Encoding: chunked\r\n\r\n"

    private static func chunk(_ bytes: [UInt8]) -> [UInt8] {
        Array((String(bytes.count, radix: 16) + "\r\n").utf8) + bytes + Array("\r\n".utf8)
    }

    /// A stream of chunks; the last one ends it if `isFinished`.
    static func stream(_ chunks: [[UInt8]], isFinished: Bool) -> [UInt8] {
        Array(streamHead.utf8) + chunks.flatMap(chunk) + Array((isFinished ? "0\r\n\r\n" : "").utf8)
    }

    static func stream(_ text: String, isFinished: Bool) -> [UInt8] {
        stream([Array(text.utf8)], isFinished: isFinished)
    }

    static let status = whole(#"{"schema":1,"pid":1,"started":"2026-11-30T20:00:00.000Z"}"#)
    static let otherStatus = whole(#"{"schema":1,"pid":2,"started":"2026-11-30T20:00:01.000Z"}"#)
}
