import Glibc

/// A thread for a loop that waits in the system; the cooperative pool must never do that.
enum SystemThread {
    /// The loops here are shallow; the default of 8 MiB would be waste.
    private static let stackBytes = 512 * 1024

    /// Starts a detached thread that runs `body` once.
    ///
    /// - Throws: When no thread can be made; then `body` never runs.
    static func start(_ body: @escaping @Sendable () -> Void) throws(SystemFailure) {
        var attributes = pthread_attr_t()
        unsafe pthread_attr_init(&attributes)
        defer { unsafe pthread_attr_destroy(&attributes) }
        unsafe pthread_attr_setstacksize(&attributes, stackBytes)
        unsafe pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
        let work = unsafe Unmanaged.passRetained(Work(body: body))
        var thread = pthread_t()
        let code = unsafe pthread_create(&thread, &attributes, runWork, work.toOpaque())
        guard code != 0 else { return }
        unsafe work.release()
        throw .call("pthread_create", code: code)
    }

    fileprivate final class Work: Sendable {
        let body: @Sendable () -> Void

        init(body: @escaping @Sendable () -> Void) {
            self.body = body
        }
    }
}

private func runWork(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let argument = unsafe argument else { preconditionFailure("a thread is started with its work") }
    unsafe Unmanaged<SystemThread.Work>.fromOpaque(argument).takeRetainedValue().body()
    return nil
}
