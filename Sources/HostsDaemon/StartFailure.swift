package import HostsConfig
package import HostsServer

/// Why the daemon cannot run.
package enum StartFailure: Error {
    case paths(PathError)
    case server(HTTPServerError)
    case system(String)

    /// What is wrong and what to do, for people.
    package var message: String {
        switch self {
        case .paths(let error): error.description
        case .server(let error): "\(error.message)\nhint: \(error.help)"
        case .system(let text): text
        }
    }
}
