import Glibc

/// An exclusive `flock` on a file that exists for nothing else.
final class FileLock {
    /// How often a held lock is tried again: `flock` itself waits without a limit or not at all.
    private static let retryMicroseconds: UInt32 = 10_000

    private let descriptor: Int32

    /// Takes the lock; blocks the thread.
    ///
    /// - Throws: `.locked` when `timeout` passes, or why the file cannot be made.
    init(path: String, timeout: Duration) throws(OverrideError) {
        descriptor = unsafe open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw .system(errno, path: path, step: "making the lock") }
        let deadline = ContinuousClock.now.advanced(by: timeout)
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            let code = errno
            guard code == EWOULDBLOCK || code == EINTR else {
                close(descriptor)
                throw .system(code, path: path, step: "locking")
            }
            guard ContinuousClock.now < deadline else {
                close(descriptor)
                throw .locked(path: path)
            }
            usleep(Self.retryMicroseconds)
        }
    }

    /// Gives the lock back.
    ///
    /// The file stays: removing it would let two writers lock two files of one name.
    func release() {
        close(descriptor)
    }
}
