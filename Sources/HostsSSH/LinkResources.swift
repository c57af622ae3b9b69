/// What the links of a daemon share, whatever its settings are at the moment.
package final class LinkResources: Sendable {
    let loop: EventLoop
    let pool = WorkerPool()
    let jumpHosts: JumpHosts

    /// Makes what is empty at first; one for the life of the daemon.
    ///
    /// - Parameter loop: Runs all links.
    package init(loop: EventLoop) {
        self.loop = loop
        jumpHosts = JumpHosts(loop: loop)
    }
}
