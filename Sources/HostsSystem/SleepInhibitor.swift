import Glibc
import HostsModel

/// A delay lock on sleep: while it is held, logind holds a sleep up, for `LoginManager.delayLimit` at most.
///
/// The lock is a descriptor; logind takes it for released when the last copy is closed. This is the only one: it is
/// close-on-exec, and closed at the latest when nobody holds this object any more.
package final class SleepInhibitor: Sendable {
    private let descriptor: Locked<Int32?>

    /// Takes ownership of the descriptor.
    init(descriptor: Int32) {
        self.descriptor = Locked(descriptor)
    }

    deinit { release() }

    /// Whether the lock has not been given back; logind may have gone meanwhile, and the lock with it.
    package var isHeld: Bool { descriptor.withLock { $0 != nil } }

    /// Gives the lock back; once is enough, more is harmless.
    package func release() {
        let owned = descriptor.withLock { descriptor in
            let owned = descriptor
            descriptor = nil
            return owned
        }
        if let owned { close(owned) }
    }
}
