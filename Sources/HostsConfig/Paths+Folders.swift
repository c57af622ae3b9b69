import Glibc
import HostsPOSIX

extension Paths {
    /// The mode of folders that hostsd makes: nobody else looks into them.
    static let folderMode: mode_t = 0o700

    /// The variables of this process; HOME comes from the password database where it is not set.
    package static func environment() -> [String: String] {
        var variables: [String: String] = [:]
        var entry = unsafe environ
        while let text = unsafe entry.pointee {
            let parts = unsafe String(cString: text).split(
                separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            if parts.count == 2 { variables[String(parts[0])] = String(parts[1]) }
            unsafe entry += 1
        }
        if variables["HOME", default: ""].isEmpty { variables["HOME"] = homeOfUser() }
        return variables
    }

    private static func homeOfUser() -> String? {
        var record = unsafe passwd()
        var result: UnsafeMutablePointer<passwd>?
        var buffer = [CChar](repeating: 0, count: 16_384)
        guard unsafe getpwuid_r(geteuid(), &record, &buffer, buffer.count, &result) == 0,
            unsafe result != nil,
            let home = unsafe record.pw_dir
        else { return nil }
        return unsafe String(cString: home)
    }

    /// Makes the folders that the daemon writes to, with mode 0700 where they are new.
    ///
    /// - Throws: The first one that cannot be used, with what to do about it.
    package func createFolders() throws(PathError) {
        try Self.create(state, option: "--state-dir")
        try createRuntimeFolder()
    }

    /// Makes the folder of the socket and the locks; the folder above it must exist, as a login gives it.
    ///
    /// - Throws: Why it cannot be used, with what to do about it.
    package func createRuntimeFolder() throws(PathError) {
        let parent = Self.folder(of: runtime)
        var status = stat()
        if unsafe stat(runtime, &status) != 0, unsafe stat(parent, &status) != 0 {
            throw .cannotCreate(path: runtime, option: "--socket", reason: "\(parent) does not exist")
        }
        try Self.create(runtime, option: "--socket")
    }

    /// Makes the folder of records, for the first override of a person who has written none.
    ///
    /// - Throws: Why it cannot be used, with what to do about it.
    package func createHostsFolder() throws(PathError) {
        try Self.create(hosts, option: "--config-dir")
    }

    /// Makes a folder and those above it, and checks that it is the user's own.
    private static func create(_ path: String, option: String) throws(PathError) {
        var made = ""
        for part in path.split(separator: "/") {
            made += "/" + part
            guard unsafe mkdir(made, folderMode) != 0 else { continue }
            let code = errno
            // EROFS and EACCES come before EEXIST where the file system cannot be written to.
            var status = stat()
            guard unsafe stat(made, &status) != 0 else { continue }
            throw .cannotCreate(path: path, option: option, reason: SystemError.text(code))
        }
        try check(path, option: option)
    }

    private static func check(_ path: String, option: String) throws(PathError) {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else {
            throw .cannotCreate(path: path, option: option, reason: SystemError.text(errno))
        }
        guard status.st_mode & S_IFMT == S_IFDIR else { throw .notAFolder(path: path, option: option) }
        let access = FileAccess(owner: status.st_uid, group: status.st_gid, mode: status.st_mode & 0o7777)
        // Whoever owns a sticky folder, nobody can take away or replace the files of another in it (/tmp).
        let isSticky = status.st_mode & S_ISVTX != 0
        if let concern = access.concern(for: geteuid(), path: path), !isSticky {
            throw .unsafe(path: path, reason: concern)
        }
        guard unsafe Glibc.access(path, W_OK | X_OK) == 0 else {
            throw .unsafe(path: path, reason: "it cannot be written to: \(SystemError.text(errno))")
        }
    }
}
