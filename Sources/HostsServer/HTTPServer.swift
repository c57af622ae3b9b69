import Glibc
package import HostsAPI
package import HostsLog
package import HostsModel

/// The API on its Unix socket.
///
/// The socket listens from the moment the server exists, so the daemon may say that it is ready then; requests are
/// answered while `run` runs.
package final class HTTPServer: Sendable {
    /// How long a request may take that is no stream.
    package static let requestDeadline = Duration.seconds(60)

    /// Streams at one time.
    package static let streamLimit = 64

    private let socket: ControlSocket
    private let router: Router
    private let guardian: RequestGuard
    private let version: VersionDocument
    private let clock: any MonotonicClock
    private let log: Log
    private let streams = Locked(0)

    /// Claims the socket and listens on it.
    ///
    /// - Parameters:
    ///   - path: Of the socket, at most 107 bytes; its directory is made with mode 0700 if it is missing.
    ///   - service: Answers the requests.
    ///   - version: Which daemon it is.
    ///   - clock: For deadlines and heartbeats.
    ///   - log: Of the category `api`.
    /// - Throws: What stands against it, with a message and the next step.
    package init(
        path: String, service: any DaemonService, version: VersionDocument, clock: any MonotonicClock,
        log: Log
    ) throws(HTTPServerError) {
        // A client that goes while it is written to must not end the process (libmicrohttpd asks for this in its
        // external mode).
        signal(SIGPIPE, SIG_IGN)
        socket = try ControlSocket(path: path)
        router = Router(APIRoutes.all(of: service, version: version))
        guardian = RequestGuard(uid: geteuid())
        self.version = version
        self.clock = clock
        self.log = log
    }

    /// Serves until its task is cancelled; then tells every client and returns within a second.
    ///
    /// Called once.
    ///
    /// - Throws: When the transport cannot be started or fails by itself.
    package func run() async throws(HTTPServerError) {
        defer { socket.close() }
        let loop = try HTTPLoop()
        try loop.start(socket, version: version.version)
        log.info("api.listening", "listening on \(socket.path)", .text("socket", socket.path))
        await withTaskCancellationHandler {
            await withDiscardingTaskGroup { group in
                for await exchange in loop.exchanges {
                    group.addTask { await self.serve(exchange) }
                }
                // The loop stops: whoever still works for a client works for nobody.
                group.cancelAll()
            }
        } onCancel: {
            loop.send(.stop)
        }
        let failure = await loop.untilEnded()
        log.info("api.stopped", "no longer listening", .text("socket", socket.path))
        if let failure { throw failure }
    }

    private func serve(_ exchange: Exchange) async {
        let start = clock.now
        let request = exchange.request
        let (answer, route) = await answer(to: exchange)
        switch answer {
        case .response(let response):
            exchange.answer(response)
            note(request, route, status: response.status, since: start)
        case .stream(let stream):
            guard takeStream() else {
                let error = APIError.busy("there are \(Self.streamLimit) streams already")
                exchange.answer(HTTPResponse(error: error))
                return note(request, route, status: error.status, since: start)
            }
            note(request, route, status: 200, since: start)
            await stream.produce(into: exchange.open(stream), clock: clock)
            streams.withLock { $0 -= 1 }
            log.debug("api.stream.ended", "a stream has ended", .took(start.duration(to: clock.now)))
        }
    }

    private func takeStream() -> Bool {
        streams.withLock { count in
            guard count < Self.streamLimit else { return false }
            count += 1
            return true
        }
    }

    private func answer(to exchange: Exchange) async -> (RouteAnswer, Route?) {
        let request = exchange.request
        let target: RequestTarget
        do throws(APIError) {
            target = try RequestTarget(request.target)
        } catch {
            return (.error(error), nil)
        }
        if let refusal = guardian.refusal(of: request, authority: target.authority) {
            return (.error(refusal), nil)
        }
        switch router.match(request, target) {
        case .refused(let error, let allow):
            var response = HTTPResponse(error: error)
            response.allow = allow
            return (.response(response), nil)
        case .found(let route, let routed):
            return (await run(route, routed, exchange), route)
        }
    }

    /// Runs a handler until its deadline.
    ///
    /// The client is told of a timeout at once, though the handler is waited for.
    private func run(_ route: Route, _ request: RoutedRequest, _ exchange: Exchange) async -> RouteAnswer {
        let limit = Self.requestDeadline
        return await withTaskGroup(of: RouteAnswer.self) { group in
            group.addTask {
                do throws(APIError) {
                    return try await route.handler(request)
                } catch {
                    return .error(error)
                }
            }
            group.addTask {
                do {
                    try await self.clock.sleep(for: limit)
                    let error = APIError.timedOut("no answer within \(limit.components.seconds) s")
                    exchange.answer(HTTPResponse(error: error))
                    return .error(error)
                } catch {
                    return .error(.stopping)  // only cancellation ends the sleep early
                }
            }
            defer { group.cancelAll() }
            return await group.next() ?? .error(.stopping)
        }
    }

    private func note(
        _ request: HTTPRequest, _ route: Route?, status: Int, since start: ContinuousClock.Instant
    ) {
        let level: LogLevel = route?.permission == .write ? .info : .debug
        let method = SafeText.visible(request.method, limit: 20)
        let path = SafeText.visible(request.target, limit: 200)
        log.record(
            level, "api.request", "\(method) \(path): \(status)",
            [
                .text("method", method), .text("route", route?.pattern ?? ""), .count("status", status),
                .count("peer_pid", Int(request.peer?.pid ?? 0)), .took(start.duration(to: clock.now)),
            ])
    }
}
