import CLinux
import Glibc
import HostsPOSIX

/// A file descriptor with one owner; closed when the owner lets go of it.
struct Descriptor: ~Copyable, Sendable {
    let raw: Int32

    /// Takes over an open descriptor.
    init(owning raw: Int32) {
        self.raw = raw
    }

    deinit { close(raw) }

    /// Which end of a pipe stays in this process; that one is non-blocking.
    enum KeptEnd: Int32 {
        case read = 0
        case write = 1
    }

    /// The two ends of a pipe.
    struct Pipe: ~Copyable {
        let read: Descriptor
        let write: Descriptor

        /// Makes a pipe, both ends close-on-exec.
        init(keeping end: KeptEnd) throws(SystemError) {
            var ends: [Int32] = [-1, -1]
            let code = hosts_spawn_pipe(&ends, end.rawValue)
            guard code == 0 else { throw SystemError(code: code) }
            read = Descriptor(owning: ends[0])
            write = Descriptor(owning: ends[1])
        }
    }
}
