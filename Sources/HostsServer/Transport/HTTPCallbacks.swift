import CMicroHTTPD
import HostsAPI
import HostsModel

/// The functions that libmicrohttpd calls, all on the loop's thread.
///
/// They only find the core and pass the call on.
enum HTTPCallbacks {
    static func table(for core: UnsafeMutableRawPointer) -> hosts_http_callbacks {
        hosts_http_callbacks(
            target: { cls, target, connection in
                guard let target, let connection else { return nil }
                owner(cls).targets[connection] = String(cString: target)
                return nil
            },
            handle: { cls, connection, _, method, _, part, size, request in
                guard let connection, let method, let size, let request else { return .NO }
                return owner(cls).handle(
                    connection, method: method,
                    part: UnsafeRawBufferPointer(start: part, count: size.pointee),
                    uploadSize: &size.pointee, id: &request.pointee)
            },
            completed: { cls, connection, request, _ in
                guard let connection, let request else { return }
                owner(cls).completed(connection, id: Int(bitPattern: request.pointee))
                request.pointee = nil
            },
            connection: { cls, connection, _, code in
                guard let connection, code == .CONNECTION_NOTIFY_CLOSED else { return }
                owner(cls).targets[connection] = nil
            },
            cls: core)
    }
}

/// The core that every callback is registered with.
private func owner(_ cls: UnsafeMutableRawPointer?) -> HTTPLoopCore {
    guard let cls else { preconditionFailure("every callback is registered with the core") }
    return Unmanaged<HTTPLoopCore>.fromOpaque(cls).takeUnretainedValue()
}

extension HTTPLoopCore {
    /// The header fields that anything here looks at; the others are not kept.
    private static let knownFields: Set<String> = [
        "host", "origin", "referer", "accept", "last-event-id", "content-length",
    ]

    /// Called with the header, then with each part of the body, then once more; and once more after a resume.
    func handle(
        _ connection: OpaquePointer, method: UnsafePointer<CChar>, part: UnsafeRawBufferPointer,
        uploadSize: inout Int, id: inout UnsafeMutableRawPointer?
    ) -> MHD_Result {
        guard let known = live[Int(bitPattern: id)] else {
            let new = newID()
            id = UnsafeMutableRawPointer(bitPattern: new)
            return begin(connection, method: String(cString: method), id: new)
        }
        if uploadSize > 0 {
            known.receive(part)
            uploadSize = 0
            return known.bodyBytes > HTTPLimits.drain.bytes ? .NO : .YES
        }
        switch known.phase {
        case .receiving: return received(known, id: Int(bitPattern: id))
        case .ready(let answer): return queue(answer, for: known, id: Int(bitPattern: id))
        case .waiting, .answered, .streaming: return .YES
        }
    }

    private func begin(_ connection: OpaquePointer, method: String, id: Int) -> MHD_Result {
        let collector = FieldCollector(known: Self.knownFields)
        MHD_get_connection_values_n(
            connection, .HEADER_KIND,
            { cls, _, key, keySize, value, valueSize in
                guard let cls, let key else { return .NO }
                let collector = Unmanaged<FieldCollector>.fromOpaque(cls).takeUnretainedValue()
                collector.add(
                    UnsafeBufferPointer(start: key, count: keySize),
                    UnsafeBufferPointer(start: value, count: value == nil ? 0 : valueSize))
                return .YES
            }, Unmanaged.passUnretained(collector).toOpaque())
        let request = Live(
            connection: connection,
            request: HTTPRequest(
                method: method, target: targets.removeValue(forKey: connection) ?? "",
                fields: collector.fields,
                peer: Peer(of: hosts_http_connection_descriptor(connection))))
        live[id] = request
        guard let length = collector.fields["content-length"]?.first.flatMap(Int.init),
            length > HTTPRequest.bodyLimit.bytes
        else { return .YES }
        // Told before the body is sent, a client that asks first (Expect: 100-continue) need not send it.
        let error = APIError.tooLarge("a request body has at most \(HTTPRequest.bodyLimit)")
        return queue(.whole(HTTPResponse(error: error)), for: request, id: id)
    }

    private func received(_ known: Live, id: Int) -> MHD_Result {
        guard !isStopping else { return queue(.whole(HTTPResponse(error: .stopping)), for: known, id: id) }
        let request = known.request
        known.request = HTTPRequest(
            method: request.method, target: request.target, fields: request.fields, peer: request.peer,
            bodySize: .bytes(known.bodyBytes), body: known.takeBody())
        guard loop.hand(Exchange(id: id, request: known.request, loop: loop)) else {
            let error = APIError.busy("too many requests wait")
            return queue(.whole(HTTPResponse(error: error)), for: known, id: id)
        }
        known.phase = .waiting
        suspend(known)
        return .YES
    }

    func completed(_ connection: OpaquePointer, id: Int) {
        targets[connection] = nil
        guard let request = live.removeValue(forKey: id) else { return }
        switch request.phase {
        case .streaming(let body), .ready(.stream(let body, _, _)): body.close()
        case .receiving, .waiting, .ready(.whole), .answered: break
        }
    }
}

/// Collects header fields while the library walks through them.
private final class FieldCollector {
    private let known: Set<String>
    private(set) var fields: [String: [String]] = [:]

    init(known: Set<String>) {
        self.known = known
    }

    func add(_ key: UnsafeBufferPointer<CChar>, _ value: UnsafeBufferPointer<CChar>) {
        let name = text(key).lowercased()
        guard known.contains(name) else { return }
        fields[name, default: []].append(text(value))
    }

    private func text(_ bytes: UnsafeBufferPointer<CChar>) -> String {
        String(decoding: bytes.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
