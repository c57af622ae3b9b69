import Glibc

/// The rest of what a child is to read; gone when all is written, or when the child reads no more.
struct ChildInput: ~Copyable {
    private var descriptor: Descriptor?
    private var pending: ArraySlice<UInt8>

    init(_ descriptor: consuming Descriptor, bytes: [UInt8]) {
        pending = bytes[...]
        self.descriptor = bytes.isEmpty ? nil : consume descriptor
    }

    /// For `poll`: the descriptor, or -1 when nothing is left to write.
    var raw: Int32 { rawValue(of: descriptor) }

    /// Writes what the pipe takes without waiting.
    ///
    /// At the end, or when nobody reads, the pipe is closed: EOF.
    mutating func writeAvailable() {
        while raw >= 0 {
            let count = pending.withUnsafeBytes { write(raw, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            if count < 0, errno == EAGAIN { return }
            // EPIPE and every other failure: whether the child wanted its input is for its exit status to say.
            if count < 0 { return close() }
            pending = pending.dropFirst(count)
            if pending.isEmpty { return close() }
        }
    }

    private mutating func close() {
        descriptor = nil
    }
}

/// What a child writes, within a limit; more is read and dropped, so that the child never waits for us.
struct ChildOutput: ~Copyable {
    /// Read at one go, in bytes: the capacity of a pipe on Linux (pipe(7)).
    private static let chunk = 65_536

    private var descriptor: Descriptor?
    private let limit: Int
    private let keptEnd: ChildProcess.OutputEnd
    private(set) var kept: [UInt8] = []
    private(set) var isCut = false

    init(_ descriptor: consuming Descriptor, limit: Int, keeping keptEnd: ChildProcess.OutputEnd) {
        self.descriptor = consume descriptor
        self.limit = max(limit, 0)
        self.keptEnd = keptEnd
    }

    /// For `poll`: the descriptor, or -1 when it is at its end.
    var raw: Int32 { rawValue(of: descriptor) }

    /// Reads once, at most what a pipe holds.
    ///
    /// - Returns: Whether something was read, so that there may be more.
    mutating func readAvailable() -> Bool {
        let raw = raw
        guard raw >= 0 else { return false }
        var buffer = [UInt8](repeating: 0, count: Self.chunk)
        while true {
            let count = read(raw, &buffer, buffer.count)
            if count > 0 {
                keep(buffer[..<count])
                return true
            }
            if count < 0, errno == EINTR { continue }
            if count < 0, errno == EAGAIN { return false }
            descriptor = nil
            return false
        }
    }

    private mutating func keep(_ bytes: ArraySlice<UInt8>) {
        switch keptEnd {
        case .first:
            let room = limit - kept.count
            isCut = isCut || bytes.count > room
            kept += bytes.prefix(room)
        case .last:
            kept += bytes
            guard kept.count > limit else { return }
            isCut = true
            kept.removeFirst(kept.count - limit)
        }
    }
}

/// For `poll`, which skips negative numbers.
private func rawValue(of descriptor: borrowing Descriptor?) -> Int32 {
    switch descriptor {
    case .some(let descriptor): descriptor.raw
    case .none: -1
    }
}
