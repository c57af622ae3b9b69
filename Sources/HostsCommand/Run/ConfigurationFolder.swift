import HostsModel

/// The folder of the configuration, as far as this program looks into it without the daemon.
struct ConfigurationFolder {
    let world: World

    /// Where it is.
    ///
    /// - Parameter option: What `--config-dir` says, if it is there.
    /// - Returns: Nil if there is none.
    func path(option: String?) -> String? {
        if let option { return option }
        let candidates = [
            world.environment["XDG_CONFIG_HOME"].map { $0 + "/hostsd" },
            world.environment["HOME"].map { $0 + "/.config/hostsd" },
            "/etc/hostsd",
        ]
        return candidates.compactMap { $0 }.first { world.exists($0) }
    }
}
