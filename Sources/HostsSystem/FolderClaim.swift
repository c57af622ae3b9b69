import Glibc

/// A folder that one process has for itself, for as long as this value lives.
///
/// The folder itself is locked (`flock`), not a file in it: that works on a full disk too, leaves nothing behind, and the
/// kernel ends it with the process, however that ends.
package final class FolderClaim: Sendable {
    /// Why there is no claim.
    package enum Failure: Error, Hashable, Sendable {
        /// Another process has it.
        case taken
        /// The folder cannot be opened, or its file system knows no locks.
        case unavailable(SystemFailure)
    }

    private let descriptor: Int32

    /// Claims a folder, without waiting.
    ///
    /// - Throws: `.taken` while another process has it, or why it cannot be claimed.
    package init(on folder: String) throws(Failure) {
        let descriptor = unsafe open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .unavailable(.call("open", code: errno)) }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            let code = errno
            close(descriptor)
            throw code == EWOULDBLOCK ? .taken : .unavailable(.call("flock", code: code))
        }
        // Last: an object that is whole is destroyed when its initializer throws, and would close a second time.
        self.descriptor = descriptor
    }

    deinit { close(descriptor) }
}
