import CLinux
import Glibc
import HostsModel
import HostsPOSIX

/// A `/bin/sh` of our own: a child with a socket for its standard input and output.
///
/// It is in a process group of its own, in the folder `/`. The event loop reaps it, whoever let go of it.
struct LocalShell: ~Copyable, Sendable {
    let socket: SocketDescriptor
    private let child: Child

    /// Starts the shell; called on the loop's thread.
    ///
    /// Starting a process takes less than a key exchange does.
    init(environment: [String: String], loop: EventLoop) throws(SystemError) {
        var ends: [Int32] = [-1, -1]
        guard unsafe hosts_socket_pair(&ends) == 0 else { throw SystemError(code: errno) }
        let ours = SocketDescriptor(owning: ends[0])
        let theirs = SocketDescriptor(owning: ends[1])
        let sink = unsafe open("/dev/null", O_WRONLY | O_CLOEXEC)
        guard sink >= 0 else { throw SystemError(code: errno) }
        defer { close(sink) }
        let pid = try Self.spawn(environment, standard: theirs.raw, error: sink)
        child = try Child(pid: pid, loop: loop)
        socket = ours
    }

    /// Kills the shell and everything in its process group.
    borrowing func kill() { child.kill() }

    private static func spawn(
        _ environment: [String: String], standard: Int32, error: Int32
    ) throws(SystemError) -> pid_t {
        let variables = environment.filter { !$0.key.utf8.contains(0) && !$0.value.utf8.contains(0) }
            .map { "\($0.key)=\($0.value)" }
        var pid: pid_t = -1
        var arguments = unsafe [strdup("/bin/sh"), nil]
        var strings = unsafe variables.map { unsafe strdup($0) } + [nil]
        defer { unsafe (arguments + strings).forEach { unsafe free($0) } }
        let code = unsafe hosts_spawn_child("/bin/sh", &arguments, &strings, standard, standard, error, &pid)
        guard code == 0 else { throw SystemError(code: code) }
        return pid
    }
}

/// A child process that is reaped on the event loop; touched there only.
private final class Child: @unchecked Sendable {
    // Guarded by the event loop's thread.
    private var isReaped = false
    private let pid: pid_t

    init(pid: pid_t, loop: EventLoop) throws(SystemError) {
        self.pid = pid
        let watch = hosts_spawn_watch(pid)
        guard watch >= 0 else {
            let code = errno
            killAndReap()
            throw SystemError(code: code)
        }
        let registration = Locked<EventLoop.Registration?>(nil)
        // The handler keeps this object until the child has ended.
        let made = loop.register(watch, for: [.read]) { _ in
            guard self.reap(mayBlock: 0) else { return }
            if let registration = registration.withLock({ $0 }) { loop.deregister(registration) }
            close(watch)
        }
        registration.withLock { $0 = made }
        guard made == nil else { return }
        close(watch)
        killAndReap()
        throw SystemError(code: ENOSPC)
    }

    func kill() {
        // Not reaped yet, so the number of the group is still its own.
        guard !isReaped else { return }
        Glibc.kill(-pid, SIGKILL)
    }

    /// For a child that cannot be watched; it has only just begun, so its end is near.
    private func killAndReap() {
        kill()
        _ = reap(mayBlock: 1)
    }

    /// Takes the exit status, which nobody wants: the end of the socket has told already.
    private func reap(mayBlock: Int32) -> Bool {
        var status: Int32 = 0
        var signal: Int32 = 0
        isReaped = unsafe hosts_spawn_reap(pid, mayBlock, &status, &signal) != EAGAIN
        return isReaped
    }
}
