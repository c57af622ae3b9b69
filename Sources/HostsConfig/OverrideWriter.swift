import Dispatch
import Glibc
package import HostsModel

/// Writes `hosts.d/NAME.override.toml`, the only file of the configuration that hostsd and hostsctl change.
///
/// Records are made and put aside, too, but never changed (`OverrideWriter+Records.swift`).
///
/// A write is a temporary file beside the target, fsync, rename, fsync of the folder: a reader sees the old or the
/// new text, and a crash leaves at most a file whose name is ignored. A lock in the runtime folder, which is
/// not synced, keeps two writers of this machine apart.
package struct OverrideWriter: Sendable {
    /// How long a writer waits for another one.
    static let lockTimeout = Duration.seconds(5)
    private static let queue = DispatchQueue(label: "hostsd.config.write")

    let paths: Paths

    /// Makes a writer.
    ///
    /// - Parameter paths: The places; the runtime folder must exist.
    package init(paths: Paths) {
        self.paths = paths
    }

    /// Whether a file was written.
    package enum Outcome: Hashable, Sendable {
        case written(path: String)
        /// The host has these values already; no file was touched.
        case unchanged
    }

    /// Makes `changes` take effect for a host, off the cooperative pool.
    ///
    /// - Returns: Whether anything had to be written.
    /// - Throws: Why nothing was written.
    package func apply(_ changes: [RecordChange], to host: HostID) async throws(OverrideError) -> Outcome {
        try await edit(changes.map { .put($0) }, of: host)
    }

    /// Makes `edits` in the override of a host, all of them or none, off the cooperative pool.
    ///
    /// A value that the host has already is not written; a key that its override does not have is not taken away.
    ///
    /// - Parameters:
    ///   - edits: In the order in which they are made.
    ///   - host: One that has a usable record.
    /// - Returns: Whether anything had to be written.
    /// - Throws: Why nothing was written.
    package func edit(_ edits: [RecordEdit], of host: HostID) async throws(OverrideError) -> Outcome {
        try await locked { writer throws(OverrideError) in try writer.editLocked(edits, of: host) }
    }

    /// The same as `apply` for callers that may block, such as a command-line program.
    package func applyBlocking(_ changes: [RecordChange], to host: HostID) -> Result<Outcome, OverrideError> {
        lockedBlocking { writer throws(OverrideError) in
            try writer.editLocked(changes.map { .put($0) }, of: host)
        }
    }

    /// Runs `body` under the lock, off the cooperative pool.
    func locked<Value: Sendable>(
        _ body: @escaping @Sendable (OverrideWriter) throws(OverrideError) -> Value
    ) async throws(OverrideError) -> Value {
        let result = await withCheckedContinuation { continuation in
            Self.queue.async { continuation.resume(returning: lockedBlocking(body)) }
        }
        return try result.get()
    }

    private func lockedBlocking<Value>(
        _ body: (OverrideWriter) throws(OverrideError) -> Value
    ) -> Result<Value, OverrideError> {
        do throws(OverrideError) {
            let lock = try FileLock(path: paths.runtime + "/config.lock", timeout: Self.lockTimeout)
            defer { lock.release() }
            return .success(try body(self))
        } catch {
            return .failure(error)
        }
    }

    private func editLocked(_ edits: [RecordEdit], of host: HostID) throws(OverrideError) -> Outcome {
        let snapshot = ConfigurationReader(directory: paths.configuration).readBlocking()
        let path = "\(paths.hosts)/\(host).override.toml"
        let override = snapshot.hosts.first { $0.name == "\(host).override.toml" }
        let current = try currentRecord(host, in: snapshot)
        let old = try Self.bytes(of: override)
        var bytes = old
        for edit in edits {
            let text = try Self.text(bytes, path: path)
            switch edit {
            case .put(let change):
                guard !current.has(change) else { continue }
            case .takeAway(let key):
                guard text.has(key) else { continue }
            }
            guard let changed = text.applying(edit) else { throw .cannotEdit(path: path, key: edit.key) }
            bytes = changed
        }
        guard bytes != old else { return .unchanged }
        try checkResult(bytes, of: host, in: snapshot, path: path)
        try makeFolder()
        try AtomicFile(path: path, modeOf: "\(paths.hosts)/\(host).toml").write(bytes)
        return .written(path: path)
    }

    private static func text(_ bytes: [UInt8], path: String) throws(OverrideError) -> OverrideText {
        do throws(Diagnostic) {
            return try OverrideText(bytes: bytes, file: path)
        } catch {
            throw .broken(error)
        }
    }

    /// Makes the folder of records where there is none yet: the machine itself is a host without one.
    func makeFolder() throws(OverrideError) {
        do throws(PathError) {
            try paths.createHostsFolder()
        } catch {
            throw .noFolder(path: paths.hosts, reason: error.description)
        }
    }

    /// The host as it is configured now, which is what `hostsctl` compares with.
    private func currentRecord(
        _ host: HostID, in snapshot: ConfigurationSnapshot
    ) throws(OverrideError) -> HostRecord {
        let configuration = ConfigurationLoader.load(snapshot)
        if let record = configuration.records[host] { return record }
        if let error = configuration.bad[host]?.first { throw .broken(error) }
        throw .noSuchHost(host, folder: paths.hosts)
    }

    private static func bytes(of file: ConfigurationFile?) throws(OverrideError) -> [UInt8] {
        guard let file else { return [] }
        switch file.content {
        case .bytes(let bytes): return bytes
        case .unreadable(let reason): throw .broken(.error(at: .whole(file.path), reason))
        }
    }

    /// Reads what would be written as the loader will read it, with the record below it.
    private func checkResult(
        _ bytes: [UInt8], of host: HostID, in snapshot: ConfigurationSnapshot, path: String
    ) throws(OverrideError) {
        var changed = snapshot
        let name = "\(host).override.toml"
        changed.hosts.removeAll { $0.name == name }
        changed.hosts.append(ConfigurationFile(name: name, path: path, content: .bytes(bytes)))
        if let error = ConfigurationLoader.load(changed).bad[host]?.first { throw .badValue(error) }
    }
}

extension HostRecord {
    fileprivate func has(_ change: RecordChange) -> Bool {
        switch change {
        case .destination(let value): destination == value
        case .enabled(let value): isEnabled == value
        case .label(let value): label == value
        case .backgroundKeepAlive(let value): backgroundKeepAlive == value
        case .sessionRestore(let value): sessionRestore == value
        case .transport(let value): transport == value
        case .tags(let values): tags == values
        }
    }
}
