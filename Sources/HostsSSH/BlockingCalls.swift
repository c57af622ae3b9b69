import HostsModel

/// Waits on the event loop for calls that block on a worker, for callers that may be anywhere.
actor BlockingCalls {
    private nonisolated let loop: EventLoop
    private let pool: WorkerPool

    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe loop.asUnownedSerialExecutor() }

    init(loop: EventLoop, pool: WorkerPool) {
        self.loop = loop
        self.pool = pool
    }

    /// Runs `body` on a worker.
    ///
    /// - Parameters:
    ///   - timeout: When it is given up; it runs on, and its result is dropped.
    ///   - body: May block.
    /// - Returns: Its result.
    /// - Throws: `.timedOut` with the stage `resolve`, or `.cancelled`.
    func result<Value: Sendable>(
        within timeout: Duration, _ body: @escaping @Sendable () -> Value
    ) async throws(LinkError) -> Value {
        switch await pool.result(on: loop, until: .now + timeout, body) {
        case .success(let value): return value
        case .failure(.cancelled): throw .cancelled
        case .failure(.deadline), .failure(.exhausted): throw .timedOut(.resolve, after: timeout)
        }
    }
}
