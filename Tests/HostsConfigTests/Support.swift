import HostsConfig
import HostsModel
import HostsTestSupport

/// A file below `hosts.d`, in a folder `c` that does not exist.
func hostFile(_ name: String, _ text: String, concern: String? = nil) -> ConfigurationFile {
    ConfigurationFile(
        name: name, path: "c/hosts.d/" + name, content: .bytes(Array(text.utf8)), concern: concern)
}

/// `hostsd.toml` in a folder `c` that does not exist.
func settingsFile(_ text: String, concern: String? = nil) -> ConfigurationFile {
    ConfigurationFile(
        name: "hostsd.toml", path: "c/hostsd.toml", content: .bytes(Array(text.utf8)), concern: concern)
}

func load(settings: String? = nil, _ files: ConfigurationFile...) -> Configuration {
    ConfigurationLoader.load(
        ConfigurationSnapshot(settings: settings.map { settingsFile($0) }, hosts: files))
}

extension HostID {
    /// A host of a test; its name is known to be valid.
    init(_ name: String) {
        guard let id = HostID(rawValue: name) else { fatalError("\(name) is no host name") }
        self = id
    }
}

extension TemporaryFolder {
    /// A folder with an empty configuration in `config`, and `run`.
    static func withConfiguration() throws -> TemporaryFolder {
        let folder = try TemporaryFolder()
        try folder.makeFolder("config/hosts.d")
        try folder.makeFolder("run")
        return folder
    }
}
