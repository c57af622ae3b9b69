import HostsModel

/// What the links of a daemon share, whatever its settings are at the moment.
package final class LinkResources: Sendable {
    let loop: EventLoop
    let pool = WorkerPool()
    let blocking: BlockingCalls
    let gate: DialGate
    let unlockedKeys = UnlockedKeys()
    let jumpHosts: JumpHosts
    /// Chains that libssh2 cannot serve, with the reason.
    let opensshReasons = Locked<[[Destination]: String]>([:])
    /// What ssh said about destinations.
    package let destinations: DestinationCache

    /// Makes what is empty at first; one for the life of the daemon.
    ///
    /// - Parameters:
    ///   - loop: Runs all links.
    ///   - destinations: What was resolved before.
    package init(loop: EventLoop, destinations: DestinationCache = DestinationCache()) {
        self.loop = loop
        self.destinations = destinations
        blocking = BlockingCalls(loop: loop, pool: pool)
        gate = DialGate(loop: loop)
        jumpHosts = JumpHosts(loop: loop)
    }

    /// Whether a file that ssh reads as its configuration has changed since this was asked last.
    ///
    /// - Parameter timeout: For a file system that hangs.
    /// - Returns: Also true when that cannot be told in time: to dial once more in vain is the smaller harm.
    package func hasConfigurationChanged(within timeout: Duration) async -> Bool {
        let destinations = destinations
        do {
            return try await blocking.result(within: timeout) { destinations.takeChange() }
        } catch {
            return error != .cancelled
        }
    }
}
