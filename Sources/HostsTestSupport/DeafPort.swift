import Glibc

/// A loopback port at which nothing happens: SYNs are dropped, as by a host that is switched off.
///
/// Its socket listens, but nobody accepts, and its queue of one is full: Linux then drops every further SYN.
package final class DeafPort: Sendable {
    package let port: UInt16
    private let listener: Int32
    private let guest: Int32

    /// Takes a free port.
    package init() throws {
        (listener, port) = try LoopbackPort.listen()
        Glibc.listen(listener, 0)
        do { guest = try LoopbackPort.connect(port: port) } catch {
            close(listener)
            throw error
        }
    }

    deinit {
        close(guest)
        close(listener)
    }
}
