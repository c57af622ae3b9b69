/// One file of the configuration as it was found.
package struct ConfigurationFile: Hashable, Sendable {
    package enum Content: Hashable, Sendable {
        case bytes([UInt8])
        /// Why it could not be read, in words.
        case unreadable(String)
    }

    /// The name without its folder.
    package let name: String
    /// The path, as messages show it.
    package let path: String
    package let content: Content
    /// Why somebody else could change what it says, or nil.
    package let concern: String?

    package init(name: String, path: String, content: Content, concern: String? = nil) {
        self.name = name
        self.path = path
        self.content = content
        self.concern = concern
    }
}

/// What stands in the configuration folder at one moment; everything that decides starts from it.
package struct ConfigurationSnapshot: Hashable, Sendable {
    /// Most entries of `hosts.d` that are looked at: 10,000 hosts with their overrides, and room.
    package static let entryLimit = 32_768

    /// `hostsd.toml`, if there is one.
    package var settings: ConfigurationFile?
    /// The regular files of `hosts.d`, whatever their names, by name.
    package var hosts: [ConfigurationFile]
    /// What is wrong with the folders themselves.
    package var problems: [Diagnostic]
    /// Whether a file that is not here is really not there; false when a folder could not be listed.
    package var isComplete: Bool

    package init(
        settings: ConfigurationFile? = nil, hosts: [ConfigurationFile] = [], problems: [Diagnostic] = [],
        isComplete: Bool = true
    ) {
        self.settings = settings
        self.hosts = hosts
        self.problems = problems
        self.isComplete = isComplete
    }
}
