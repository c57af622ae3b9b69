/// What a person can do for a host that waits for them: accept its key, give a passphrase.
///
/// Independent of the hub: none of it makes or ends a link.
package protocol HostAccess: Sendable {
    /// Asks the host, or the first host on the way to it that is not trusted, for its key.
    ///
    /// Makes one connection, which ends before anything is said about the user.
    ///
    /// - Parameter record: The host.
    /// - Returns: The key that the server has proven to hold, and what the known_hosts files say about it.
    /// - Throws: What keeps the server from showing a key.
    func hostKey(of record: HostRecord) async throws(LinkError) -> HostKeyOffer

    /// Asks again, and adds the key to known_hosts if it has the fingerprint that the person has accepted.
    ///
    /// - Parameters:
    ///   - record: The host.
    ///   - fingerprint: As `ssh-keygen -l` shows it: `SHA256:…`.
    /// - Returns: The key, with the verdict that the files had before: `.unknown` where it was added now,
    ///   `.known` where they are unchanged.
    /// - Throws: `HostAccessError`.
    func trust(_ record: HostRecord, fingerprint: String) async throws(HostAccessError) -> HostKeyOffer

    /// Reads the keys of the host that have a passphrase and keeps those that it opens, until the daemon stops.
    ///
    /// - Parameters:
    ///   - record: The host.
    ///   - passphrase: Erased by the caller afterwards.
    /// - Returns: The paths of the keys that it opened, never empty; as in `LinkError.keyNeedsPassphrase`.
    /// - Throws: `HostAccessError`.
    func unlock(_ record: HostRecord, passphrase: [UInt8]) async throws(HostAccessError) -> [String]
}

/// A host key that a server shows, and what the person's files say about it.
package struct HostKeyOffer: Hashable, Sendable {
    package enum Verdict: Hashable, Sendable {
        case known
        case unknown
        /// The files hold another key of the same type.
        case changed(expected: String, file: String)
        case revoked
    }

    /// The name in known_hosts, such as `[devbox.example]:2222`; of a jump host where that is not trusted yet.
    package let host: String
    /// Such as `ssh-ed25519`.
    package let type: String
    /// `SHA256:…`.
    package let fingerprint: String
    package let verdict: Verdict
    /// The file that the key is added to.
    package let file: String

    package init(host: String, type: String, fingerprint: String, verdict: Verdict, file: String) {
        self.host = host
        self.type = type
        self.fingerprint = fingerprint
        self.verdict = verdict
        self.file = file
    }
}

/// Why a person's help was not taken.
package enum HostAccessError: Error, Hashable, Sendable {
    case link(LinkError)
    /// The server shows another key than the one that was accepted.
    case otherKey(HostKeyOffer)
    /// A changed or revoked key is never added.
    case refused(HostKeyOffer)
    case fileNotWritten(path: String, detail: String)
    /// Nothing of this host has a passphrase that is not open already.
    case nothingLocked
    case wrongPassphrase(paths: [String])
}
