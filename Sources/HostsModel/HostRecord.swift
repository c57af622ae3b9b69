/// What the person wrote about a host: `hosts.d/NAME.toml`, with `NAME.override.toml` laid over it.
package struct HostRecord: Hashable, Sendable {
    /// The file name of the record without `.toml`.
    package var id: HostID
    /// What the person would type after `ssh`; resolved by `ssh -G`.
    ///
    /// Not used by `transport = "local"`.
    package var destination: String
    /// The name shown to people.
    package var label: String
    /// A disabled host is never dialled by the daemon on its own (seed 002).
    package var isEnabled: Bool
    /// Opts the host into the delay inhibitor before sleep (seed 002); off unless the person says so.
    package var backgroundKeepAlive: Bool
    package var sessionRestore: SessionRestore
    package var transport: Transport
    package var tags: [String]

    package init(
        id: HostID, destination: String, label: String? = nil, isEnabled: Bool = true,
        backgroundKeepAlive: Bool = false, sessionRestore: SessionRestore = .none,
        transport: Transport = .auto, tags: [String] = []
    ) {
        self.id = id
        self.destination = destination
        self.label = label ?? id.rawValue
        self.isEnabled = isEnabled
        self.backgroundKeepAlive = backgroundKeepAlive
        self.sessionRestore = sessionRestore
        self.transport = transport
        self.tags = tags
    }

    /// What `hostsctl attach` restores after a reconnect.
    package enum SessionRestore: String, Hashable, Sendable, CaseIterable {
        case none, tmux
    }

    /// How the host is reached.
    package enum Transport: String, Hashable, Sendable, CaseIterable {
        case auto, libssh2, openssh, local
    }

    /// The fields whose change restarts the host's feed (seed 002: a disable from another device arrives
    /// as such a change, and that restart is where its link is torn down).
    package struct ConnectionModelConfiguration: Hashable, Sendable {
        package let destination: String
        package let transport: Transport
        package let isEnabled: Bool
        package let backgroundKeepAlive: Bool
        package let sessionRestore: SessionRestore
    }

    package var connectionModelConfiguration: ConnectionModelConfiguration {
        ConnectionModelConfiguration(
            destination: destination, transport: transport, isEnabled: isEnabled,
            backgroundKeepAlive: backgroundKeepAlive, sessionRestore: sessionRestore)
    }
}

/// A place in a text file, for messages: 1-based, columns count characters; line 0 is the file as a whole.
package struct SourceLocation: Hashable, Sendable {
    package let file: String
    package let line: Int
    package let column: Int

    package init(file: String, line: Int, column: Int) {
        self.file = file
        self.line = line
        self.column = column
    }

    /// The file as a whole: its name, its permissions, its absence.
    package static func whole(_ file: String) -> SourceLocation {
        SourceLocation(file: file, line: 0, column: 0)
    }
}

extension SourceLocation: CustomStringConvertible {
    /// `file:line:column`, or just the file where no line is meant.
    package var description: String { line == 0 ? file : "\(file):\(line):\(column)" }
}
