import HostsModel

/// Makes a configuration out of the files of a snapshot; the same files always give the same one.
package enum ConfigurationLoader {
    /// The id of the host that exists when the person has configured none.
    package static let implicitHostName = "local"

    /// Reads every file of `snapshot`, and reports everything that is wrong at once.
    package static func load(_ snapshot: ConfigurationSnapshot) -> Configuration {
        var configuration = Configuration(isLoaded: true, diagnostics: snapshot.problems)
        loadSettings(snapshot.settings, into: &configuration)
        var hosts = HostFiles(snapshot.hosts)
        configuration.diagnostics += hosts.diagnostics
        let areNoneWritten = hosts.isWithoutRecords && snapshot.isComplete
        if areNoneWritten, let local = HostID(rawValue: implicitHostName) {
            loadImplicitHost(
                local, override: hosts.overrides.removeValue(forKey: local), into: &configuration)
        }
        loadRecords(hosts, into: &configuration)
        warnOfSharedDestinations(in: &configuration)
        configuration.diagnostics += configuration.bad.values.joined()
        configuration.diagnostics = Array(Set(configuration.diagnostics)).sorted()
        return configuration
    }

    private static func loadSettings(_ file: ConfigurationFile?, into configuration: inout Configuration) {
        guard let file else { return }
        var reader = TableReader(keys: Settings.keys)
        do throws(Diagnostic) {
            reader.read(try document(of: file), into: &configuration.settings)
        } catch {
            reader.diagnostics.append(error)
        }
        reader.diagnostics += concerns(
            about: file, origins: reader.origins, settings: &configuration.settings)
        configuration.settingOrigins = reader.origins
        configuration.areSettingsGood = !reader.diagnostics.contains { $0.severity == .error }
        configuration.diagnostics += reader.diagnostics
    }

    /// A file that others can change must not choose which program runs.
    private static func concerns(
        about file: ConfigurationFile, origins: [String: SourceLocation], settings: inout Settings
    ) -> [Diagnostic] {
        guard let concern = file.concern else { return [] }
        var diagnostics: [Diagnostic] = [.warning(at: .whole(file.path), concern)]
        for key in ["ssh.program", "ssh.config_file"] {
            guard let origin = origins[key] else { continue }
            diagnostics.append(
                .error(
                    at: origin, "\(key) can run programs and is not taken from a file that others can change")
            )
        }
        if origins["ssh.program"] != nil { settings.ssh.program = nil }
        if origins["ssh.config_file"] != nil { settings.ssh.configFile = nil }
        return diagnostics
    }

    private static func loadImplicitHost(
        _ id: HostID, override: ConfigurationFile?, into configuration: inout Configuration
    ) {
        let local = HostRecord.implicitLocal(id: id)
        var draft = RecordDraft(label: local.label, transport: local.transport)
        var reader = TableReader(keys: RecordDraft.keys)
        if let override { read(override, with: &reader, into: &draft) }
        finish(draft, id: id, reader: reader, file: override?.path ?? id.rawValue, into: &configuration)
    }

    private static func loadRecords(_ hosts: HostFiles, into configuration: inout Configuration) {
        let limit = configuration.settings.limits.maxHosts
        for (index, id) in hosts.records.keys.sorted().enumerated() {
            guard let file = hosts.records[id] else { continue }
            guard index < limit else {
                configuration.surplus.insert(id)
                configuration.bad[id] = [
                    .error(
                        at: .whole(file.path),
                        "not used: there are \(hosts.records.count) hosts, disabled ones included, and "
                            + "limits.max_hosts is \(limit): remove one, or raise the limit in hostsd.toml")
                ]
                continue
            }
            var draft = RecordDraft()
            var reader = TableReader(keys: RecordDraft.keys)
            read(file, with: &reader, into: &draft)
            if let override = hosts.overrides[id] { read(override, with: &reader, into: &draft) }
            finish(draft, id: id, reader: reader, file: file.path, into: &configuration)
        }
        for (id, file) in hosts.overrides where hosts.records[id] == nil {
            configuration.diagnostics.append(
                .warning(
                    at: .whole(file.path), "an override without its record: there is no \(id).toml beside it")
            )
        }
    }

    private static func read(
        _ file: ConfigurationFile, with reader: inout TableReader<RecordDraft>, into draft: inout RecordDraft
    ) {
        if let concern = file.concern { reader.diagnostics.append(.warning(at: .whole(file.path), concern)) }
        do throws(Diagnostic) {
            reader.read(try document(of: file), into: &draft)
        } catch {
            reader.diagnostics.append(error)
        }
    }

    private static func finish(
        _ draft: RecordDraft, id: HostID, reader: TableReader<RecordDraft>, file: String,
        into configuration: inout Configuration
    ) {
        var errors = reader.diagnostics.filter { $0.severity == .error }
        configuration.diagnostics += reader.diagnostics
        if errors.isEmpty {
            do throws(Diagnostic) {
                configuration.records[id] = try draft.record(id: id, file: file)
                configuration.origins[id] = reader.origins
            } catch {
                errors.append(error)
            }
        }
        if !errors.isEmpty { configuration.bad[id] = errors }
        guard draft.transport == .local, draft.destination != nil, let origin = reader.origins["ssh"] else {
            return
        }
        configuration.diagnostics.append(.warning(at: origin, "not used: the transport is \"local\""))
    }

    private static func warnOfSharedDestinations(in configuration: inout Configuration) {
        var first: [String: HostID] = [:]
        for id in configuration.records.keys.sorted() {
            guard let record = configuration.records[id], record.transport != .local,
                let origin = configuration.origins[id]?["ssh"]
            else { continue }
            if let other = first[record.destination] {
                configuration.diagnostics.append(
                    .warning(
                        at: origin, "\(other).toml has the same destination: this host is supervised twice"))
            } else {
                first[record.destination] = id
            }
        }
    }

    private static func document(of file: ConfigurationFile) throws(Diagnostic) -> TOMLDocument {
        switch file.content {
        case .bytes(let bytes): return try TOMLDocument(parsing: bytes, file: file.path)
        case .unreadable(let reason): throw .error(at: .whole(file.path), reason)
        }
    }
}

/// The files of `hosts.d`, told apart by their names.
private struct HostFiles {
    private(set) var records: [HostID: ConfigurationFile] = [:]
    var overrides: [HostID: ConfigurationFile] = [:]
    private(set) var diagnostics: [Diagnostic] = []
    /// Whether nothing in the folder looks like a record, not even like a broken one.
    private(set) var isWithoutRecords = true

    init(_ files: [ConfigurationFile]) {
        var misspelt: [(HostID, ConfigurationFile)] = []
        for file in files {
            let location = SourceLocation.whole(file.path)
            switch RecordFileName(file.name) {
            case .record(let id):
                records[id] = file
                isWithoutRecords = false
            case .override(let id): overrides[id] = file
            case .misspelt(let id):
                misspelt.append((id, file))
                isWithoutRecords = false
            case .invalid(let stem):
                isWithoutRecords = false
                diagnostics.append(
                    .error(
                        at: location,
                        "not used: \"\(SafeText.visible(stem, limit: 80))\" is no host name (\(RecordFileName.allowed))"
                    ))
            case .conflictCopy(let original):
                diagnostics.append(
                    .warning(
                        at: location,
                        "not used: a conflict copy of \(SafeText.visible(original)), left by a sync tool; "
                            + "compare the two, then delete it"))
            case .foreign:
                diagnostics.append(.info(at: location, "not used: records end in .toml"))
            case .ignored: break
            }
        }
        for (id, file) in misspelt {
            let location = SourceLocation.whole(file.path)
            if records[id] == nil {
                diagnostics.append(
                    .error(
                        at: location, "not used: names of records are in lower case; rename it to \(id).toml")
                )
            } else {
                diagnostics.append(
                    .error(
                        at: location, "duplicate host: \(id).toml is there already, and this file is not used"
                    ))
            }
        }
    }
}
