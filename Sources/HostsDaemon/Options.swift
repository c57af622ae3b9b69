package import HostsLog

/// The daemon's command line.
package struct Options: Hashable, Sendable {
    /// How the log is written to standard error.
    package enum LogFormat: String, Sendable, CaseIterable {
        case text, json
    }

    /// Why a command line cannot be used; the text is for people.
    package struct UsageError: Error, Hashable, Sendable {
        package let message: String
    }

    /// What the command line asks for.
    package enum Request: Hashable, Sendable {
        case run(Options)
        case help
        case version
    }

    /// Absolute, as every place here; nil for the usual one.
    package var configDirectory: String?
    package var stateDirectory: String?
    package var socket: String?
    package var rulesDirectory: String?
    package var logFormat = LogFormat.text
    /// The least level written to standard error; nil for the one in `hostsd.toml`.
    package var logLevel: LogLevel?

    /// Reads the arguments behind the program's name.
    ///
    /// - Throws: What is wrong with the first argument that cannot be used.
    package static func parse(_ arguments: [String]) throws(UsageError) -> Request {
        var options = Options()
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(
                String.init)
            let name = parts[0]
            if let request = requests[name] {
                guard parts.count == 1 else { throw UsageError(message: "\(name) takes no value") }
                return request
            }
            guard let set = setters[name] else {
                throw UsageError(message: "unknown option \(argument); see hostsd --help")
            }
            guard let value = parts.count == 2 ? parts[1] : rest.popFirst(), !value.isEmpty else {
                throw UsageError(message: "\(name) needs a value")
            }
            try set(&options, value)
        }
        return .run(options)
    }

    /// What asks for something else than to run.
    private static let requests: [String: Request] = ["--help": .help, "-h": .help, "--version": .version]

    private typealias Setter = @Sendable (inout Options, String) throws(UsageError) -> Void

    private static let setters: [String: Setter] = [
        "--config-dir": { options, value throws(UsageError) in options.configDirectory = try absolute(value)
        },
        "--state-dir": { options, value throws(UsageError) in options.stateDirectory = try absolute(value) },
        "--socket": { options, value throws(UsageError) in options.socket = try absolute(value) },
        "--rules-dir": { options, value throws(UsageError) in options.rulesDirectory = try absolute(value) },
        "--log-format": { options, value throws(UsageError) in options.logFormat = try choice(value) },
        "--log-level": { options, value throws(UsageError) in options.logLevel = try choice(value) },
    ]

    private static func absolute(_ path: String) throws(UsageError) -> String {
        guard path.hasPrefix("/") else { throw UsageError(message: "\(path) must be an absolute path") }
        return path
    }

    private static func choice<Choice: RawRepresentable & CaseIterable>(
        _ text: String
    ) throws(UsageError) -> Choice where Choice.RawValue == String {
        if let choice = Choice(rawValue: text) { return choice }
        let known = Choice.allCases.map(\.rawValue).joined(separator: ", ")
        throw UsageError(message: "\(text) is none of: \(known)")
    }

    /// The text of `hostsd --help`.
    package static let help = """
        hostsd watches the coding agents on your hosts over SSH and tells you when one needs you.

        usage: hostsd [OPTION...]

          --config-dir DIR     records and settings      (default: ~/.config/hostsd)
          --state-dir DIR      events and deliveries     (default: ~/.local/state/hostsd)
          --socket PATH        control socket            (default: $XDG_RUNTIME_DIR/hostsd/api.sock)
          --rules-dir DIR      rules of the agents       (default: installed with the program)
          --log-format FORMAT  text or json, on standard error
          --log-level LEVEL    trace, debug, info, notice, warning, error or critical
          --help, --version

        It runs in the foreground until SIGTERM; SIGHUP reads the configuration again.
        Talk to it with hostsctl. As a service: systemctl --user enable --now hostsd

        """
}
