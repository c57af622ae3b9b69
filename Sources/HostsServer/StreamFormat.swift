import HostsAPI
import HostsModel

/// How a stream is written: chosen by the client.
package enum StreamFormat: Hashable, Sendable {
    /// Server-sent events (WHATWG HTML, section 9.2): data without an event name, and named control words.
    case serverSentEvents
    /// One document per line; an empty line is a heartbeat, a line with a member `error` is the last one.
    case jsonLines

    package var contentType: String {
        switch self {
        case .serverSentEvents: "text/event-stream"
        case .jsonLines: "application/x-ndjson"
        }
    }

    /// The format that `Accept` asks for; nil if it asks for none.
    ///
    /// Weights are not looked at: the first format that is named is meant.
    package init?(accept: String?) {
        let kinds = (accept ?? "").split(separator: ",").map { range in
            range.prefix { $0 != ";" }.filter { $0 != " " && $0 != "\t" }.lowercased()
        }
        let formats: [StreamFormat] = [.serverSentEvents, .jsonLines]
        let wanted = kinds.lazy.compactMap { kind in formats.first { $0.contentType == kind } }.first
        guard let wanted else { return nil }
        self = wanted
    }

    /// One element.
    ///
    /// - Parameters:
    ///   - document: What it is.
    ///   - id: Where the client goes on after it.
    /// - Returns: The bytes, with the end of the line.
    func element(_ document: some Encodable, id: String) -> [UInt8] {
        let line = HTTPResponse.json(document)
        switch self {
        case .serverSentEvents:
            return Array("id: \(SafeText.visible(id))\ndata: ".utf8) + line + Array("\n\n".utf8)
        case .jsonLines: return line + [UInt8(ascii: "\n")]
        }
    }

    /// A sign of life.
    var heartbeat: [UInt8] {
        switch self {
        case .serverSentEvents: Array(": heartbeat\n\n".utf8)
        case .jsonLines: [UInt8(ascii: "\n")]
        }
    }

    /// The last thing that a reader is told.
    func lastWord(_ word: StreamEnd) -> [UInt8] {
        control(word.rawValue, word.document)
    }

    /// What a reader is told first when something before its place is lost.
    ///
    /// JSON lines have no room for it: there, the response field `Hostsd-Incomplete` says it.
    var resync: [UInt8] {
        let document = ErrorDocument(
            code: "stream.incomplete", message: "what came before is lost or unknown",
            help: "read the list anew")
        switch self {
        case .serverSentEvents: return control("resync", document)
        case .jsonLines: return []
        }
    }

    private func control(_ name: String, _ document: ErrorDocument) -> [UInt8] {
        let line = HTTPResponse.json(document)
        switch self {
        case .serverSentEvents: return Array("event: \(name)\ndata: ".utf8) + line + Array("\n\n".utf8)
        case .jsonLines: return line + [UInt8(ascii: "\n")]
        }
    }
}

/// Why the daemon ends a stream.
enum StreamEnd: String, Hashable, Sendable {
    /// The reader was too slow.
    case dropped
    case stopping

    var document: ErrorDocument {
        switch self {
        case .dropped:
            ErrorDocument(
                code: "stream.dropped", message: "the reader was too slow",
                help: "connect again with Last-Event-ID")
        case .stopping: APIError.stopping.document
        }
    }
}
