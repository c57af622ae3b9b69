/// What `hostsd.toml` says about the daemon as a whole; the default of each value stands here.
package struct Settings: Hashable, Sendable {
    /// How hosts are reached.
    package struct SSH: Hashable, Sendable {
        /// The `ssh` program: a name that is looked up in PATH, or a path; nil means `ssh`.
        package var program: String?
        /// Another ssh_config for `ssh -F`; nil means the person's own.
        package var configFile: String?
        package var connectTimeout: Duration = .seconds(10)
        package var handshakeTimeout: Duration = .seconds(15)
        package var authenticationTimeout: Duration = .seconds(20)
    }

    /// How hosts are looked at.
    package struct Probe: Hashable, Sendable {
        /// How a request reaches the host's shell.
        package enum Mode: String, Hashable, Sendable, CaseIterable {
            /// Persistent, and one exec for each probe where a server cuts the shell.
            case auto
            case persistent, exec
        }

        package var interval: Duration = .seconds(5)
        package var mode: Mode = .auto
        package var timeout: Duration = .seconds(10)
    }

    /// The schedule after a link has dropped (`BoardReconnectPolicy`).
    package struct Reconnect: Hashable, Sendable {
        package var maxAttempts = 5
        package var delays: [Duration] = [.seconds(2), .seconds(4), .seconds(8), .seconds(8), .seconds(8)]
    }

    /// The windows in which hosts are looked at that are not looked at otherwise.
    package struct Refresh: Hashable, Sendable {
        package var interval: Duration = .seconds(900)
    }

    /// Whether the person is told.
    package struct Attention: Hashable, Sendable {
        package var isEnabled = true
    }

    /// How the notifier hooks run.
    package struct Hooks: Hashable, Sendable {
        package var timeout: Duration = .seconds(30)
        package var concurrency = 4
    }

    /// Upper bounds.
    package struct Limits: Hashable, Sendable {
        /// Most hosts, disabled ones included.
        package var maxHosts = 1000
    }

    /// What is written to the log.
    package struct Log: Hashable, Sendable {
        /// The levels of HostsLog, least first; this module does not import it, and a test compares the two.
        package enum Level: String, Hashable, Sendable, CaseIterable {
            case trace, debug, info, notice, warning, error, critical
        }

        /// The categories of HostsLog; a test compares the two.
        package static let categories = [
            "daemon", "config", "hub", "ssh", "probe", "detect", "resume", "background", "attention", "hook",
            "api", "history",
        ]

        /// The least level that is written, for categories without one of their own.
        package var level: Level = .info
        /// The least level of single categories, by name.
        package var levels: [String: Level] = [:]
    }

    package var ssh = SSH()
    package var probe = Probe()
    package var reconnect = Reconnect()
    package var refresh = Refresh()
    package var attention = Attention()
    package var hooks = Hooks()
    package var limits = Limits()
    package var log = Log()

    package init() {}
}
