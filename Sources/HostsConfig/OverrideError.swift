package import HostsModel
import HostsPOSIX

/// Why an override was not written; the file is then as it was before.
package enum OverrideError: Error, Hashable, Sendable {
    case noSuchHost(HostID, folder: String)
    /// A name that no host can have.
    case badName(String)
    case hostExists(HostID, path: String)
    /// An override without a record lies where the new host would find it.
    case overrideLeft(path: String)
    /// `limits.max_hosts` counts disabled hosts, too.
    case tooManyHosts(count: Int, limit: Int)
    /// The machine itself, which is a host as long as there is no record.
    case implicitHost(HostID)
    case tooManyAside(path: String, limit: Int)
    /// The record or the override cannot be read as it is.
    case broken(Diagnostic)
    /// The value is not one that a record may have.
    case badValue(Diagnostic)
    /// The override holds something that a change of one key would break.
    case cannotEdit(path: String, key: String)
    case readOnly(path: String)
    /// The folder of records is missing, and cannot be made.
    case noFolder(path: String, reason: String)
    case notPermitted(path: String)
    case notOwned(path: String, owner: UInt32)
    case diskFull(path: String)
    /// Another hostsctl or the daemon held the lock for too long.
    case locked(path: String)
    case failed(path: String, step: String, code: Int32)
}

extension OverrideError {
    /// A stable word for the API, the log and tests.
    package var code: String {
        switch self {
        case .noSuchHost: "host.unknown"
        case .badName: "host.bad-name"
        case .hostExists: "host.exists"
        case .overrideLeft: "config.override-left"
        case .tooManyHosts: "limits.max-hosts"
        case .implicitHost: "host.implicit"
        case .tooManyAside: "config.too-many-aside"
        case .broken: "config.broken"
        case .badValue: "config.bad-value"
        case .cannotEdit: "config.cannot-edit"
        case .readOnly: "config.read-only"
        case .noFolder: "config.no-folder"
        case .notPermitted: "config.not-permitted"
        case .notOwned: "config.not-owned"
        case .diskFull: "config.disk-full"
        case .locked: "config.locked"
        case .failed: "config.write-failed"
        }
    }
}

extension OverrideError: CustomStringConvertible {
    /// What is wrong, with the path, and what to do.
    package var description: String {
        switch self {
        case .noSuchHost(let host, let folder): "there is no host \(host): \(folder) has no \(host).toml"
        case .badName(let name): "\"\(name)\" is no host name (\(RecordFileName.allowed))"
        case .hostExists(let host, let path): "there is a host \(host) already: \(path)"
        case .overrideLeft(let path):
            "\(path) is left of another host and would change the new one: delete it, or give it another name"
        case .tooManyHosts(let count, let limit):
            "there are \(count) hosts, disabled ones included, and limits.max_hosts is \(limit): "
                + "remove one, or raise the limit in hostsd.toml"
        case .implicitHost(let host):
            "\(host) is this machine and has no record that could be removed: disable it"
        case .tooManyAside(let path, let limit):
            "there are \(limit) removed files of the name \(path)\(RecordFileName.asideSuffix): delete some"
        case .broken(let diagnostic):
            "\(diagnostic.location): \(diagnostic.text); correct the file, or delete it if it is an override"
        case .badValue(let diagnostic): diagnostic.text
        case .cannotEdit(let path, let key): "\(path) cannot be changed by program: set \(key) there by hand"
        case .readOnly(let path):
            "\(path) is on a read-only file system: change the record where it is made, or use --config-dir"
        case .noFolder(let path, let reason): "the folder \(path) cannot be made: \(reason)"
        case .notPermitted(let path):
            "\(path) cannot be written to: give yourself write permission to its folder"
        case .notOwned(let path, let owner):
            "\(path) belongs to user \(owner): change its owner, or edit it as that user"
        case .diskFull(let path): "there is no space left for \(path): free some and try again"
        case .locked(let path): "another program holds the lock \(path): try again when it is done"
        case .failed(let path, let step, let code): "\(path): \(step) failed: \(SystemError.text(code))"
        }
    }
}
