import CSSH
import Glibc
import HostsModel

/// The keys whose passphrase a person has given, until the daemon stops.
///
/// Their private parts lie in memory that is never written to swap or to a core dump.
final class UnlockedKeys: Sendable {
    /// Most keys at once; the limit on locked memory is small (RLIMIT_MEMLOCK).
    static let limit = 64

    /// What a passphrase did to one key file.
    enum Outcome: Hashable, Sendable {
        case opened
        case wrongPassphrase
        /// It has none, is missing, or cannot be used in any case.
        case notLocked
        case failed(detail: String)
    }

    /// Tells one content of a file from another.
    private struct Stamp: Hashable, Sendable {
        let device: UInt
        let inode: UInt
        let size: Int
        let seconds: Int
        let nanoseconds: Int

        /// Nil when there is no file.
        init?(_ path: String) {
            var status = stat()
            guard unsafe stat(path, &status) == 0 else { return nil }
            device = UInt(status.st_dev)
            inode = UInt(status.st_ino)
            size = Int(status.st_size)
            seconds = status.st_mtim.tv_sec
            nanoseconds = status.st_mtim.tv_nsec
        }
    }

    private struct Entry: Sendable {
        let key: PrivateKey
        let publicKey: PublicKey
        let stamp: Stamp
    }

    private let entries = Locked<[String: Entry]>([:])

    /// Opens a key file.
    ///
    /// Blocks on the file, and computes for 0.2 s and more.
    ///
    /// - Parameters:
    ///   - path: Of the private key.
    ///   - passphrase: Erased by the caller afterwards.
    /// - Returns: What came of it; an open key is kept.
    func unlock(_ path: String, passphrase: [UInt8]) -> Outcome {
        guard let stamp = Stamp(path) else { return .notLocked }
        var raw: OpaquePointer?
        let status = unsafe hosts_key_unlock(path, passphrase, passphrase.count, &raw)
        guard status == HOSTS_KEY_OK, let raw = unsafe raw else { return Self.outcome(status) }
        let key = unsafe PrivateKey(owning: raw)
        guard let publicKey = key.publicPart else { return .failed(detail: "it has no public part") }
        let isKept = entries.withLock { entries in
            guard entries.count < Self.limit || entries[path] != nil else { return false }
            entries[path] = Entry(key: key, publicKey: publicKey, stamp: stamp)
            return true
        }
        return isKept ? .opened : .failed(detail: "\(Self.limit) keys are open already")
    }

    /// The open key of a file, unless the file has changed since.
    ///
    /// Blocks on the file system.
    func key(_ path: String) -> (PrivateKey, PublicKey)? {
        guard let entry = entries.withLock({ $0[path] }) else { return nil }
        guard entry.stamp == Stamp(path) else {
            entries.withLock { $0[path] = nil }
            return nil
        }
        return (entry.key, entry.publicKey)
    }

    private static func outcome(_ status: hosts_key_status) -> Outcome {
        switch status {
        case HOSTS_KEY_WRONG_PASSPHRASE: .wrongPassphrase
        case HOSTS_KEY_NO_LOCKED_MEMORY:
            .failed(detail: "no memory can be kept out of swap (see ulimit -l, LimitMEMLOCK=)")
        case HOSTS_KEY_TOO_COSTLY:
            .failed(detail: "its passphrase was made too costly to check (ssh-keygen -a)")
        case HOSTS_KEY_NO_MEMORY: .failed(detail: "there is no memory to read it")
        default: .notLocked
        }
    }
}
