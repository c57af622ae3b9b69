import HostsModel

/// The configured hosts by the names of their files; what completion offers without asking the daemon.
struct HostNames {
    let world: World

    /// Reads the folder.
    ///
    /// - Parameter option: What `--config-dir` says, if it is there.
    /// - Returns: The names, sorted; none if there is no folder.
    func names(configurationDirectory option: String?) -> [String] {
        guard let folder = ConfigurationFolder(world: world).path(option: option) else { return [] }
        return world.fileNames(folder + "/hosts.d")
            .filter { $0.hasSuffix(".toml") }
            .compactMap { HostID(rawValue: String($0.dropLast(".toml".count))) }
            .sorted().map(\.rawValue)
    }
}
