import FoundationEssentials
import Glibc
import HostsModel
import HostsPOSIX

/// Adds keys to a known_hosts file.
///
/// The file is replaced whole (temporary file, fsync, rename), with its mode and owner, so that no reader ever sees
/// half a line. Blocks on the file system.
struct KnownHostsWriter: Sendable {
    /// How often a file that others change meanwhile is read anew.
    private static let attempts = 20
    /// One writer at a time in this process.
    private static let turn = Locked(0)
    /// How often another process, which holds the folder's lock, is given 20 ms to finish.
    private static let lockAttempts = 150
    private static let lockPause: UInt32 = 20_000
    /// As the kernel follows them.
    private static let linkLimit = 40

    /// Why a key was not added.
    struct Failure: Error, Hashable, Sendable {
        let path: String
        let detail: String
    }

    /// The name as it stands in the file: lower case, `[host]:port` for a port that is not 22.
    let name: String
    let key: PublicKey
    /// HashKnownHosts.
    let isHashed: Bool

    /// Makes a line for a destination as ssh would.
    init(destination: Destination, key: PublicKey) {
        self.init(name: destination.knownHostsName, key: key, isHashed: destination.hashesKnownHosts)
    }

    init(name: String, key: PublicKey, isHashed: Bool) {
        self.name = name
        self.key = key
        self.isHashed = isHashed
    }

    /// Adds the key to a file, which is made if it is missing; `/dev/null` takes everything and keeps nothing.
    func append(to path: String) throws(Failure) {
        guard path != "/dev/null" else { return }
        let line = try line(path)
        let outcome = Self.turn.withLock { _ in
            Result { () throws(Failure) in
                let target = try Self.resolved(path)
                let folder = try Self.makeFolder(of: target)
                let lock = try Self.lock(folder)
                defer { if lock >= 0 { close(lock) } }
                for _ in 0..<Self.attempts where try Self.replace(target, adding: line) { return }
                throw Failure(path: path, detail: "somebody else keeps changing it")
            }
        }
        try outcome.get()
    }

    private func line(_ path: String) throws(Failure) -> String {
        let text = "\(key.type) \(Data(key.blob).base64EncodedString())\n"
        guard isHashed else { return "\(name) \(text)" }
        // As long as the digest, as ssh makes it.
        let salt = (0..<20).map { _ in UInt8.random(in: 0 ... .max) }
        guard let digest = Fingerprint.hmacSHA1(key: salt, text: Array(name.utf8)) else {
            throw Failure(path: path, detail: "its name cannot be hashed")
        }
        return "|1|\(Data(salt).base64EncodedString())|\(Data(digest).base64EncodedString()) \(text)"
    }

    /// One try; false when the file was changed meanwhile.
    private static func replace(_ target: String, adding line: String) throws(Failure) -> Bool {
        let before = try status(target)
        var text: [UInt8] = []
        if before != nil {
            guard let read = BoundedFile.read(target, limit: KnownHosts.fileLimit) else {
                throw Failure(
                    path: target, detail: "it cannot be read, or is longer than a known_hosts file can be")
            }
            text = read
        }
        if let last = text.last, last != 0x0a { text.append(0x0a) }
        text += Array(line.utf8)
        let temporary = "\(target).hostsd-\(getpid())-\(UInt32.random(in: 0 ... .max))"
        try write(text, to: temporary, like: before, target)
        guard try status(target).map(Stamp.init) == before.map(Stamp.init) else {
            _ = unsafe unlink(temporary)
            return false
        }
        guard unsafe rename(temporary, target) == 0 else {
            let code = errno
            _ = unsafe unlink(temporary)
            throw Failure(path: target, detail: SystemError.text(code))
        }
        return true
    }

    /// Tells one content of a file from another.
    private struct Stamp: Hashable {
        let inode: UInt
        let size: Int
        let seconds: Int
        let nanoseconds: Int

        init(_ status: stat) {
            inode = UInt(status.st_ino)
            size = Int(status.st_size)
            seconds = status.st_mtim.tv_sec
            nanoseconds = status.st_mtim.tv_nsec
        }
    }

    private static func status(_ path: String) throws(Failure) -> stat? {
        var result = stat()
        if unsafe stat(path, &result) == 0 { return result }
        guard errno == ENOENT else { throw Failure(path: path, detail: SystemError.text(errno)) }
        return nil
    }

    /// The file behind symbolic links, which stay what they are, also where it is still to be made.
    private static func resolved(_ path: String) throws(Failure) -> String {
        var next = path
        for _ in 0..<linkLimit {
            if let real = unsafe realpath(next, nil) {
                defer { unsafe free(real) }
                return unsafe String(cString: real)
            }
            guard errno == ENOENT else { throw Failure(path: path, detail: SystemError.text(errno)) }
            guard let target = linkTarget(next) else { return next }
            next = target.hasPrefix("/") ? target : "\(folder(of: next))/\(target)"
        }
        throw Failure(path: path, detail: SystemError.text(ELOOP))
    }

    /// What a symbolic link says; nil for anything else.
    private static func linkTarget(_ path: String) -> String? {
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = unsafe readlink(path, &buffer, buffer.count)
        guard count > 0 else { return nil }
        return String(decoding: buffer.prefix(count).map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    private static func folder(of path: String) -> String {
        String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)])
    }

    /// Makes the folder if it is missing, but none above it.
    private static func makeFolder(of path: String) throws(Failure) -> String {
        let folder = folder(of: path)
        guard !folder.isEmpty, unsafe mkdir(folder, 0o700) != 0, errno != EEXIST else { return folder }
        throw Failure(path: folder, detail: SystemError.text(errno))
    }

    /// Keeps a second daemon from reading what this one is about to replace.
    ///
    /// - Returns: A descriptor that holds the lock until it is closed; -1 where the file system has no such locks, and
    ///   the file's stamp must do.
    private static func lock(_ folder: String) throws(Failure) -> Int32 {
        let descriptor = unsafe open(folder.isEmpty ? "/" : folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw Failure(path: folder, detail: SystemError.text(errno)) }
        for _ in 0..<lockAttempts {
            if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { return descriptor }
            guard errno == EWOULDBLOCK || errno == EINTR else {
                close(descriptor)
                return -1
            }
            usleep(lockPause)
        }
        close(descriptor)
        throw Failure(path: folder, detail: "another program holds the lock on this folder")
    }

    private static func write(
        _ text: [UInt8], to path: String, like status: stat?, _ target: String
    ) throws(Failure) {
        let mode = status.map { $0.st_mode & 0o777 } ?? 0o600
        let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)
        guard descriptor >= 0 else { throw Failure(path: target, detail: SystemError.text(errno)) }
        var code = finish(text, descriptor, status, mode)
        if close(descriptor) != 0, code == 0 { code = errno }
        guard code == 0 else {
            _ = unsafe unlink(path)
            throw Failure(path: target, detail: SystemError.text(code))
        }
    }

    /// Answers 0, or an errno.
    private static func finish(_ text: [UInt8], _ descriptor: Int32, _ status: stat?, _ mode: mode_t) -> Int32
    {
        var rest = text[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes {
                unsafe Glibc.write(descriptor, $0.baseAddress, $0.count)
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return errno }
            rest = rest.dropFirst(count)
        }
        if let status, status.st_uid != getuid() || status.st_gid != getgid() {
            // Only root can give a file away; for others it is theirs already.
            if fchown(descriptor, status.st_uid, status.st_gid) != 0, getuid() == 0 { return errno }
        }
        guard fchmod(descriptor, mode) == 0, fsync(descriptor) == 0 else { return errno }
        return 0
    }
}
