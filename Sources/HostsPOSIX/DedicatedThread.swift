import Glibc

/// Threads for calls that block, which must never run on the cooperative pool.
package enum DedicatedThread {
    /// Stack of such a thread, in bytes; the work here is shallow, the default of 8 MiB would be waste.
    package static let shallowStack = 512 * 1024

    /// Starts a detached thread that runs `body` once.
    ///
    /// All signals are blocked on it: they are for the main thread, and writing to a pipe that nobody reads answers
    /// EPIPE.
    ///
    /// - Parameters:
    ///   - stackBytes: How much stack it has.
    ///   - body: Runs on the new thread; owns whatever it captures until it returns.
    /// - Throws: When no thread can be made; then `body` never runs.
    package static func start(
        stackBytes: Int = shallowStack, _ body: sending @escaping () -> Void
    ) throws(SystemError) {
        var attributes = pthread_attr_t()
        unsafe pthread_attr_init(&attributes)
        defer { unsafe pthread_attr_destroy(&attributes) }
        unsafe pthread_attr_setstacksize(&attributes, stackBytes)
        unsafe pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
        let work = unsafe Unmanaged.passRetained(Work(body))
        var thread = pthread_t()
        let code = unsafe pthread_create(&thread, &attributes, runWork, work.toOpaque())
        guard code != 0 else { return }
        unsafe work.release()
        throw SystemError(code: code)
    }

    fileprivate final class Work {
        let body: () -> Void

        init(_ body: @escaping () -> Void) {
            self.body = body
        }
    }
}

private func runWork(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let argument = unsafe argument else { preconditionFailure("a thread is started with its work") }
    var all = sigset_t()
    unsafe sigfillset(&all)
    unsafe pthread_sigmask(SIG_BLOCK, &all, nil)
    unsafe Unmanaged<DedicatedThread.Work>.fromOpaque(argument).takeRetainedValue().body()
    return nil
}
