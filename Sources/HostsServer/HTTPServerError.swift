import HostsPOSIX

/// Why the server cannot serve.
package enum HTTPServerError: Error, Hashable, Sendable {
    /// The path does not fit into a Unix socket address (`sockaddr_un`, sun_path).
    case pathTooLong(path: String, length: Int, limit: Int)
    /// A daemon answers on the socket, or holds its lock; the process if the kernel names it.
    case alreadyRunning(path: String, pid: Int32?)
    /// Something that is no socket stands where the socket must be.
    case notASocket(path: String)
    /// The directory belongs to another user, or others may write to it.
    case unsafeDirectory(path: String, owner: UInt32, mode: UInt32)
    /// A system call failed.
    case systemCall(String, path: String, code: Int32)
    /// libmicrohttpd could not be started or has stopped by itself.
    case transport(String)
}

extension HTTPServerError {
    /// A stable word for the log and tests.
    package var code: String {
        switch self {
        case .pathTooLong: "api.socket.path-too-long"
        case .alreadyRunning: "api.already-running"
        case .notASocket: "api.socket.not-a-socket"
        case .unsafeDirectory: "api.socket.unsafe-directory"
        case .systemCall: "api.socket.failed"
        case .transport: "api.transport"
        }
    }

    /// What is wrong, in one line.
    package var message: String {
        switch self {
        case .pathTooLong(let path, let length, let limit):
            "the socket path has \(length) bytes, and a Unix socket takes \(limit): \(path)"
        case .alreadyRunning(let path, let pid):
            "hostsd is already running on \(path)" + (pid.map { " (process \($0))" } ?? "")
        case .notASocket(let path): "\(path) is in the way: it is no socket"
        case .unsafeDirectory(let path, let owner, let mode):
            "\(path) (owner \(owner), mode \(String(mode, radix: 8))) would let others replace the socket"
        case .systemCall(let name, let path, let code): "\(name) \(path): \(SystemError.text(code))"
        case .transport(let detail): "the HTTP server does not run: \(detail)"
        }
    }

    /// What the person can do.
    package var help: String {
        switch self {
        case .pathTooLong: "name a shorter one: hostsd --socket PATH, or a shorter XDG_RUNTIME_DIR"
        case .alreadyRunning:
            "use it (hostsctl status), stop it (systemctl --user stop hostsd), or start this one with --socket PATH"
        case .notASocket: "move the file away, or start hostsd with --socket PATH"
        case .unsafeDirectory(let path, _, _):
            "chmod go-w \(path), or name a directory of your own with --socket PATH"
        case .systemCall: "look at the directory and its permissions, or start hostsd with --socket PATH"
        case .transport: "look at the limits of the process (ulimit -n), then start hostsd again"
        }
    }
}
