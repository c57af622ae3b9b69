import FoundationEssentials
import HostsAPI
import HostsModel

extension APIRoutes {
    /// The windows of the person's: each is open for as long as its stream is read.
    static func attachRoutes(_ service: any DaemonService) -> [Route] {
        [
            Route(.post, "/v1/hosts/{name}/attach", .write, takesBody: true) {
                request async throws(APIError) in
                let session = try attachedSession(of: request.request)
                let watch = try await service.attach(request.variable("name"), session: session)
                let format = StreamFormat(accept: request.request.field("accept")) ?? .jsonLines
                return .stream(StreamAnswer(watch, format: format) { _ in "" })
            }
        ]
    }

    /// The session that the body of a request names; nil for a shell.
    private static func attachedSession(of request: HTTPRequest) throws(APIError) -> String? {
        guard let body = request.body else { return nil }
        let members: [String: String]
        do {
            members = try JSONDecoder().decode([String: String].self, from: body.withBytes { Data($0) })
        } catch {
            throw .badRequest("the body must be {} or {\"session\":\"…\"}")
        }
        if let stranger = members.keys.sorted().first(where: { $0 != "session" }) {
            throw .badRequest("the body has no member \(SafeText.visible(stranger, limit: 40))")
        }
        guard let session = members["session"] else { return nil }
        guard !session.isEmpty, session.utf8.count <= AttachBody.sessionLimit else {
            throw .badRequest("session must have 1 to \(AttachBody.sessionLimit) bytes")
        }
        return session
    }
}
