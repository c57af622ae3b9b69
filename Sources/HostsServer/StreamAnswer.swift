import HostsAPI
import HostsModel

/// A stream that a handler answers: the past, and then what happens, until one side ends it.
package struct StreamAnswer: Sendable {
    /// The time between two signs of life; also how a client that has gone is noticed.
    static let heartbeatInterval = Duration.seconds(15)

    package let format: StreamFormat
    package let isIncomplete: Bool
    private let write: @Sendable (StreamBody) async -> Void

    /// Makes a stream of documents.
    ///
    /// - Parameters:
    ///   - watch: What is streamed.
    ///   - format: What the client reads.
    ///   - id: Where a client goes on after a document.
    package init<Document: Encodable & Sendable>(
        _ watch: Watch<Document>, format: StreamFormat, id: @escaping @Sendable (Document) -> String
    ) {
        self.format = format
        isIncomplete = watch.isIncomplete
        write = { body in
            if watch.isIncomplete { _ = body.append(format.resync) }
            for document in watch.past {
                guard await body.appendWhenRoom(format.element(document, id: id(document))) else { return }
            }
            for await document in watch.live {
                switch body.append(format.element(document, id: id(document))) {
                case .queued: break
                case .full: return body.end(.dropped)
                case .closed: return
                }
            }
            // The source has ended: it fell behind, unless the daemon stops, and then that was said already.
            body.end(Task.isCancelled ? .stopping : .dropped)
        }
    }

    /// Writes the stream until it ends, its reader goes, or the task is cancelled.
    func produce(into body: StreamBody, clock: any MonotonicClock) async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await write(body) }
            group.addTask { await body.untilClosed() }
            group.addTask {
                do {
                    while true {
                        try await clock.sleep(for: Self.heartbeatInterval)
                        body.appendIfIdle(format.heartbeat)
                    }
                } catch {
                    return  // ignored: only cancellation ends the sleep, and the stream has ended then
                }
            }
            await group.next()
            group.cancelAll()
        }
        body.end(.stopping)
    }
}
