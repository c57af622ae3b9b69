import HostsModel

/// One request that waits for its answer.
///
/// The loop hands it out; whoever takes it answers exactly once.
struct Exchange: Sendable {
    let id: Int
    let request: HTTPRequest
    private let loop: HTTPLoop

    init(id: Int, request: HTTPRequest, loop: HTTPLoop) {
        self.id = id
        self.request = request
        self.loop = loop
    }

    /// Answers.
    ///
    /// Has no effect when the client has gone, or was answered.
    func answer(_ response: HTTPResponse) {
        loop.send(.answer(id, .whole(response)))
    }

    /// Answers with a stream.
    ///
    /// - Returns: Where to write it; closed at once when the client has gone.
    func open(_ stream: StreamAnswer) -> StreamBody {
        let loop = loop
        let id = id
        let body = StreamBody(format: stream.format) { loop.send(.wake(id)) }
        loop.send(.answer(id, .stream(body, stream.format, isIncomplete: stream.isIncomplete)))
        return body
    }
}
