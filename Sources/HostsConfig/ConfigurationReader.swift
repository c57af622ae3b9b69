import Dispatch
import Glibc
import HostsModel
import HostsPOSIX

/// Reads the configuration folder.
///
/// All of its calls may block (network file systems do), so they run on a thread of their own.
package struct ConfigurationReader: Sendable {
    private static let queue = DispatchQueue(label: "hostsd.config.read")

    private let directory: String
    private let user: UInt32

    /// Makes a reader.
    ///
    /// - Parameter directory: The configuration folder, as an absolute path; it need not exist.
    package init(directory: String) {
        self.directory = directory
        user = geteuid()
    }

    /// The folder as it is now, read off the cooperative pool.
    package func read() async -> ConfigurationSnapshot {
        await withCheckedContinuation { continuation in
            Self.queue.async { continuation.resume(returning: readBlocking()) }
        }
    }

    /// The same for callers that may block, such as a command-line program.
    package func readBlocking() -> ConfigurationSnapshot {
        var snapshot = ConfigurationSnapshot()
        checkFolder(directory, into: &snapshot)
        snapshot.settings = read(name: "hostsd.toml", path: directory + "/hostsd.toml")
        readHosts(into: &snapshot)
        return snapshot
    }

    private func checkFolder(_ path: String, into snapshot: inout ConfigurationSnapshot) {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else { return }
        let access = FileAccess(owner: status.st_uid, group: status.st_gid, mode: status.st_mode & 0o7777)
        if let concern = access.concern(for: user, path: path) {
            snapshot.problems.append(.warning(at: .whole(path), concern))
        }
    }

    private func readHosts(into snapshot: inout ConfigurationSnapshot) {
        let folder = directory + "/hosts.d"
        let names: [String]
        switch list(folder) {
        case .names(let found): names = found
        case .missing:
            // A link to a synced folder that is not there now (not mounted, being moved) does not say that every host
            // was removed.
            var status = stat()
            guard unsafe lstat(folder, &status) == 0, status.st_mode & S_IFMT == S_IFLNK else { return }
            snapshot.problems.append(
                .error(
                    at: .whole(folder),
                    "this is a symbolic link that leads nowhere; the hosts stay as they were until it does"))
            snapshot.isComplete = false
            return
        case .failed(let reason):
            snapshot.problems.append(.error(at: .whole(folder), reason))
            snapshot.isComplete = false
            return
        }
        checkFolder(folder, into: &snapshot)
        for name in names.sorted() {
            let path = folder + "/" + name
            switch RecordFileName(name) {
            case .record, .override:
                if let file = read(name: name, path: path) { snapshot.hosts.append(file) }
            case .misspelt, .invalid, .conflictCopy, .foreign:
                // Not used, but told of: the name is enough.
                snapshot.hosts.append(ConfigurationFile(name: name, path: path, content: .bytes([])))
            case .ignored: break
            }
        }
    }

    enum Listing {
        case names([String])
        case missing
        case failed(String)
    }

    func list(_ folder: String) -> Listing {
        guard let stream = unsafe opendir(folder) else {
            let code = errno
            if code == ENOENT { return .missing }
            return .failed("the folder cannot be read: \(SystemError.text(code))")
        }
        defer { unsafe closedir(stream) }
        var names: [String] = []
        while true {
            errno = 0
            guard let entry = unsafe readdir(stream) else {
                let code = errno
                guard code == 0 else {
                    return .failed("the folder cannot be read: \(SystemError.text(code))")
                }
                return .names(names)
            }
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                unsafe pointer.withMemoryRebound(to: CChar.self, capacity: Int(NAME_MAX) + 1) {
                    unsafe String(cString: $0)
                }
            }
            guard name != ".", name != ".." else { continue }
            guard names.count < ConfigurationSnapshot.entryLimit else {
                return .failed("the folder has more than \(ConfigurationSnapshot.entryLimit) entries")
            }
            names.append(name)
        }
    }

    /// The file, or nil if there is none (any more).
    func read(name: String, path: String) -> ConfigurationFile? {
        // Not blocking, so that a FIFO does not hold us up.
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            let code = errno
            // A dangling symbolic link is there, but leads nowhere.
            var status = stat()
            let isThere = unsafe lstat(path, &status) == 0
            if code == ENOENT, !isThere { return nil }
            let reason =
                code == ENOENT
                ? "this is a symbolic link that leads nowhere"
                : "the file cannot be read: \(SystemError.text(code))"
            return ConfigurationFile(name: name, path: path, content: .unreadable(reason))
        }
        defer { close(descriptor) }
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            let isFolder = status.st_mode & S_IFMT == S_IFDIR
            return ConfigurationFile(
                name: name, path: path,
                content: .unreadable(
                    isFolder ? "this is a folder, not a file" : "this is not a regular file"))
        }
        let access = FileAccess(owner: status.st_uid, group: status.st_gid, mode: status.st_mode & 0o7777)
        return ConfigurationFile(
            name: name, path: path, content: Self.content(of: descriptor),
            concern: access.concern(for: user, path: path))
    }

    /// Reads one byte more than is allowed, so that a file that is too large shows itself.
    static func content(of descriptor: Int32) -> ConfigurationFile.Content {
        let limit = TOMLDocument.sizeLimit.bytes + 1
        var bytes: [UInt8] = []
        while bytes.count < limit {
            let wanted = min(limit - bytes.count, 16_384)
            var code: Int32 = 0
            let chunk = unsafe [UInt8](unsafeUninitializedCapacity: wanted) { buffer, count in
                let result = unsafe Glibc.read(descriptor, buffer.baseAddress, wanted)
                code = result < 0 ? errno : 0
                count = max(result, 0)
            }
            if code == EINTR { continue }
            if code != 0 { return .unreadable("the file cannot be read: \(SystemError.text(code))") }
            if chunk.isEmpty { break }
            bytes += chunk
        }
        return .bytes(bytes)
    }
}
