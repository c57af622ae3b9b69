import FoundationEssentials
package import HostsAPI
import HostsLog
import HostsModel

/// The table of the API: what each route asks the daemon.
package enum APIRoutes {
    /// How many events or log lines a list has at most.
    package static let listLimit = 10_000
    /// How many a list has if nothing else is asked.
    package static let defaultEventLimit = 100
    package static let defaultLogLimit = 1000
    /// Longest id of an event, in bytes.
    static let idLimit = 200

    /// Makes the table for a daemon.
    package static func all(of service: any DaemonService, version: VersionDocument) -> [Route] {
        daemonRoutes(service, version) + lifecycleRoutes(service) + hostRoutes(service)
            + recordRoutes(service) + sessionRoutes(service)
            + listRoutes(service) + attachRoutes(service)
    }

    private static func daemonRoutes(_ service: any DaemonService, _ version: VersionDocument) -> [Route] {
        [
            Route(.get, "/v1/status", .read) { _ async throws(APIError) in
                .document(try await service.status())
            },
            Route(.get, "/v1/version", .read) { _ async throws(APIError) in .document(version) },
            Route(.get, "/v1/hooks", .read) { _ async throws(APIError) in
                .document(try await service.hooks())
            },
            Route(.post, "/v1/reload", .write) { _ async throws(APIError) in
                .document(try await service.reload())
            },
            Route(.get, "/healthz", .read) { _ async throws(APIError) in
                .response(
                    HTTPResponse(
                        status: 200, contentType: "text/plain; charset=utf-8", body: Array("ok\n".utf8)))
            },
            Route(.get, "/metrics", .read) { _ async throws(APIError) in
                let text = MetricsText.page(
                    status: try await service.status(), hosts: try await service.hosts().hosts,
                    sessions: try await service.sessions(host: nil).sessions)
                return .response(
                    HTTPResponse(status: 200, contentType: MetricsText.contentType, body: Array(text.utf8)))
            },
        ]
    }

    private static func lifecycleRoutes(_ service: any DaemonService) -> [Route] {
        [
            Route(.post, "/v1/refresh", .write) { _ async throws(APIError) in
                .document(try await service.refresh())
            },
            Route(.post, "/v1/debug/{action}", .write, parameters: ["host"]) {
                request async throws(APIError) in
                let name = request.variable("action")
                guard let action = DebugAction(rawValue: name) else {
                    throw .badRequest(
                        "\(SafeText.visible(name, limit: 40)) cannot be played; what can be: "
                            + DebugAction.allCases.map(\.rawValue).joined(separator: ", "))
                }
                let host = try request.query.text("host", limit: 200)
                guard host == nil || action == .keepalive else {
                    throw .badRequest("a host is for keepalive only")
                }
                return switch action {
                case .keepalive: .document(try await service.toggleKeepAlive(host))
                case .refresh: .document(try await service.refresh())
                case .sleep: .document(try await service.rehearse(isSleep: true))
                case .wake: .document(try await service.rehearse(isSleep: false))
                }
            },
        ]
    }

    private static func hostRoutes(_ service: any DaemonService) -> [Route] {
        [
            Route(.get, "/v1/hosts", .read) { _ async throws(APIError) in
                .document(try await service.hosts())
            },
            Route(.get, "/v1/hosts/{name}", .read, parameters: ["follow"]) {
                request async throws(APIError) in
                let name = request.variable("name")
                guard let format = try streamFormat(of: request) else {
                    return .document(try await service.host(name))
                }
                return .stream(
                    StreamAnswer(try await service.watchHost(name), format: format) { _ in "" })
            },
            Route(.post, "/v1/hosts/{name}/enable", .write) { request async throws(APIError) in
                .document(try await service.enable(request.variable("name")))
            },
            Route(.post, "/v1/hosts/{name}/disable", .write) { request async throws(APIError) in
                .document(try await service.disable(request.variable("name")))
            },
            Route(.post, "/v1/hosts/{name}/probe", .write) { request async throws(APIError) in
                .document(try await service.probe(request.variable("name")))
            },
            Route(.post, "/v1/hosts/{name}/resume", .write) { request async throws(APIError) in
                .document(try await service.resume(request.variable("name")))
            },
            Route(.post, "/v1/hosts/{name}/cancel", .write) { request async throws(APIError) in
                .document(try await service.cancel(request.variable("name")))
            },
            Route(.post, "/v1/hosts/{name}/check", .write) { request async throws(APIError) in
                .document(try await service.check(request.variable("name")))
            },
            Route(.post, "/v1/hosts/{name}/trust", .write, takesBody: true) {
                request async throws(APIError) in
                let fingerprint = try acceptedFingerprint(of: request.request)
                return .document(
                    try await service.trust(request.variable("name"), fingerprint: fingerprint))
            },
            Route(.post, "/v1/hosts/{name}/unlock", .write, takesBody: true) {
                request async throws(APIError) in
                let passphrase = try PassphraseBody.decoded(request.request.body)
                return .document(
                    try await service.unlock(request.variable("name"), passphrase: passphrase))
            },
        ]
    }

    private static func recordRoutes(_ service: any DaemonService) -> [Route] {
        [
            Route(.post, "/v1/hosts", .write, takesBody: true) { request async throws(APIError) in
                var values = try recordValues(of: request.request)
                guard case .text(let name)? = values.removeValue(forKey: "name") else {
                    throw .badRequest("the body must have a member \"name\", a text")
                }
                return .document(try await service.add(name, values))
            },
            Route(.delete, "/v1/hosts/{name}", .write) { request async throws(APIError) in
                .document(try await service.remove(request.variable("name")))
            },
            Route(.patch, "/v1/hosts/{name}", .write, takesBody: true) { request async throws(APIError) in
                let values = try recordValues(of: request.request)
                return .document(try await service.set(request.variable("name"), values))
            },
        ]
    }

    /// The members of a body that holds keys of a record.
    private static func recordValues(
        of request: HTTPRequest
    ) throws(APIError) -> [String: RecordValueBody] {
        do {
            let body = (request.body ?? SecretBytes(copying: [])).withBytes { Data($0) }
            return try JSONDecoder().decode([String: RecordValueBody].self, from: body)
        } catch {
            throw .badRequest(
                "the body must be an object of texts, true, false, null and arrays of texts, "
                    + "such as {\"label\":\"Dev box\",\"tags\":[\"ml\"]}")
        }
    }

    /// The fingerprint that the body of a request accepts; nil where it only asks.
    private static func acceptedFingerprint(of request: HTTPRequest) throws(APIError) -> String? {
        guard let body = request.body else { return nil }
        let members: [String: String]
        do {
            members = try JSONDecoder().decode(
                [String: String].self, from: body.withBytes { Data($0) })
        } catch {
            throw .badRequest("the body must be {} or {\"fingerprint\":\"SHA256:…\"}")
        }
        if let stranger = members.keys.sorted().first(where: { $0 != "fingerprint" }) {
            throw .badRequest("the body has no member \(SafeText.visible(stranger, limit: 40))")
        }
        guard let fingerprint = members["fingerprint"] else { return nil }
        guard TrustBody.isFingerprint(fingerprint) else {
            throw .badRequest(
                "fingerprint must be SHA256: and 43 digits of Base64, as ssh-keygen -l shows it")
        }
        return fingerprint
    }

    private static func sessionRoutes(_ service: any DaemonService) -> [Route] {
        [
            Route(.get, "/v1/sessions", .read, parameters: ["host", "unknown"]) {
                request async throws(APIError) in
                var list = try await service.sessions(host: try request.query.text("host"))
                if try request.query.flag("unknown") { list.sessions.removeAll { $0.isUnderstood } }
                return .document(list)
            },
            Route(.get, "/v1/sessions/{id...}/explain", .read) { request async throws(APIError) in
                .document(try await service.explain(SessionID(rawValue: request.variable("id"))))
            },
            Route(.get, "/v1/sessions/{id...}", .read, parameters: ["follow"]) {
                request async throws(APIError) in
                let id = SessionID(rawValue: request.variable("id"))
                guard let format = try streamFormat(of: request) else {
                    return .document(try await service.session(id))
                }
                return .stream(
                    StreamAnswer(try await service.watchSession(id), format: format) { _ in "" })
            },
        ]
    }

    private static func listRoutes(_ service: any DaemonService) -> [Route] {
        let events = ["after", "limit", "host", "kind", "follow"]
        let logs = ["after", "limit", "host", "category", "level", "follow"]
        return [
            Route(.get, "/v1/events", .read, parameters: events) { request async throws(APIError) in
                let format = try streamFormat(of: request)
                let query = try eventQuery(of: request, isStream: format != nil)
                guard let format else { return .document(try await service.events(query)) }
                let watch = try await service.watchEvents(query)
                return .stream(StreamAnswer(watch, format: format, id: \.id))
            },
            Route(.get, "/v1/logs", .read, parameters: logs) { request async throws(APIError) in
                let format = try streamFormat(of: request)
                let query = try logQuery(of: request, isStream: format != nil)
                guard let format else { return .document(try await service.logs(query)) }
                let watch = try await service.watchLogs(query)
                return .stream(StreamAnswer(watch, format: format) { String($0.sequence) })
            },
        ]
    }

    /// Nil for a list.
    ///
    /// A HEAD request never opens a stream: nobody would read it.
    private static func streamFormat(of request: RoutedRequest) throws(APIError) -> StreamFormat? {
        let follows = try request.query.flag("follow")
        guard request.request.method != "HEAD" else { return nil }
        return StreamFormat(accept: request.request.field("accept")) ?? (follows ? .jsonLines : nil)
    }

    private static func eventQuery(of request: RoutedRequest, isStream: Bool) throws(APIError) -> EventQuery {
        let query = request.query
        var after = try query.text("after", limit: idLimit)
        if let id = try lastID(of: request, isStream: isStream) { after = id }
        return EventQuery(
            after: after,
            host: try query.host("host"), kinds: try query.names("kind"),
            limit: try query.integer("limit", in: 0...listLimit) ?? (isStream ? 0 : defaultEventLimit))
    }

    private static func logQuery(of request: RoutedRequest, isStream: Bool) throws(APIError) -> LogQuery {
        let query = request.query
        var after = try query.integer("after", in: 0...Int.max)
        if let id = try lastID(of: request, isStream: isStream) {
            guard let sequence = Int(id), sequence >= 0 else {
                throw .badRequest("Last-Event-ID of the log must be the sequence number of a line")
            }
            after = sequence
        }
        return LogQuery(
            after: after, categories: try query.words("category", of: LogCategory.self),
            level: try query.word("level", of: LogLevel.self), host: try query.host("host"),
            limit: try query.integer("limit", in: 0...listLimit) ?? (isStream ? 0 : defaultLogLimit))
    }

    /// Where a stream goes on, newer than what the address says.
    ///
    /// An empty id is none (WHATWG HTML, 9.2.4).
    private static func lastID(of request: RoutedRequest, isStream: Bool) throws(APIError) -> String? {
        guard isStream, let id = request.request.field("last-event-id"), !id.isEmpty else { return nil }
        guard id.utf8.count <= idLimit else {
            throw .badRequest("Last-Event-ID has at most \(idLimit) bytes")
        }
        return id
    }
}
