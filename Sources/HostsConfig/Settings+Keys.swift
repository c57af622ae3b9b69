extension Settings {
    /// Every key of `hostsd.toml`: the one place that knows name, unit, range and meaning.
    package static let keys: [ConfigurationKey<Settings>] = {
        let defaults = Settings()
        return sshKeys(defaults) + probeKeys(defaults) + reconnectKeys(defaults) + refreshKeys(defaults)
            + attentionKeys(defaults) + limitKeys(defaults) + logKeys(defaults)
    }()

    private static func sshKeys(_ defaults: Settings) -> [ConfigurationKey<Settings>] {
        let pathLimit = 4096
        let timeouts = 1.0...300.0
        let keys: [ConfigurationKey<Settings>] = [
            .text(
                "program", \.ssh.program, takes: "a program's name or absolute path", defaultText: "\"ssh\"",
                "The `ssh` that resolves destinations with `ssh -G`."
            ) { TextRule.program($0, limit: pathLimit) },
            .text(
                "config_file", \.ssh.configFile, takes: "an absolute path", defaultText: "ssh's own",
                "Another ssh_config for every call of ssh (`ssh -F`)."
            ) { TextRule.absolutePath($0, limit: pathLimit) },
            .seconds(
                "connect_timeout_seconds", \.ssh.connectTimeout, in: timeouts, defaults: defaults,
                "Longest wait for the TCP connection, unless ssh_config has a `ConnectTimeout`."),
            .seconds(
                "handshake_timeout_seconds", \.ssh.handshakeTimeout, in: timeouts, defaults: defaults,
                "Longest wait for banner and key exchange."),
            .seconds(
                "authentication_timeout_seconds", \.ssh.authenticationTimeout, in: timeouts,
                defaults: defaults,
                "Longest wait for the login, an agent that asks the person included."),
        ]
        return keys.map { $0.placed(in: "ssh") }
    }

    private static func probeKeys(_ defaults: Settings) -> [ConfigurationKey<Settings>] {
        let keys: [ConfigurationKey<Settings>] = [
            .seconds(
                "interval_seconds", \.probe.interval, in: 1...3600, defaults: defaults,
                "Time from one look at a host to the next."),
            .choice(
                "mode", \.probe.mode, defaults: defaults,
                "One shell for all looks, or one exec channel for each; `auto` changes over where a server cuts "
                    + "the shell."),
            .seconds(
                "timeout_seconds", \.probe.timeout, in: 1...300, defaults: defaults,
                "Longest wait for a reply; after it the link counts as dead."),
        ]
        return keys.map { $0.placed(in: "probe") }
    }

    private static func reconnectKeys(_ defaults: Settings) -> [ConfigurationKey<Settings>] {
        let keys: [ConfigurationKey<Settings>] = [
            .integer(
                "max_attempts", \.reconnect.maxAttempts, in: 0...1000, defaults: defaults,
                "Attempts after a drop before a host goes dormant; 0 never tries."),
            .secondsList(
                "delays_seconds", \.reconnect.delays, atMost: 32, in: 0.5...3600, defaults: defaults,
                "Wait before each attempt; the last one repeats. Jitter is added."),
        ]
        return keys.map { $0.placed(in: "reconnect") }
    }

    private static func refreshKeys(_ defaults: Settings) -> [ConfigurationKey<Settings>] {
        let keys: [ConfigurationKey<Settings>] = [
            .seconds(
                "interval_seconds", \.refresh.interval, in: 900...86_400, defaults: defaults,
                "Least time from one refresh window of the daemon's own to the next; a floor, not a promise.")
        ]
        return keys.map { $0.placed(in: "refresh") }
    }

    private static func attentionKeys(_ defaults: Settings) -> [ConfigurationKey<Settings>] {
        let attention: [ConfigurationKey<Settings>] = [
            .boolean(
                "enabled", \.attention.isEnabled, defaults: defaults,
                "Whether hooks run at all; events are stored and shown either way.")
        ]
        let hooks: [ConfigurationKey<Settings>] = [
            .seconds(
                "timeout_seconds", \.hooks.timeout, in: 1...600, defaults: defaults,
                "Longest run of a hook; then its process group is ended."),
            .integer(
                "concurrency", \.hooks.concurrency, in: 1...64, defaults: defaults,
                "Most hooks that run at the same time."),
        ]
        return attention.map { $0.placed(in: "attention") } + hooks.map { $0.placed(in: "hooks") }
    }

    private static func limitKeys(_ defaults: Settings) -> [ConfigurationKey<Settings>] {
        let keys: [ConfigurationKey<Settings>] = [
            .integer(
                "max_hosts", \.limits.maxHosts, in: 1...10_000, defaults: defaults,
                "Most hosts, disabled ones included; records beyond it are reported and not used.")
        ]
        return keys.map { $0.placed(in: "limits") }
    }

    private static func logKeys(_ defaults: Settings) -> [ConfigurationKey<Settings>] {
        let level: ConfigurationKey<Settings> = .choice(
            "level", \.log.level, defaults: defaults, "Least level that is written.")
        let categories: [ConfigurationKey<Settings>] = Log.categories.map { category in
            let words = Log.Level.allCases.map(\.rawValue)
            return ConfigurationKey(
                section: "", name: category, takes: level.takes, defaultText: "as level",
                meaning: "The same for the category \(category) alone."
            ) { value, settings throws(Diagnostic) in
                guard case .string(let word) = value.content else {
                    throw .wrongKind(value, wanted: level.takes)
                }
                guard let level = Log.Level(rawValue: word) else {
                    throw .unknownWord(word, at: value.location, name: "level", words: words)
                }
                settings.log.levels[category] = level
            }
        }
        return ([level] + categories).map { $0.placed(in: "log") }
    }
}
