import HostsModel

/// What the links of a daemon share, whatever its settings are at the moment.
package final class LinkResources: Sendable {
    let loop: EventLoop
    let pool = WorkerPool()
    let gate: DialGate
    let unlockedKeys = UnlockedKeys()
    let jumpHosts: JumpHosts
    /// Chains that libssh2 cannot serve, with the reason.
    let opensshReasons = Locked<[[Destination]: String]>([:])

    /// Makes what is empty at first; one for the life of the daemon.
    ///
    /// - Parameter loop: Runs all links.
    package init(loop: EventLoop) {
        self.loop = loop
        gate = DialGate(loop: loop)
        jumpHosts = JumpHosts(loop: loop)
    }
}
