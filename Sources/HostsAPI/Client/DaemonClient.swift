import FoundationEssentials

/// The calls of the API, typed.
///
/// Blocks its thread: for a command line program.
package struct DaemonClient {
    private let transport: any DaemonTransport
    private let timeout: Duration
    private let deadline: ContinuousClock.Instant?
    private let pause: (Duration) -> Void

    /// Makes a client.
    ///
    /// - Parameters:
    ///   - transport: Carries the requests.
    ///   - timeout: For each call.
    ///   - deadline: When a stream ends at last; nil for never.
    ///   - pause: Blocks for a while, between the attempts to reach a stream again.
    package init(
        transport: any DaemonTransport, timeout: Duration, deadline: ContinuousClock.Instant? = nil,
        pause: @escaping (Duration) -> Void
    ) {
        self.transport = transport
        self.timeout = timeout
        self.deadline = deadline
        self.pause = pause
    }

    /// Makes a call and gives the document as it came.
    ///
    /// - Throws: `.refused` for any status but 2xx.
    package func body(of request: APIRequest) throws(ClientError) -> [UInt8] {
        let answer = try transport.answer(to: request, within: timeout)
        guard (200..<300).contains(answer.status) else { throw Self.refusal(answer) }
        return answer.body
    }

    /// Makes a call and reads the document.
    package func document<Document: Decodable>(
        _ type: Document.Type, of request: APIRequest
    ) throws(ClientError) -> Document {
        try Self.decode(type, from: try body(of: request))
    }

    /// Reads a document of the wire.
    ///
    /// - Throws: `.badAnswer` with the place that cannot be read.
    package static func decode<Document: Decodable>(
        _ type: Document.Type, from body: [UInt8]
    ) throws(ClientError) -> Document {
        do {
            return try JSONDecoder().decode(type, from: Data(body))
        } catch {
            throw .badAnswer(detail: "the answer is no \(type): \(reason(error))")
        }
    }

    /// What is told about a stream beside its lines.
    package enum Notice: Hashable, Sendable {
        /// The stream broke; it is tried again until it is back.
        case lost(ClientError)
        case back
    }

    /// Follows a stream of JSON lines through losses of the connection and restarts of the daemon.
    ///
    /// After a loss the stream goes on behind the last line, so no line is given twice.
    ///
    /// - Parameters:
    ///   - request: A list that can be followed.
    ///   - notice: Is told when the stream is lost and when it is back.
    ///   - line: Is given each line as it came; answers whether to go on.
    /// - Throws: What waiting does not mend, or what kept the daemon from being reached at all.
    package func follow(
        _ request: APIRequest, notice: (Notice) -> Void, line: ([UInt8]) throws(ClientError) -> Bool
    ) throws(ClientError) {
        var state = FollowState()
        var daemon: DaemonIdentity?
        var isLost = false
        while true {
            let error: ClientError
            do {
                let current = try document(DaemonIdentity.self, of: .status)
                if let daemon, daemon != current, !request.isNumberedForever { state.beginAnew() }
                if isLost { notice(.back) }
                isLost = false
                daemon = current
                state.reached()
                let end = try read(state.lastID == nil ? request : request.resumed, &state, line)
                guard end != .stopped else { return }
                error = .streamEnded
            } catch let failure {
                error = failure
            }
            let left = deadline.map { ContinuousClock.now.duration(to: $0) }
            if let left, left <= .zero { throw .deadlinePassed(after: timeout) }
            switch state.ended(error) {
            case .fail(let error): throw error
            case .reconnect(let delay):
                if !isLost { notice(.lost(error)) }
                isLost = true
                pause(left.map { min(delay, $0) } ?? delay)
            }
        }
    }

    private func read(
        _ request: APIRequest, _ state: inout FollowState, _ line: ([UInt8]) throws(ClientError) -> Bool
    ) throws(ClientError) -> StreamOutcome {
        var failure: ClientError?
        var position = state
        let end = Result<StreamOutcome, ClientError> { () throws(ClientError) in
            try transport.stream(request.following, after: state.lastID, until: deadline) { text in
                do throws(ClientError) {
                    let mark = try Self.decode(StreamMark.self, from: text)
                    if let error = mark.error {
                        let word = ErrorDocument(code: error.code, message: error.message, help: error.help)
                        failure = .refused(status: 503, word, body: text)
                        return false
                    }
                    position.received(id: mark.position)
                    return try line(text)
                } catch {
                    failure = error
                    return false
                }
            }
        }
        state = position
        if let failure { throw failure }
        let result = try end.get()
        if case .refused(let answer) = result { throw Self.refusal(answer) }
        return result
    }

    private static func refusal(_ answer: DaemonAnswer) -> ClientError {
        do {
            let document = try decode(ErrorDocument.self, from: answer.body)
            return .refused(status: answer.status, document, body: answer.body)
        } catch {
            return .badAnswer(detail: "status \(answer.status) without an error document")
        }
    }

    private static func reason(_ error: any Error) -> String {
        guard let error = error as? DecodingError else { return "it is no JSON" }
        switch error {
        case .keyNotFound(let key, let context): return "\(path(context.codingPath + [key])) is missing"
        case .typeMismatch(_, let context), .valueNotFound(_, let context):
            return "\(path(context.codingPath)) has another type"
        case .dataCorrupted(let context):
            return context.codingPath.isEmpty ? "it is no JSON" : "\(path(context.codingPath)) cannot be read"
        @unknown default: return "it cannot be read"
        }
    }

    private static func path(_ keys: [any CodingKey]) -> String {
        keys.map { key in key.intValue.map(String.init) ?? key.stringValue }.joined(separator: ".")
    }
}

/// What tells one run of the daemon from another.
private struct DaemonIdentity: Decodable, Hashable {
    let pid: Int
    let started: APITime
}

/// What every line of a stream may carry to go on after it.
private struct StreamMark: Decodable {
    let id: String?
    let sequence: Int?
    let error: ErrorDocument.Detail?

    var position: String? { id ?? sequence.map(String.init) }
}

extension APIRequest {
    /// Whether the ids of the list outlive a restart of the daemon: events are stored, log lines are not.
    fileprivate var isNumberedForever: Bool { path.last != "logs" }
}
