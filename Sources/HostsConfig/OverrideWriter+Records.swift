package import HostsModel

extension OverrideWriter {
    /// How many records of one name can be put aside.
    private static let asideLimit = 100

    /// What became of a removed host's files.
    package struct Removal: Hashable, Sendable {
        /// Where the record is now; hostsd does not read it there.
        package let record: String
        /// Where the override is now, if there was one.
        package let override: String?
    }

    /// A host that was added.
    package struct Addition: Hashable, Sendable {
        package let host: HostID
        /// The new record.
        package let path: String
        /// The machine itself, if it was a host only because there was no record yet.
        package let replaced: HostID?
    }

    /// Makes the record of a new host, off the cooperative pool.
    ///
    /// The file comes into being whole, under a name that nothing had before.
    ///
    /// - Parameters:
    ///   - name: What the person has given.
    ///   - changes: The keys of the record, each once.
    /// - Returns: What was made.
    /// - Throws: Why nothing was written: a bad name, a record that is there already, too many hosts.
    package func add(_ name: String, _ changes: [RecordChange]) async throws(OverrideError) -> Addition {
        guard let host = HostID(rawValue: name), case .record = RecordFileName("\(name).toml") else {
            throw .badName(SafeText.visible(name, limit: 80))
        }
        return try await locked { writer throws(OverrideError) in try writer.addLocked(host, changes) }
    }

    private func addLocked(_ host: HostID, _ changes: [RecordChange]) throws(OverrideError) -> Addition {
        let snapshot = ConfigurationReader(directory: paths.configuration).readBlocking()
        guard snapshot.isComplete else {
            throw .broken(snapshot.problems.first ?? .error(at: .whole(paths.hosts), "it cannot be read"))
        }
        let path = "\(paths.hosts)/\(host).toml"
        let records = snapshot.hosts.filter {
            if case .record = RecordFileName($0.name) { true } else { false }
        }
        guard !records.contains(where: { $0.name == "\(host).toml" }) else {
            throw .hostExists(host, path: path)
        }
        let current = ConfigurationLoader.load(snapshot)
        let limit = current.settings.limits.maxHosts
        guard records.count < limit else { throw .tooManyHosts(count: records.count, limit: limit) }
        // The override of the machine itself stays in force: it is the same host.
        let implicit = current.records.keys.first { _ in records.isEmpty }
        if implicit != host, snapshot.hosts.contains(where: { $0.name == "\(host).override.toml" }) {
            throw .overrideLeft(path: "\(paths.hosts)/\(host).override.toml")
        }
        let bytes = Array(
            ("# Made by hostsctl add; yours to edit.\n" + changes.map { $0.line + "\n" }.joined()).utf8)
        var changed = snapshot
        changed.hosts.append(
            ConfigurationFile(name: "\(host).toml", path: path, content: .bytes(bytes)))
        if let error = ConfigurationLoader.load(changed).bad[host]?.first { throw .badValue(error) }
        try makeFolder()
        guard try AtomicFile(path: path, modeOf: path).create(bytes) else {
            throw .hostExists(host, path: path)
        }
        return Addition(host: host, path: path, replaced: implicit == host ? nil : implicit)
    }

    /// Takes a host out of the configuration, off the cooperative pool.
    ///
    /// Nothing is deleted: the record is the person's own, and the override may say that a host is not to be
    /// dialled. Both are renamed to names that are not read. A symbolic link is renamed itself; what it leads to
    /// stays as it is.
    ///
    /// - Parameter host: The host; its files may be broken.
    /// - Returns: Where its files are now.
    /// - Throws: Why nothing was done.
    package func remove(_ host: HostID) async throws(OverrideError) -> Removal {
        try await locked { writer throws(OverrideError) in try writer.removeLocked(host) }
    }

    private func removeLocked(_ host: HostID) throws(OverrideError) -> Removal {
        let record = "\(paths.hosts)/\(host).toml"
        // The record first: an override alone makes no host, but a record alone could be dialled.
        guard let kept = try putAside(record) else {
            let snapshot = ConfigurationReader(directory: paths.configuration).readBlocking()
            guard ConfigurationLoader.load(snapshot).records[host] != nil else {
                throw .noSuchHost(host, folder: paths.hosts)
            }
            throw .implicitHost(host)
        }
        return Removal(record: kept, override: try putAside("\(paths.hosts)/\(host).override.toml"))
    }

    /// Renames a file to a name that is not read; nil if there is none.
    private func putAside(_ path: String) throws(OverrideError) -> String? {
        for number in 1...Self.asideLimit {
            let target = path + RecordFileName.asideSuffix + (number == 1 ? "" : ".\(number)")
            switch try AtomicFile.move(path, to: target) {
            case .moved: return target
            case .missing: return nil
            case .occupied: continue
            }
        }
        throw .tooManyAside(path: path, limit: Self.asideLimit)
    }
}
