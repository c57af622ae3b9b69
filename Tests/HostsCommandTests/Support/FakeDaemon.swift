import FoundationEssentials
import HostsAPI

/// A daemon in memory: answers what it was given, and refuses what it does not know like the real one.
final class FakeDaemon: DaemonTransport {
    private var answers: [String: DaemonAnswer] = [:]
    private var failures: [String: ClientError] = [:]
    /// What was asked, as in `POST /v1/hosts/devbox/enable`.
    private(set) var requests: [String] = []
    private(set) var timeouts: [Duration] = []
    /// The bodies that were sent, nil where a request had none.
    private(set) var bodies: [String?] = []
    /// What comes before `answers`, each once.
    private var queues: [String: [DaemonAnswer]] = [:]
    /// The streams in their order: lines, and how each ends.
    var streams: [(lines: [String], outcome: Result<StreamOutcome, ClientError>)] = []
    /// The `Last-Event-ID` of each stream.
    private(set) var lastIDs: [String?] = []

    func set(_ request: String, _ document: some Encodable, status: Int = 200) throws {
        answers[request] = DaemonAnswer(status: status, body: try Self.json(document))
    }

    func set(_ request: String, bytes: String, status: Int = 200) {
        answers[request] = DaemonAnswer(status: status, body: Array(bytes.utf8))
    }

    /// Adds an answer that is given once, before the one that stays.
    func queue(_ request: String, _ document: some Encodable, status: Int = 200) throws {
        queues[request, default: []].append(DaemonAnswer(status: status, body: try Self.json(document)))
    }

    func fail(_ request: String, _ error: ClientError) {
        failures[request] = error
    }

    static func json(_ document: some Encodable) throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return Array(try encoder.encode(document))
    }

    static func line(_ document: some Encodable) throws -> String {
        String(decoding: try json(document), as: UTF8.self)
    }

    func answer(to request: APIRequest, within timeout: Duration) throws(ClientError) -> DaemonAnswer {
        let name = request.method.rawValue + " " + request.target
        requests.append(name)
        timeouts.append(timeout)
        bodies.append(request.body?.withBytes { String(decoding: $0, as: UTF8.self) })
        if let queue = queues[name], let answer = queue.first {
            queues[name] = Array(queue.dropFirst())
            return answer
        }
        if let error = failures[name] { throw error }
        if let answer = answers[name] { return answer }
        let unknown = APIError.pathNotFound(request.target)
        do {
            return DaemonAnswer(status: unknown.status, body: try Self.json(unknown.document))
        } catch {
            throw .badAnswer(detail: "\(error)")
        }
    }

    func stream(
        _ request: APIRequest, after id: String?, until deadline: ContinuousClock.Instant?,
        line: ([UInt8]) -> Bool
    ) throws(ClientError) -> StreamOutcome {
        requests.append(request.method.rawValue + " " + request.target)
        lastIDs.append(id)
        // A test that follows for ever would hang: the script's end is the daemon's refusal.
        guard !streams.isEmpty else { throw .badAnswer(detail: "the script is at its end") }
        let next = streams.removeFirst()
        for text in next.lines {
            guard line(Array(text.utf8)) else { return .stopped }
        }
        return try next.outcome.get()
    }
}
