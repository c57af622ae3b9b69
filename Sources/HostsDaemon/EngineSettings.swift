import HostsAttention
import HostsConfig
import HostsHub
import HostsLog
import HostsModel
import HostsPolicy
import HostsSSH

// What `hostsd.toml` says, in the words of the engines. They do not know the file.

extension LinkSettings {
    init(_ settings: Settings, environment: [String: String]) {
        self.init(environment: environment, homeDirectory: environment["HOME"] ?? "/")
        if let program = settings.ssh.program { sshProgram = program }
        configFile = settings.ssh.configFile
        probeMode =
            switch settings.probe.mode {
            case .auto: .auto
            case .persistent: .persistent
            case .exec: .exec
            }
        timeouts.connect = settings.ssh.connectTimeout
        timeouts.handshake = settings.ssh.handshakeTimeout
        timeouts.authentication = settings.ssh.authenticationTimeout
    }
}

extension ConnectionHub.Settings {
    init(_ settings: Settings) {
        self.init()
        interval = settings.probe.interval
        probeTimeout = settings.probe.timeout
        policy = BoardReconnectPolicy(
            maxAttempts: settings.reconnect.maxAttempts, delays: settings.reconnect.delays.map(\.seconds))
    }
}

extension AttentionCenter.Settings {
    init(_ settings: Settings) {
        self.init()
        isEnabled = settings.attention.isEnabled
        concurrency = settings.hooks.concurrency
    }
}

extension Settings.Log {
    /// The least level that is written for a category.
    func level(of category: LogCategory) -> LogLevel {
        LogLevel(rawValue: (levels[category.rawValue] ?? level).rawValue) ?? .info
    }
}
