import CLinux

/// What the kernel says about the other end of a connection (SO_PEERCRED).
package struct Peer: Hashable, Sendable {
    package let uid: UInt32
    package let pid: Int32

    package init(uid: UInt32, pid: Int32) {
        self.uid = uid
        self.pid = pid
    }
}

extension Peer {
    /// Asks who is at the other end of a connected Unix socket; nil if the kernel does not say.
    init?(of descriptor: Int32) {
        var credentials = hosts_peer()
        guard hosts_peer_credentials(descriptor, &credentials) == 0 else { return nil }
        self.init(uid: credentials.uid, pid: credentials.pid)
    }
}
