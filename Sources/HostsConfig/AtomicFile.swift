import Glibc

/// A file that is replaced as a whole: temporary file beside it, fsync, rename, fsync of the folder.
struct AtomicFile {
    /// How temporary files are named; names with a leading dot are ignored when the folder is read.
    static let temporaryPrefix = ".hostsctl-"
    /// How many random characters follow, as with mkstemp (which Swift cannot import with O_CLOEXEC).
    private static let randomLength = 6
    private static let alphabet = Array("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")
    /// How many names are tried; 62^6 of them are possible.
    private static let attempts = 16
    /// A temporary file older than this was left by a crash: a write takes milliseconds.
    private static let leftoverAge = 600

    private let path: String
    /// The file whose mode a new file takes.
    private let model: String

    init(path: String, modeOf model: String) {
        self.path = path
        self.model = model
    }

    /// Replaces the content; a symbolic link stays, and what it leads to is replaced.
    ///
    /// - Throws: Why it could not; the old content is then still there.
    func write(_ bytes: [UInt8]) throws(OverrideError) {
        let target = try resolved()
        let temporary = try makeFilled(bytes, beside: target)
        guard unsafe rename(temporary, target) == 0 else {
            let code = errno
            _ = unsafe unlink(temporary)
            throw .system(code, path: target, step: "renaming")
        }
        try Self.synchronise(folder: Paths.folder(of: target), path: target)
    }

    /// Makes the file, if nothing of its name is there yet, not even a symbolic link.
    ///
    /// - Returns: Whether it was made; false if the name is taken.
    /// - Throws: Why it could not be made.
    func create(_ bytes: [UInt8]) throws(OverrideError) -> Bool {
        let temporary = try makeFilled(bytes, beside: path)
        defer { _ = unsafe unlink(temporary) }  // gone where it was moved
        return try Self.move(temporary, to: path) == .moved
    }

    /// What became of a move.
    enum Move: Hashable, Sendable {
        case moved
        /// There is nothing to move.
        case missing
        /// The new name is taken.
        case occupied
    }

    /// Gives a file another name in the same folder, and never the name of another file.
    ///
    /// - Throws: Why it could not.
    static func move(_ path: String, to target: String) throws(OverrideError) -> Move {
        var code: Int32 = 0
        // A second name first, which never replaces a file; of a symbolic link, the link itself gets it.
        if unsafe linkat(AT_FDCWD, path, AT_FDCWD, target, 0) == 0 {
            if unsafe unlink(path) != 0 { code = errno }
        } else {
            code = errno
        }
        if code == EPERM || code == EOPNOTSUPP {
            code = renameWithoutLinks(path, to: target)
        }
        switch code {
        case 0:
            try synchronise(folder: Paths.folder(of: target), path: target)
            return .moved
        case ENOENT: return .missing
        case EEXIST: return .occupied
        default: throw .system(code, path: path, step: "renaming")
        }
    }

    /// The same where the file system has no hard links (FAT, some network ones): only our lock keeps others away.
    private static func renameWithoutLinks(_ path: String, to target: String) -> Int32 {
        var status = stat()
        if unsafe lstat(target, &status) == 0 { return EEXIST }
        return unsafe rename(path, target) == 0 ? 0 : errno
    }

    /// A temporary file with the content, on disk; its name.
    private func makeFilled(_ bytes: [UInt8], beside target: String) throws(OverrideError) -> String {
        let folder = Paths.folder(of: target)
        let old = try oldFile(target)
        Self.removeLeftovers(in: folder)
        let (descriptor, temporary) = try Self.makeTemporary(in: folder, path: target)
        do throws(OverrideError) {
            defer { close(descriptor) }
            try Self.fill(descriptor, with: bytes, like: old, path: target)
        } catch {
            _ = unsafe unlink(temporary)
            throw error
        }
        return temporary
    }

    private static func makeTemporary(
        in folder: String, path: String
    ) throws(OverrideError) -> (descriptor: Int32, name: String) {
        var code = EEXIST
        for _ in 0..<attempts where code == EEXIST {
            let random = String((0..<randomLength).map { _ in alphabet.randomElement() ?? "x" })
            let name = folder + "/" + temporaryPrefix + random
            let descriptor = unsafe open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
            if descriptor >= 0 { return (descriptor, name) }
            code = errno
        }
        throw .system(code, path: path, step: "making a temporary file")
    }

    /// Where a symbolic link leads to; a link that leads nowhere is an error.
    private func resolved() throws(OverrideError) -> String {
        var status = stat()
        guard unsafe lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFLNK else { return path }
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX) + 1)
        guard unsafe realpath(path, &buffer) != nil else {
            throw .system(errno, path: path, step: "following the symbolic link")
        }
        return String(decoding: buffer.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    private struct OldFile {
        let mode: mode_t
        /// Whose the file is; set only where root writes a file of another user.
        let owner: (user: uid_t, group: gid_t)?
    }

    private func oldFile(_ target: String) throws(OverrideError) -> OldFile {
        var status = stat()
        guard unsafe stat(target, &status) == 0 else {
            guard errno == ENOENT else { throw .system(errno, path: target, step: "looking at the file") }
            let isModel = unsafe stat(model, &status) == 0
            return OldFile(
                mode: isModel ? status.st_mode & 0o666 : 0o600, owner: Self.foreignOwner(status, isModel))
        }
        guard status.st_uid == geteuid() || geteuid() == 0 else {
            throw .notOwned(path: target, owner: status.st_uid)
        }
        return OldFile(mode: status.st_mode & 0o777, owner: Self.foreignOwner(status, true))
    }

    private static func foreignOwner(_ status: stat, _ exists: Bool) -> (user: uid_t, group: gid_t)? {
        guard exists, geteuid() == 0, status.st_uid != 0 else { return nil }
        return (status.st_uid, status.st_gid)
    }

    private static func fill(
        _ descriptor: Int32, with bytes: [UInt8], like old: OldFile, path: String
    ) throws(OverrideError) {
        if let owner = old.owner, fchown(descriptor, owner.user, owner.group) != 0 {
            throw .system(errno, path: path, step: "setting the owner")
        }
        guard fchmod(descriptor, old.mode) == 0 else {
            throw .system(errno, path: path, step: "setting the mode")
        }
        var rest = bytes[...]
        while !rest.isEmpty {
            let written = unsafe rest.withUnsafeBytes {
                unsafe Glibc.write(descriptor, $0.baseAddress, $0.count)
            }
            if written < 0, errno == EINTR { continue }
            guard written >= 0 else { throw .system(errno, path: path, step: "writing") }
            rest = rest.dropFirst(written)
        }
        guard fsync(descriptor) == 0 else { throw .system(errno, path: path, step: "writing") }
    }

    /// The new name is on disk only when the folder is.
    private static func synchronise(folder: String, path: String) throws(OverrideError) {
        let descriptor = unsafe open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .system(errno, path: path, step: "opening its folder") }
        defer { close(descriptor) }
        // Some network file systems cannot sync a folder, and say so with EINVAL.
        guard fsync(descriptor) == 0 || errno == EINVAL else {
            throw .system(errno, path: path, step: "writing its folder")
        }
    }

    /// Removes what a crashed writer has left.
    ///
    /// Called under the lock, so none of them is in use.
    private static func removeLeftovers(in folder: String) {
        guard let stream = unsafe opendir(folder) else { return }  // the write itself will tell why
        defer { unsafe closedir(stream) }
        while let entry = unsafe readdir(stream) {
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                unsafe pointer.withMemoryRebound(to: CChar.self, capacity: Int(NAME_MAX) + 1) {
                    unsafe String(cString: $0)
                }
            }
            guard name.hasPrefix(temporaryPrefix), name.count == temporaryPrefix.count + randomLength else {
                continue
            }
            let path = folder + "/" + name
            var status = stat()
            guard unsafe lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
                time(nil) - status.st_mtim.tv_sec > leftoverAge
            else { continue }
            _ = unsafe unlink(path)
        }
    }
}

extension OverrideError {
    /// The error of a system call, by what the person can do about it.
    static func system(_ code: Int32, path: String, step: String) -> OverrideError {
        switch code {
        case EROFS: .readOnly(path: path)
        case EACCES, EPERM: .notPermitted(path: path)
        case ENOSPC, EDQUOT: .diskFull(path: path)
        default: .failed(path: path, step: step, code: code)
        }
    }
}
