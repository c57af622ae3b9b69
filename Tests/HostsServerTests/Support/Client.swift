import Foundation
import Glibc
import HostsModel

/// A client that speaks HTTP by hand, so that it can also misbehave.
///
/// Its calls block a thread of their own.
final class Client: Sendable {
    struct Failure: Error, Hashable {
        let text: String
    }

    private let descriptor: Int32
    private let buffer = Locked<[UInt8]>([])

    /// Connects.
    init(_ path: String) throws {
        descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard result == 0 else {
            let code = errno
            close(descriptor)
            throw Failure(text: "connect: \(code)")
        }
        // Only so that a test that fails ends: a busy machine may need long.
        var limit = timeval(tv_sec: 300, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    }

    deinit { close(descriptor) }

    /// Sends all; a server that hangs up early is no failure here.
    func send(_ bytes: [UInt8]) async {
        await Self.blocking { [descriptor] in
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = rest.withUnsafeBytes {
                    Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
                }
                if count <= 0 { return }
                rest = rest.dropFirst(count)
            }
        }
    }

    func send(_ text: String) async { await send(Array(text.utf8)) }

    /// Reads until a text has come, and takes everything up to its end.
    func read(until mark: String) async throws -> String {
        let mark = Array(mark.utf8)
        return try await Self.blocking { [self] in
            var scanned = 0
            while true {
                if let found = take(through: mark, scanned: &scanned) {
                    return Result<String, Failure>.success(found)
                }
                guard receive() > 0 else {
                    let rest = buffer.withLock { String(decoding: $0, as: UTF8.self) }
                    return .failure(
                        Failure(text: "ended before \(String(decoding: mark, as: UTF8.self)): \(rest)"))
                }
            }
        }.get()
    }

    /// Reads until the server hangs up.
    func readToEnd() async -> String {
        await Self.blocking { [self] in
            while receive() > 0 {}
            return buffer.withLock { bytes in
                defer { bytes = [] }
                return String(decoding: bytes, as: UTF8.self)
            }
        }
    }

    /// Hangs up.
    func hangUp() { shutdown(descriptor, Int32(SHUT_RDWR)) }

    private func receive() -> Int {
        var part = [UInt8](repeating: 0, count: 65536)
        let count = recv(descriptor, &part, part.count, 0)
        if count > 0 { buffer.withLock { $0 += part[..<count] } }
        return count
    }

    private func take(through mark: [UInt8], scanned: inout Int) -> String? {
        let from = scanned
        let (found, end) = buffer.withLock { bytes -> (String?, Int) in
            guard bytes.count - from >= mark.count else { return (nil, from) }
            for start in from...(bytes.count - mark.count)
            where bytes[start] == mark[0] && bytes[start..<start + mark.count].elementsEqual(mark) {
                let taken = String(decoding: bytes[..<(start + mark.count)], as: UTF8.self)
                bytes.removeFirst(start + mark.count)
                return (taken, 0)
            }
            return (nil, bytes.count - mark.count + 1)
        }
        scanned = end
        return found
    }

    /// Runs something that blocks on a thread of its own.
    static func blocking<Result: Sendable>(_ body: @escaping @Sendable () -> Result) async -> Result {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread { continuation.resume(returning: body()) }
        }
    }
}

/// What a server answered.
struct Reply: Sendable {
    let status: Int
    let header: String
    let body: String

    init(_ text: String) throws {
        guard let end = text.firstRange(of: "\r\n\r\n"), text.hasPrefix("HTTP/1.1 "),
            let status = Int(text.dropFirst(9).prefix(3))
        else { throw Client.Failure(text: "no HTTP response: \(text)") }
        self.status = status
        header = String(text[..<end.lowerBound])
        let rest = String(text[end.upperBound...])
        body = header.lowercased().contains("transfer-encoding: chunked") ? try Self.unchunked(rest) : rest
    }

    /// Takes a chunked body apart (RFC 9112, section 7.1); its last chunk must be there.
    static func unchunked(_ text: String) throws -> String {
        var result: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let line = rest.firstIndex(of: 0x0d) {
            guard let size = Int(String(decoding: rest[..<line], as: UTF8.self), radix: 16) else {
                throw Client.Failure(text: "no chunk size")
            }
            if size == 0 { return String(decoding: result, as: UTF8.self) }
            rest = rest[line...].dropFirst(2)
            result += rest.prefix(size)
            rest = rest.dropFirst(size + 2)
        }
        throw Client.Failure(text: "the last chunk is missing")
    }
}
