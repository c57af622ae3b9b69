import Glibc
import HostsModel

/// Reads the hooks folders.
///
/// The same name in a later folder takes the place of the earlier one, and a symbolic link to `/dev/null` masks it. A file that
/// somebody else could have put there or changed is never run.
package enum HookFolder {
    /// Most hooks, all folders together.
    package static let limit = 64

    private static let ignoredSuffixes = ["~", ".swp", ".tmp", ".bak", ".orig", ".rpmsave", ".rpmnew"]

    /// Reads the folders; blocks on the file system.
    ///
    /// - Parameters:
    ///   - folders: Absolute paths, the one that wins last. One that is not there holds no hooks.
    ///   - user: Who may own a hook beside root.
    /// - Returns: The hooks that can be run, and why the others cannot.
    package static func read(_ folders: [String], user: UInt32 = geteuid()) -> HookSet {
        var found: [String: Result<Hook, HookFailure>] = [:]
        var set = HookSet()
        for folder in folders {
            guard let names = names(in: folder, user: user, &set.problems) else { continue }
            for name in names.sorted() {
                guard let isHook = classify(name) else { continue }
                let path = folder + "/" + name
                if let problem = isHook {
                    set.problems.append(HookProblem(path: path, kind: problem))
                } else if isMask(path) {
                    found[name] = nil
                } else if let problem = check(path, user: user) {
                    found[name] = .failure(HookFailure(problem: HookProblem(path: path, kind: problem)))
                } else {
                    found[name] = .success(Hook(name: name, path: path))
                }
            }
        }
        for (_, result) in found.sorted(by: { $0.key < $1.key }) {
            switch result {
            case .success(let hook) where set.hooks.count < limit: set.hooks.append(hook)
            case .success(let hook): set.problems.append(HookProblem(path: hook.path, kind: .tooMany))
            case .failure(let failure): set.problems.append(failure.problem)
            }
        }
        return set
    }

    private struct HookFailure: Error {
        let problem: HookProblem
    }

    /// The names in a folder; nil when it is not there or must not be trusted.
    private static func names(in folder: String, user: UInt32, _ problems: inout [HookProblem]) -> [String]? {
        guard let directory = opendir(folder) else {
            if errno != ENOENT { problems.append(HookProblem(path: folder, kind: .unreadable(code: errno))) }
            return nil
        }
        defer { closedir(directory) }
        if let problem = ownership(of: folder, user: user) {
            problems.append(HookProblem(path: folder, kind: problem))
            return nil
        }
        var names: [String] = []
        while let entry = readdir(directory) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            names.append(name)
        }
        return names
    }

    /// What a name says: nil for silently no hook, `.some(nil)` for a hook, else why it is none.
    private static func classify(_ name: String) -> HookProblem.Kind?? {
        if name.hasPrefix(".") || name.hasPrefix("#") || name.hasPrefix("~syncthing~") { return nil }
        if ignoredSuffixes.contains(where: name.hasSuffix) || name.contains(".dpkg-") { return nil }
        if name.contains(".sync-conflict-") || name.contains("(conflicted copy") {
            return .some(.conflictCopy)
        }
        let isAllowed = name.utf8.allSatisfy { byte in
            (0x30...0x39).contains(byte) || (0x41...0x5a).contains(byte) || (0x61...0x7a).contains(byte)
                || byte == 0x2e || byte == 0x2d || byte == 0x5f
        }
        return isAllowed ? .some(nil) : .some(.badName)
    }

    private static func isMask(_ path: String) -> Bool {
        var target = [CChar](repeating: 0, count: 64)
        let count = readlink(path, &target, target.count)
        return count > 0
            && String(decoding: target.prefix(count).map(UInt8.init(bitPattern:)), as: UTF8.self)
                == "/dev/null"
    }

    private static func check(_ path: String, user: UInt32) -> HookProblem.Kind? {
        var status = stat()
        guard stat(path, &status) == 0 else { return .unreadable(code: errno) }
        guard status.st_mode & S_IFMT == S_IFREG else { return .notRegular }
        if let problem = ownership(status, user: user) { return problem }
        guard status.st_mode & (S_ISUID | S_ISGID) == 0 else { return .setUserID }
        guard status.st_mode & 0o111 != 0, faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) == 0 else {
            return .notExecutable
        }
        return nil
    }

    private static func ownership(of path: String, user: UInt32) -> HookProblem.Kind? {
        var status = stat()
        guard stat(path, &status) == 0 else { return .unreadable(code: errno) }
        return ownership(status, user: user)
    }

    private static func ownership(_ status: stat, user: UInt32) -> HookProblem.Kind? {
        guard status.st_uid == 0 || status.st_uid == user else { return .foreignOwner(uid: status.st_uid) }
        return status.st_mode & 0o022 == 0 ? nil : .writableByOthers
    }
}
