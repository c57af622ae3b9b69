package import HostsConfig
import HostsModel
package import HostsServer

/// Why the daemon cannot run.
package enum StartFailure: Error {
    case paths(PathError)
    case server(HTTPServerError)
    case system(String)
    /// Another daemon keeps its events there.
    case stateTaken(folder: String)

    /// What is wrong and what to do, for people.
    package var message: String {
        switch self {
        case .paths(let error): error.description
        case .server(let error): "\(error.message)\nhint: \(error.help)"
        case .system(let text): text
        case .stateTaken(let folder):
            "another hostsd keeps its events in \(SafeText.visible(folder))\n"
                + "hint: stop it (systemctl --user stop hostsd), or start this one with --state-dir DIR"
        }
    }
}
