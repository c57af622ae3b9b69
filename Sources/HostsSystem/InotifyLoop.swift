import Glibc
import HostsLog

/// Waits for inotify events on a thread of its own; owns its descriptors until `run` or `close` ends.
struct InotifyLoop: Sendable {
    /// Room for some hundred events; the kernel keeps the rest until the next read.
    private static let bufferSize = 16_384

    private let inotify: Int32
    /// Becomes readable when the other end is closed.
    private let stop: Int32
    private let folders: [String]
    private let log: Log

    /// Opens the descriptors.
    ///
    /// - Returns: The loop, and the descriptor whose closing ends it.
    static func make(folders: [String], log: Log) throws(SystemFailure) -> (InotifyLoop, stop: Int32) {
        let inotify = inotify_init1(Int32(IN_CLOEXEC) | Int32(IN_NONBLOCK))
        guard inotify >= 0 else { throw .call("inotify_init1", code: errno) }
        var ends: [Int32] = [-1, -1]
        guard unsafe pipe(&ends) == 0 else {
            let code = errno
            Glibc.close(inotify)
            throw .call("pipe", code: code)
        }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        return (InotifyLoop(inotify: inotify, stop: ends[0], folders: folders, log: log), ends[1])
    }

    /// Gives the descriptors up without running.
    func close() {
        Glibc.close(inotify)
        Glibc.close(stop)
    }

    /// Waits and tells, until the other end of `stop` is closed.
    func run(onChange: () -> Void) {
        defer { close() }
        var table = WatchTable(inotify: inotify, folders: folders, log: log)
        table.arm()
        // Whatever happened between the first reading of the folders and now is found by another reading.
        onChange()
        while waitForEvents() {
            var changes = InotifyEvents()
            while let bytes = readEvents() { changes.add(bytes) { table.take($0) } }
            if changes.mustArm, table.arm() { changes.isRelevant = true }
            if changes.isRelevant { onChange() }
        }
    }

    /// False when the loop is to end.
    private func waitForEvents() -> Bool {
        var descriptors = [
            pollfd(fd: inotify, events: Int16(POLLIN), revents: 0),
            pollfd(fd: stop, events: Int16(POLLIN), revents: 0),
        ]
        while true {
            let count = unsafe poll(&descriptors, nfds_t(descriptors.count), -1)
            if count < 0, errno == EINTR { continue }
            return count > 0 && descriptors[1].revents == 0
        }
    }

    private func readEvents() -> [UInt8]? {
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: Self.bufferSize) { buffer, count in
            count = max(unsafe read(inotify, buffer.baseAddress, buffer.count), 0)
        }
        return bytes.isEmpty ? nil : bytes
    }
}

/// One event of inotify, as far as it matters here.
struct InotifyEvent: Hashable, Sendable {
    let watch: Int32
    let mask: UInt32
    /// The entry of the folder; empty for an event of the folder itself.
    let name: String
}

/// What a batch of events asks for.
struct InotifyEvents {
    /// What the event of one watch means.
    enum Meaning: Hashable, Sendable {
        case nothing
        /// An entry has changed.
        case change
        /// An entry came or went: what is watched may have to change with it.
        case structure(isRelevant: Bool)
    }

    var isRelevant = false
    private(set) var mustArm = false

    /// Takes the bytes of one read apart (inotify(7): a header of 16 bytes, then a padded name).
    mutating func add(_ bytes: [UInt8], meaning: (InotifyEvent) -> Meaning) {
        let headerSize = 16
        unsafe bytes.withUnsafeBytes { buffer in
            var offset = 0
            while offset + headerSize <= buffer.count {
                let watch = unsafe buffer.loadUnaligned(fromByteOffset: offset, as: Int32.self)
                let mask = unsafe buffer.loadUnaligned(fromByteOffset: offset + 4, as: UInt32.self)
                let length = Int(unsafe buffer.loadUnaligned(fromByteOffset: offset + 12, as: UInt32.self))
                let end = min(offset + headerSize + length, buffer.count)
                let name = unsafe buffer[(offset + headerSize)..<end].prefix { $0 != 0 }
                let event = unsafe InotifyEvent(
                    watch: watch, mask: mask, name: String(decoding: name, as: UTF8.self))
                switch meaning(event) {
                case .nothing: break
                case .change: isRelevant = true
                case .structure(let isRelevant):
                    mustArm = true
                    if isRelevant { self.isRelevant = true }
                }
                offset = end
            }
        }
    }
}
