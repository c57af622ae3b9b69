import CLinux
import Glibc
import HostsModel

/// The listening Unix socket of the daemon, and the claim on its path.
///
/// A lock beside the socket (`PATH.lock`, kept for as long as the daemon runs) decides between two daemons that start
/// at once; a socket that answers is never removed, whoever has the lock.
final class ControlSocket: Sendable {
    /// Longest path: `sun_path` has 108 bytes and ends with a zero (unix(7)).
    static let pathLimit = 107

    /// How many clients may wait to be accepted.
    private static let backlog: Int32 = 128

    private struct File: Hashable, Sendable {
        let device: UInt
        let inode: UInt
    }

    private enum Answerer {
        case nobody
        case somebody(pid: Int32?)

        var pid: Int32? {
            guard case .somebody(let pid) = self else { return nil }
            return pid
        }
    }

    let path: String
    let listener: Int32
    private let lock: Int32
    private let file: File
    private let isOpen = Locked(true)

    /// Claims a path and listens on it.
    ///
    /// - Throws: What stands against it; nothing was changed then but what was stale.
    init(path: String) throws(HTTPServerError) {
        guard path.utf8.count <= Self.pathLimit, !path.utf8.contains(0) else {
            throw .pathTooLong(path: path, length: path.utf8.count, limit: Self.pathLimit)
        }
        self.path = path
        try Self.prepareDirectory(of: path)
        let lock = try Self.takeLock(path)
        do throws(HTTPServerError) {
            try Self.removeIfStale(path)
            (listener, file) = try Self.listen(path)
        } catch {
            Glibc.close(lock)
            throw error
        }
        self.lock = lock
    }

    deinit { close() }

    /// Takes the path back, so that new clients see at once that nobody is there; leaves what is not ours.
    func removePath() {
        guard Self.file(at: path)?.file == file else { return }
        _ = unlink(path)  // ignored: a socket that stays is found stale by the next daemon
    }

    /// Ends the claim.
    ///
    /// A second call has no effect.
    func close() {
        let wasOpen = isOpen.withLock { isOpen in
            defer { isOpen = false }
            return isOpen
        }
        guard wasOpen else { return }
        removePath()
        Glibc.close(listener)
        Glibc.close(lock)
    }

    private static func prepareDirectory(of path: String) throws(HTTPServerError) {
        let directory =
            path.lastIndex(of: "/").map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
        if mkdir(directory, 0o700) != 0, errno != EEXIST {
            throw .systemCall("mkdir", path: directory, code: errno)
        }
        var status = stat()
        guard stat(directory, &status) == 0 else { throw .systemCall("stat", path: directory, code: errno) }
        // The mode of the socket says who may connect; the directory's says who may put another in its place.
        guard status.st_uid == geteuid() || status.st_uid == 0, status.st_mode & 0o022 == 0 else {
            throw .unsafeDirectory(path: directory, owner: status.st_uid, mode: status.st_mode & 0o7777)
        }
    }

    private static func takeLock(_ path: String) throws(HTTPServerError) -> Int32 {
        let lockPath = path + ".lock"
        let lock = open(lockPath, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard lock >= 0 else { throw .systemCall("open", path: lockPath, code: errno) }
        guard flock(lock, LOCK_EX | LOCK_NB) == 0 else {
            let code = errno
            Glibc.close(lock)
            guard code == EWOULDBLOCK else { throw .systemCall("flock", path: lockPath, code: code) }
            throw .alreadyRunning(path: path, pid: try answerer(at: path).pid)
        }
        return lock
    }

    private static func removeIfStale(_ path: String) throws(HTTPServerError) {
        guard let found = file(at: path) else { return }
        guard found.isSocket else { throw .notASocket(path: path) }
        let answerer = try answerer(at: path)
        guard case .nobody = answerer else { throw .alreadyRunning(path: path, pid: answerer.pid) }
        guard unlink(path) == 0 || errno == ENOENT else {
            throw .systemCall("unlink", path: path, code: errno)
        }
    }

    /// Connects to a socket to find out who listens there.
    private static func answerer(at path: String) throws(HTTPServerError) -> Answerer {
        let client = try socket(path)
        defer { Glibc.close(client) }
        if withAddress(path, { connect(client, $0, $1) }) != 0 {
            switch errno {
            case ECONNREFUSED, ENOENT: return .nobody
            case EAGAIN: return .somebody(pid: nil)  // the queue of those who wait is full (unix(7))
            default: throw .systemCall("connect", path: path, code: errno)
            }
        }
        return .somebody(pid: Peer(of: client)?.pid)
    }

    private static func listen(_ path: String) throws(HTTPServerError) -> (Int32, File) {
        let listener = try socket(path)
        do throws(HTTPServerError) {
            // Linux gives the new file the mode of the socket's own inode, so it is never open to others, not
            // even between bind and chmod (net/unix/af_unix.c, unix_bind_bsd).
            guard fchmod(listener, 0o600) == 0 else { throw .systemCall("fchmod", path: path, code: errno) }
            guard withAddress(path, { bind(listener, $0, $1) }) == 0 else {
                throw .systemCall("bind", path: path, code: errno)
            }
            guard Glibc.listen(listener, backlog) == 0, let file = file(at: path)?.file else {
                let code = errno
                unlink(path)
                throw .systemCall("listen", path: path, code: code)
            }
            return (listener, file)
        } catch {
            Glibc.close(listener)
            throw error
        }
    }

    private static func socket(_ path: String) throws(HTTPServerError) -> Int32 {
        let descriptor = hosts_socket_create(AF_UNIX)
        guard descriptor >= 0 else { throw .systemCall("socket", path: path, code: errno) }
        return descriptor
    }

    private static func file(at path: String) -> (file: File, isSocket: Bool)? {
        var status = stat()
        guard lstat(path, &status) == 0 else { return nil }
        let isSocket = status.st_mode & S_IFMT == S_IFSOCK
        return (File(device: UInt(status.st_dev), inode: UInt(status.st_ino)), isSocket)
    }

    /// Calls a function with the address of a path that is known to fit.
    private static func withAddress(
        _ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
    ) -> Int32 {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }
}
