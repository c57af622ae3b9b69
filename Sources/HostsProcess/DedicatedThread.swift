import Glibc

/// Threads for calls that block, which must never run on the cooperative pool.
package enum DedicatedThread {
    /// Stack of such a thread, in bytes; the work here is shallow, the default of 8 MiB would be waste.
    package static let shallowStack = 512 * 1024

    /// Starts a detached thread that runs `body` once.
    ///
    /// SIGPIPE is blocked on it: writing to a pipe that nobody reads answers EPIPE there.
    ///
    /// - Parameters:
    ///   - stackBytes: How much stack it has.
    ///   - body: Runs on the new thread; owns whatever it captures until it returns.
    /// - Returns: 0, or the errno value of a thread that could not be made; then `body` never runs.
    package static func start(
        stackBytes: Int = shallowStack, _ body: @escaping @Sendable () -> Void
    ) -> Int32 {
        let work = Unmanaged.passRetained(ThreadWork(body: body)).toOpaque()
        let code = createDetached(work, stackBytes)
        if code != 0 { Unmanaged<ThreadWork>.fromOpaque(work).release() }
        return code
    }

    private static func createDetached(_ work: UnsafeMutableRawPointer, _ stackBytes: Int) -> Int32 {
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        defer { pthread_attr_destroy(&attributes) }
        pthread_attr_setstacksize(&attributes, stackBytes)
        pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
        var thread = pthread_t()
        return pthread_create(&thread, &attributes, runThreadWork, work)
    }
}

private final class ThreadWork: Sendable {
    let body: @Sendable () -> Void

    init(body: @escaping @Sendable () -> Void) {
        self.body = body
    }
}

private func runThreadWork(_ raw: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let raw else { preconditionFailure("a thread is started with its work") }
    var pipe = sigset_t()
    sigemptyset(&pipe)
    sigaddset(&pipe, SIGPIPE)
    pthread_sigmask(SIG_BLOCK, &pipe, nil)
    Unmanaged<ThreadWork>.fromOpaque(raw).takeRetainedValue().body()
    return nil
}
