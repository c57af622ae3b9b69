/// Where the files of a running hostsd are; taken from options, the unit's variables, or the XDG folders.
package struct Paths: Hashable, Sendable {
    /// Longest path of a Unix socket in bytes: `sun_path` has 108, the last one is NUL.
    package static let socketPathLimit = 107

    /// `hostsd.toml`, `hosts.d`, `agents.d`, `hooks.d`.
    package let configuration: String
    /// The database and what else must survive; never in the folder that people sync.
    package let state: String
    /// The control socket.
    package let socket: String

    package init(configuration: String, state: String, socket: String) {
        self.configuration = configuration
        self.state = state
        self.socket = socket
    }

    /// `hostsd.toml`.
    package var settingsFile: String { configuration + "/hostsd.toml" }
    /// The folder of records and overrides.
    package var hosts: String { configuration + "/hosts.d" }
    /// The folder of the person's rules.
    package var agents: String { configuration + "/agents.d" }
    /// The folder of notifier hooks.
    package var hooks: String { configuration + "/hooks.d" }
    /// The folder of the control socket and of locks.
    package var runtime: String { Paths.folder(of: socket) }

    /// Everything whose change matters (`FolderWatch`).
    package var watchedFolders: [String] { [configuration, hosts, hooks, agents] }

    static func folder(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }
}

/// What the command line says about folders.
package struct PathOptions: Hashable, Sendable {
    /// `--config-dir`.
    package var configuration: String?
    /// `--state-dir`.
    package var state: String?
    /// `--socket`.
    package var socket: String?

    package init(configuration: String? = nil, state: String? = nil, socket: String? = nil) {
        self.configuration = configuration
        self.state = state
        self.socket = socket
    }
}

/// Why there is no place for a folder or the socket.
package enum PathError: Error, Hashable, Sendable {
    /// An option or variable that must be an absolute path is none.
    case notAbsolute(source: String, path: String)
    /// Neither an option nor a variable says where something belongs.
    case noHome(option: String)
    case noRuntimeFolder
    case socketPathTooLong(path: String, bytes: Int)
    case cannotCreate(path: String, option: String, reason: String)
    case notAFolder(path: String, option: String)
    /// The folder is somebody else's, or others can write to it.
    case unsafe(path: String, reason: String)
}

extension PathError: CustomStringConvertible {
    /// One sentence with the next step.
    package var description: String {
        switch self {
        case .notAbsolute(let source, let path): "\(source) must be an absolute path, and \"\(path)\" is not"
        case .noHome(let option): "HOME is not set: set it, or use \(option) DIRECTORY"
        case .noRuntimeFolder:
            "there is no runtime folder: XDG_RUNTIME_DIR is not set; log in through a session (over ssh or at "
                + "the machine), run \"loginctl enable-linger\", or use --socket PATH"
        case .socketPathTooLong(let path, let bytes):
            "the socket path has \(bytes) bytes, and at most \(Paths.socketPathLimit) are possible: use "
                + "--socket with a shorter path than \(path)"
        case .cannotCreate(let path, let option, let reason):
            "the folder \(path) cannot be created: \(reason); use \(option) to name another place"
        case .notAFolder(let path, let option):
            "\(path) is not a folder; use \(option) to name another place"
        case .unsafe(let path, let reason): "\(path) is not safe to use: \(reason)"
        }
    }
}

extension Paths {
    /// Who asks: a client must not take the variables of the unit that it happens to run in.
    package enum Role: Sendable {
        case daemon, client
    }

    /// Finds the places: option, then the unit's variable, then the XDG folder.
    ///
    /// A relative XDG variable is ignored, as the XDG specification says.
    ///
    /// - Parameters:
    ///   - options: What the command line says; wins.
    ///   - environment: The variables of the process.
    ///   - role: Only a daemon heeds `CONFIGURATION_DIRECTORY`, `STATE_DIRECTORY` and `RUNTIME_DIRECTORY`.
    /// - Returns: Absolute paths, none of which need exist.
    /// - Throws: What is missing or impossible.
    package static func resolve(
        _ options: PathOptions, environment: [String: String], role: Role
    ) throws(PathError) -> Paths {
        let finder = PathFinder(environment: environment, role: role)
        let configuration = try finder.folder(
            option: ("--config-dir", options.configuration), unit: "CONFIGURATION_DIRECTORY",
            xdg: "XDG_CONFIG_HOME", home: ".config")
        let state = try finder.folder(
            option: ("--state-dir", options.state), unit: "STATE_DIRECTORY", xdg: "XDG_STATE_HOME",
            home: ".local/state")
        let socket = try finder.socket(option: options.socket)
        let bytes = socket.utf8.count
        guard bytes <= socketPathLimit else { throw .socketPathTooLong(path: socket, bytes: bytes) }
        return Paths(configuration: configuration, state: state, socket: socket)
    }
}

/// The order in which places are looked for.
private struct PathFinder {
    let environment: [String: String]
    let role: Paths.Role

    func folder(
        option: (name: String, value: String?), unit: String, xdg: String, home: String
    ) throws(PathError) -> String {
        if let value = option.value { return try absolute(value, source: option.name) }
        if let value = unitVariable(unit) { return try absolute(value, source: unit) }
        if let value = xdgVariable(xdg) { return value + "/hostsd" }
        guard let value = environment["HOME"], !value.isEmpty else { throw .noHome(option: option.name) }
        return try absolute(value, source: "HOME") + "/\(home)/hostsd"
    }

    func socket(option: String?) throws(PathError) -> String {
        if let option { return try absolute(option, source: "--socket") }
        if let value = unitVariable("RUNTIME_DIRECTORY") {
            return try absolute(value, source: "RUNTIME_DIRECTORY") + "/api.sock"
        }
        guard let value = xdgVariable("XDG_RUNTIME_DIR") else { throw .noRuntimeFolder }
        return value + "/hostsd/api.sock"
    }

    /// systemd puts several folders into one variable with colons between them; the first is ours.
    private func unitVariable(_ name: String) -> String? {
        guard role == .daemon, let value = environment[name] else { return nil }
        return value.split(separator: ":").first.map(String.init)
    }

    private func xdgVariable(_ name: String) -> String? {
        guard let value = environment[name], value.hasPrefix("/") else { return nil }
        return trimmed(value)
    }

    private func absolute(_ path: String, source: String) throws(PathError) -> String {
        guard path.hasPrefix("/") else { throw .notAbsolute(source: source, path: path) }
        return trimmed(path)
    }

    private func trimmed(_ path: String) -> String {
        var path = path
        while path.count > 1, path.hasSuffix("/") { path.removeLast() }
        return path
    }
}
