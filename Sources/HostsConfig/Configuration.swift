package import HostsModel

/// What the configuration folder says, checked; and everything that is wrong with it.
package struct Configuration: Hashable, Sendable {
    /// Whether it was made of files; false for the defaults that are in force before the first look.
    package var isLoaded: Bool
    package var settings: Settings
    /// Where each setting was written, by `section.name`; what is not here has its default.
    package var settingOrigins: [String: SourceLocation]
    /// Whether `hostsd.toml` holds no error (or does not exist).
    package var areSettingsGood: Bool
    /// The hosts that can be supervised; after `merging`, a host with a bad file has its last good record.
    package var records: [HostID: HostRecord]
    /// Where each value of a record was written, by key; what is not here has its default.
    package var origins: [HostID: [String: SourceLocation]]
    /// The errors of hosts whose files cannot be used as they are; never empty for a host that is here.
    package var bad: [HostID: [Diagnostic]]
    /// The hosts that are too many for `limits.max_hosts`: they are in `bad`, but no earlier record counts for them.
    package var surplus: Set<HostID>
    /// All diagnostics of all files, those of `bad` included, in the order of files and lines.
    package var diagnostics: [Diagnostic]

    package init(
        isLoaded: Bool = false, settings: Settings = Settings(),
        settingOrigins: [String: SourceLocation] = [:],
        areSettingsGood: Bool = true, records: [HostID: HostRecord] = [:],
        origins: [HostID: [String: SourceLocation]] = [:], bad: [HostID: [Diagnostic]] = [:],
        surplus: Set<HostID> = [], diagnostics: [Diagnostic] = []
    ) {
        self.isLoaded = isLoaded
        self.settings = settings
        self.settingOrigins = settingOrigins
        self.areSettingsGood = areSettingsGood
        self.records = records
        self.origins = origins
        self.bad = bad
        self.surplus = surplus
        self.diagnostics = diagnostics
    }

    /// This configuration, with the earlier values where the new ones cannot be used.
    ///
    /// A host whose file is bad keeps the record it had, and stays in `bad`; settings with an error stay as they
    /// were (at the start only the wrong values have their defaults). What is gone without an error is gone.
    ///
    /// - Parameter previous: The configuration in force, itself merged.
    /// - Returns: The configuration to put in force.
    package func merging(lastGood previous: Configuration) -> Configuration {
        var merged = self
        if !areSettingsGood, previous.isLoaded {
            merged.settings = previous.settings
            merged.settingOrigins = previous.settingOrigins
        }
        for host in bad.keys where merged.records[host] == nil && !surplus.contains(host) {
            guard let record = previous.records[host] else { continue }
            merged.records[host] = record
            merged.origins[host] = previous.origins[host]
        }
        return merged
    }

    /// Whether anything is wrong beyond warnings.
    package var hasErrors: Bool { diagnostics.contains { $0.severity == .error } }
}
