import Glibc
import HostsLog

/// Which folders are watched, and what for; used by one thread.
struct WatchTable {
    /// What an event of a watched folder is about.
    private struct Interest {
        /// Every entry matters: it is one of the folders themselves.
        var isEverything = false
        /// The entries that matter in another folder: one of ours is missing there, or a link leads there.
        var names: Set<String> = []
    }

    /// Most files that are watched because a symbolic link leads to them.
    private static let linkedFileLimit = 256
    /// How many links that lead nowhere are followed, one to the next.
    private static let linkDepth = 8
    /// How many levels may come into being while we look.
    private static let armingAttempts = 16
    private static let mask = UInt32(
        IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_CREATE | IN_DELETE | IN_DELETE_SELF | IN_MOVE_SELF
            | IN_ATTRIB | IN_ONLYDIR)
    private static let structureMask = UInt32(IN_CREATE | IN_DELETE | IN_MOVED_TO | IN_MOVED_FROM)
    private static let selfMask = UInt32(IN_DELETE_SELF | IN_MOVE_SELF | IN_IGNORED | IN_UNMOUNT)

    private let inotify: Int32
    private let folders: [String]
    private let log: Log
    private var interests: [Int32: Interest] = [:]

    init(inotify: Int32, folders: [String], log: Log) {
        self.inotify = inotify
        self.folders = folders
        self.log = log
    }

    /// Says what an event means.
    func take(_ event: InotifyEvent) -> InotifyEvents.Meaning {
        // The queue ran over: everything may have changed.
        if event.mask & UInt32(IN_Q_OVERFLOW) != 0 { return .structure(isRelevant: true) }
        guard let interest = interests[event.watch] else { return .nothing }
        if event.mask & Self.selfMask != 0 { return .structure(isRelevant: true) }
        let isRelevant = interest.isEverything || interest.names.contains(event.name)
        if event.mask & Self.structureMask != 0, isRelevant { return .structure(isRelevant: true) }
        return isRelevant ? .change : .nothing
    }

    /// Watches what there is to watch now, and nothing else; true if that was not the same before.
    @discardableResult
    mutating func arm() -> Bool {
        var wanted: [Int32: Interest] = [:]
        for folder in folders { arm(folder, into: &wanted) }
        for target in linkedFiles() {
            if let watch = add(target.folder) { wanted[watch, default: Interest()].names.insert(target.name) }
        }
        let before = Set(interests.keys)
        for watch in before where wanted[watch] == nil { inotify_rm_watch(inotify, watch) }
        interests = wanted
        return before != Set(wanted.keys)
    }

    /// Watches a folder, or the nearest one above it that exists.
    ///
    /// Where a symbolic link on the way leads nowhere, what it leads to is watched for, too: a synced folder that
    /// is not mounted yet.
    private func arm(_ folder: String, into wanted: inout [Int32: Interest], linksFollowed: Int = 0) {
        for _ in 0..<Self.armingAttempts {
            let place = Self.nearestFolder(to: folder)
            guard let watch = add(place.path) else { continue }
            if let missing = place.missing {
                wanted[watch, default: Interest()].names.insert(missing)
                let link = (place.path == "/" ? "" : place.path) + "/" + missing
                if linksFollowed < Self.linkDepth, let target = Self.target(of: link, in: place.path) {
                    let rest = folder.dropFirst(link.count)
                    arm(target + rest, into: &wanted, linksFollowed: linksFollowed + 1)
                }
            } else {
                wanted[watch, default: Interest()].isEverything = true
            }
            // The next level may have come into being before the watch was there.
            if Self.nearestFolder(to: folder).path == place.path { return }
        }
        log.debug("watch.failed", "a folder cannot be watched", .text("path", folder))
    }

    private func add(_ folder: String) -> Int32? {
        let watch = unsafe inotify_add_watch(inotify, folder, Self.mask)
        if watch >= 0 { return watch }
        let code = errno
        // It went away between the look and the call: the caller looks again.
        guard code != ENOENT, code != ENOTDIR else { return nil }
        log.debug(
            "watch.add.failed", "a folder cannot be watched", .text("path", folder),
            .count("errno", Int(code)))
        return nil
    }

    /// The deepest existing folder on the way to `path`, and the name that is missing in it.
    static func nearestFolder(to path: String) -> (path: String, missing: String?) {
        var present = path
        var missing: String?
        while present != "/", !isFolder(present) {
            let slash = present.lastIndex(of: "/") ?? present.startIndex
            missing = String(present[present.index(after: slash)...])
            present = slash == present.startIndex ? "/" : String(present[..<slash])
        }
        return (present, missing)
    }

    /// Where a symbolic link points to, as an absolute path, or nil if it is none.
    private static func target(of link: String, in folder: String) -> String? {
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX) + 1)
        let count = unsafe readlink(link, &buffer, buffer.count)
        guard count > 0 else { return nil }
        let target = String(decoding: buffer.prefix(count).map(UInt8.init(bitPattern:)), as: UTF8.self)
        return target.hasPrefix("/") ? target : folder + "/" + target
    }

    private static func isFolder(_ path: String) -> Bool {
        var status = stat()
        return unsafe stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    private struct LinkedFile {
        let folder: String
        let name: String
    }

    /// What symbolic links in the watched folders lead to: a linked file changes where it is (stow, chezmoi).
    private func linkedFiles() -> [LinkedFile] {
        var found: [LinkedFile] = []
        for folder in folders {
            guard let stream = unsafe opendir(folder) else { continue }
            defer { unsafe closedir(stream) }
            while found.count < Self.linkedFileLimit, let entry = unsafe readdir(stream) {
                guard unsafe entry.pointee.d_type == UInt8(DT_LNK) else { continue }
                let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                    unsafe pointer.withMemoryRebound(to: CChar.self, capacity: Int(NAME_MAX) + 1) {
                        unsafe String(cString: $0)
                    }
                }
                guard let target = Self.resolvedFile(folder + "/" + name),
                    let slash = target.lastIndex(of: "/")
                else { continue }
                found.append(
                    LinkedFile(
                        folder: slash == target.startIndex ? "/" : String(target[..<slash]),
                        name: String(target[target.index(after: slash)...])))
            }
        }
        return found
    }

    /// Where a link leads to, if a regular file is there: one to /dev/null masks a hook.
    private static func resolvedFile(_ path: String) -> String? {
        var status = stat()
        guard unsafe stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX) + 1)
        guard unsafe realpath(path, &buffer) != nil else { return nil }
        return String(decoding: buffer.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}
