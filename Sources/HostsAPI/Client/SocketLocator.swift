/// Finds the daemon's socket: the option, the environment, the user's daemon, the system's.
package struct SocketLocator: Hashable, Sendable {
    /// Longest path of a Unix socket, in bytes: `sun_path` holds 108 with the final zero (unix(7)).
    package static let pathLimit = 107

    /// Where the system-wide daemon listens.
    package static let systemSocket = "/run/hostsd/api.sock"

    /// The paths that are tried, in order; one that was named is the only one.
    package let candidates: [String]

    /// Collects the candidates.
    ///
    /// - Parameters:
    ///   - option: What the person named on the command line.
    ///   - environment: The process's variables: `HOSTSD_SOCKET`, `XDG_RUNTIME_DIR`.
    package init(option: String?, environment: [String: String]) {
        if let option {
            candidates = [option]
        } else if let named = environment["HOSTSD_SOCKET"], !named.isEmpty {
            candidates = [named]
        } else if let folder = environment["XDG_RUNTIME_DIR"], folder.hasPrefix("/") {
            candidates = [folder + "/hostsd/api.sock", Self.systemSocket]
        } else {
            candidates = [Self.systemSocket]
        }
    }

    /// The first candidate that exists.
    ///
    /// - Throws: `.notRunning` with all that were tried, or `.socketPathTooLong`.
    package func locate(exists: (String) -> Bool) throws(ClientError) -> String {
        if let long = candidates.first(where: { $0.utf8.count > Self.pathLimit }) {
            throw .socketPathTooLong(path: long, limit: Self.pathLimit)
        }
        guard let found = candidates.first(where: exists) else { throw .notRunning(tried: candidates) }
        return found
    }
}
