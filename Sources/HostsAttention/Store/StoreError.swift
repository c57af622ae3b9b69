import HostsModel
import HostsPOSIX

/// Why events cannot be stored; they are kept in memory and delivered meanwhile.
package enum StoreError: Error, Hashable, Sendable {
    /// No room is left on the file system.
    case full(path: String)
    /// The folder or file may not be used as a private one, or cannot be made. Carries the errno value.
    case inaccessible(path: String, code: Int32)
    /// The file is no database, or is damaged; it was set aside under the second path.
    case corrupt(path: String, setAside: String)
    /// The file was taken away or replaced while it was in use; a new one is begun.
    case removed(path: String)
    /// It was written by a newer hostsd.
    case newer(path: String, version: Int)
    /// Another process holds it, such as a second daemon.
    case busy(path: String)
    /// Anything else that SQLite says. Carries its extended result code.
    case failed(path: String, code: Int32, detail: String)
}

extension StoreError {
    /// A stable word for the API, the log and tests.
    package var code: String {
        switch self {
        case .full: "store.full"
        case .inaccessible: "store.inaccessible"
        case .corrupt: "store.corrupt"
        case .removed: "store.removed"
        case .newer: "store.newer"
        case .busy: "store.busy"
        case .failed: "store.failed"
        }
    }

    /// One line for people.
    package var message: String {
        switch self {
        case .full(let path): "no room to store events in \(SafeText.visible(path))"
        case .inaccessible(let path, let code):
            "\(SafeText.visible(path)) cannot be used: \(SystemError.text(code))"
        case .corrupt(let path, let aside):
            "\(SafeText.visible(path)) is damaged and was set aside as \(SafeText.visible(aside))"
        case .removed(let path):
            "\(SafeText.visible(path)) was taken away or replaced while hostsd was using it"
        case .newer(let path, let version):
            "\(SafeText.visible(path)) was written by a newer hostsd (schema \(version))"
        case .busy(let path): "\(SafeText.visible(path)) is in use by another process"
        case .failed(let path, let code, let detail):
            "\(SafeText.visible(path)): \(SafeText.visible(detail)) (SQLite \(code))"
        }
    }

    /// What the person can do.
    package var help: String {
        switch self {
        case .full: "free some space; hostsd stores what it holds in memory as soon as it can"
        case .inaccessible(let path, _):
            "it must be yours and writable: ls -ld \(SafeText.visible(path))"
        case .corrupt: "a new one is begun; to read the old one: sqlite3 FILE .recover"
        case .removed: "a new one is begun with the newest events; stop hostsd before you move its files"
        case .newer: "run the newer hostsd, or move the file away"
        case .busy: "is a second hostsd running? see: hostsctl status"
        case .failed(let path, _, _): "check the file system of \(SafeText.visible(path))"
        }
    }
}
