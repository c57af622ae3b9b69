import Glibc
import HostsModel
import HostsPOSIX

/// A network of one test: a namespace without a name, gone with its only process.
///
/// Only root can make one; see `isAvailable`.
package final class NetworkNamespace: Sendable {
    private let holder: BackgroundProcess

    /// Whether this process may make one; entering the one that it is in needs the same right.
    package static let isAvailable: Bool = {
        do {
            try enter("/proc/self/ns/net")
            return true
        } catch {
            return false
        }
    }()

    /// Makes one; there is only loopback, which is down.
    package init() async throws {
        holder = try BackgroundProcess(
            "unshare", ["--net", "sh", "-c", "echo made; exec sleep 600"], environment: Tool.environment)
        try await holder.log.until("made")
    }

    deinit { holder.stop() }

    /// Runs `ip` in it.
    ///
    /// - Parameter commands: One each, without `ip`.
    /// - Throws: When one fails.
    package func ip(_ commands: String...) async throws {
        for command in commands {
            let words = command.split(separator: " ").map(String.init)
            let whole = self.command(["ip"] + words)
            try await Tool.run(whole[0], Array(whole.dropFirst()))
        }
    }

    /// Runs something on a thread of its own that is in the namespace, as are the threads that it starts.
    package func run<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        let path = "/proc/\(holder.pid)/ns/net"
        let result = try await withCheckedThrowingContinuation {
            (done: CheckedContinuation<Result<Value, any Error>, any Error>) in
            do {
                try DedicatedThread.start {
                    done.resume(
                        returning: Result {
                            try Self.enter(path)
                            return try body()
                        })
                }
            } catch {
                done.resume(throwing: error)
            }
        }
        return try result.get()
    }

    /// A command that runs in it, as the same process.
    package func command(_ words: [String]) -> [String] {
        ["nsenter", "--target", String(holder.pid), "--net"] + words
    }

    private typealias SetNamespace = @convention(c) (Int32, Int32) -> Int32

    /// setns(2), which is an extension that Swift does not import.
    private static let setns: SetNamespace? = dlsym(nil, "setns").map {
        unsafeBitCast($0, to: SetNamespace.self)
    }

    private static func enter(_ path: String) throws {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw FixtureError("\(path): \(SystemError.text(errno))") }
        defer { close(descriptor) }
        guard let setns, setns(descriptor, 0) == 0 else {
            throw FixtureError("setns: \(SystemError.text(errno))")
        }
    }
}
