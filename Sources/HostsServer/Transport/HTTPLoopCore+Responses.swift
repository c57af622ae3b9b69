import CMicroHTTPD
import HostsModel

extension HTTPLoopCore {
    /// Fields of every response: documents are neither kept nor guessed at, and the version shows a skew.
    private static let commonFields = [("Cache-Control", "no-store"), ("X-Content-Type-Options", "nosniff")]

    /// How much the library asks a stream for at once.
    private static let streamBlock = ByteCount.kibibytes(8)

    /// Gives the library the answer to a request.
    func queue(_ answer: HTTPLoop.Answer, for request: Live, id: Int) -> MHD_Result {
        switch answer {
        case .whole(let whole):
            request.phase = .answered
            let response = whole.body.withUnsafeBytes { bytes in
                MHD_create_response_from_buffer(
                    bytes.count, UnsafeMutableRawPointer(mutating: bytes.baseAddress), .RESPMEM_MUST_COPY)
            }
            var fields = [("Content-Type", whole.contentType)]
            if !whole.allow.isEmpty { fields.append(("Allow", whole.allow.joined(separator: ", "))) }
            if isStopping { fields.append(("Connection", "close")) }
            return queue(response, status: whole.status, fields, for: request)
        case .stream(let body, let format, let isIncomplete):
            request.phase = .streaming(body)
            let reader = Unmanaged.passRetained(StreamReader(core: self, id: id, body: body))
            let response = hosts_http_stream_response(
                Self.streamBlock.bytes, readStream, reader.toOpaque(), releaseStreamReader)
            if response == nil { reader.release() }
            // A stream is the last thing on its connection: its end is seen by every client, whatever it knows of chunks.
            var fields = [("Content-Type", format.contentType), ("Connection", "close")]
            if isIncomplete { fields.append(("Hostsd-Incomplete", "1")) }
            return queue(response, status: 200, fields, for: request)
        }
    }

    private func queue(
        _ response: OpaquePointer?, status: Int, _ fields: [(String, String)], for request: Live
    ) -> MHD_Result {
        guard let response else { return .NO }  // out of memory: the connection is closed
        for (name, value) in fields + Self.commonFields + [("Hostsd-Version", version)] {
            MHD_add_response_header(response, name, value)
        }
        let result = MHD_queue_response(request.connection, UInt32(status), response)
        MHD_destroy_response(response)
        return result
    }

    /// Copies what a stream has into the library's buffer, or suspends the connection until there is something.
    fileprivate func read(_ reader: StreamReader, into buffer: UnsafeMutableRawBufferPointer) -> Int {
        switch reader.body.read(into: buffer) {
        case .bytes(let count): return count
        case .end: return hosts_http_end_of_stream()
        case .empty:
            guard let request = live[reader.id] else { return hosts_http_end_of_stream() }
            suspend(request)
            return 0
        }
    }
}

/// What the library holds of a stream, until it releases it.
private final class StreamReader {
    unowned let core: HTTPLoopCore
    let id: Int
    let body: StreamBody

    init(core: HTTPLoopCore, id: Int, body: StreamBody) {
        self.core = core
        self.id = id
        self.body = body
    }
}

private func readStream(
    _ cls: UnsafeMutableRawPointer?, _ position: UInt64, _ buffer: UnsafeMutablePointer<CChar>?, _ size: Int
) -> Int {
    guard let cls, let buffer else { return hosts_http_end_of_stream() }
    let reader = Unmanaged<StreamReader>.fromOpaque(cls).takeUnretainedValue()
    return reader.core.read(reader, into: UnsafeMutableRawBufferPointer(start: buffer, count: size))
}

private func releaseStreamReader(_ cls: UnsafeMutableRawPointer?) {
    guard let cls else { return }
    Unmanaged<StreamReader>.fromOpaque(cls).release()
}
