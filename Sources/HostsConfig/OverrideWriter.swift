import Dispatch
import Glibc
package import HostsModel

/// Writes `hosts.d/NAME.override.toml`, the only file of the configuration that hostsd and hostsctl change.
///
/// A write is a temporary file beside the target, fsync, rename, fsync of the folder: a reader sees the old or the
/// new text, and a crash leaves at most a file whose name is ignored. A lock in the runtime folder, which is
/// not synced, keeps two writers of this machine apart.
package struct OverrideWriter: Sendable {
    /// How long a writer waits for another one.
    static let lockTimeout = Duration.seconds(5)
    private static let queue = DispatchQueue(label: "hostsd.config.write")

    private let paths: Paths

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
        let result = await withCheckedContinuation { continuation in
            Self.queue.async { continuation.resume(returning: applyBlocking(changes, to: host)) }
        }
        return try result.get()
    }

    /// The same for callers that may block, such as a command-line program.
    package func applyBlocking(_ changes: [RecordChange], to host: HostID) -> Result<Outcome, OverrideError> {
        do throws(OverrideError) {
            let lock = try FileLock(path: paths.runtime + "/config.lock", timeout: Self.lockTimeout)
            defer { lock.release() }
            return .success(try applyLocked(changes, to: host))
        } catch {
            return .failure(error)
        }
    }

    private func applyLocked(_ changes: [RecordChange], to host: HostID) throws(OverrideError) -> Outcome {
        let snapshot = ConfigurationReader(directory: paths.configuration).readBlocking()
        let path = "\(paths.hosts)/\(host).override.toml"
        let override = snapshot.hosts.first { $0.name == "\(host).override.toml" }
        let current = try currentRecord(host, in: snapshot)
        let wanted = changes.filter { !current.has($0) }
        guard !wanted.isEmpty else { return .unchanged }
        var bytes = try Self.bytes(of: override)
        for change in wanted {
            let text: OverrideText
            do throws(Diagnostic) {
                text = try OverrideText(bytes: bytes, file: path)
            } catch {
                throw .broken(error)
            }
            guard let changed = text.applying(change) else { throw .cannotEdit(path: path, key: change.key) }
            bytes = changed
        }
        try checkResult(bytes, path: path)
        try makeFolder()
        try AtomicFile(path: path, modeOf: "\(paths.hosts)/\(host).toml").write(bytes)
        return .written(path: path)
    }

    /// Makes the folder of records where there is none yet: the machine itself is a host without one.
    private func makeFolder() throws(OverrideError) {
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

    private func checkResult(_ bytes: [UInt8], path: String) throws(OverrideError) {
        var draft = RecordDraft()
        var reader = TableReader(keys: RecordDraft.keys)
        do throws(Diagnostic) {
            reader.read(try TOMLDocument(parsing: bytes, file: path), into: &draft)
        } catch {
            throw .badValue(error)
        }
        if let error = reader.diagnostics.first(where: { $0.severity == .error }) { throw .badValue(error) }
    }
}

extension HostRecord {
    fileprivate func has(_ change: RecordChange) -> Bool {
        switch change {
        case .enabled(let value): isEnabled == value
        case .label(let value): label == value
        case .backgroundKeepAlive(let value): backgroundKeepAlive == value
        case .sessionRestore(let value): sessionRestore == value
        case .transport(let value): transport == value
        case .tags(let values): tags == values
        }
    }
}
