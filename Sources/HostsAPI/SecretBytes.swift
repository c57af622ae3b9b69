import Glibc

/// Bytes that nobody may find later, such as a passphrase: overwritten when nobody holds them any more.
///
/// They are never moved, and never become a `String`: what was copied cannot be overwritten. Equal only to
/// itself.
package final class SecretBytes: @unchecked Sendable {
    // Written before `init` returns and overwritten in `deinit`; in between it is only read.
    private let memory: UnsafeMutableRawBufferPointer
    package let count: Int
    private let release: @Sendable (UnsafeMutableRawBufferPointer) -> Void

    fileprivate init(
        _ memory: UnsafeMutableRawBufferPointer, count: Int,
        release: @escaping @Sendable (UnsafeMutableRawBufferPointer) -> Void
    ) {
        self.memory = memory
        self.count = count
        self.release = release
    }

    deinit {
        overwrite(memory)
        release(memory)
    }

    package var isEmpty: Bool { count == 0 }

    /// Lends the bytes; `body` keeps no copy of them, or overwrites it.
    package func withBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(UnsafeRawBufferPointer(rebasing: memory[..<count]))
    }

    /// Overwrites a copy that somebody had to make.
    ///
    /// - Parameter copy: Emptied. Where another holds the same array, only the caller's own bytes are meant.
    package static func erase(_ copy: inout [UInt8]) {
        copy.withUnsafeMutableBytes { overwrite($0) }
        copy = []
    }
}

/// Zeroes memory, even if nobody reads it afterwards.
private func overwrite(_ memory: UnsafeMutableRawBufferPointer) {
    guard let start = memory.baseAddress else { return }
    explicit_bzero(start, memory.count)
}

extension SecretBytes: Hashable {
    package static func == (left: SecretBytes, right: SecretBytes) -> Bool { left === right }

    package func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

extension SecretBytes {
    /// Collects bytes in memory of a fixed size; overwritten like what it makes.
    package final class Builder {
        private var memory: UnsafeMutableRawBufferPointer?
        private let release: @Sendable (UnsafeMutableRawBufferPointer) -> Void
        package private(set) var count = 0

        /// Makes an empty builder.
        ///
        /// - Parameters:
        ///   - capacity: In bytes; more is never taken, as growing would leave a copy behind.
        ///   - release: Gives the memory back, after it was overwritten.
        package init(
            capacity: Int,
            release: @escaping @Sendable (UnsafeMutableRawBufferPointer) -> Void = { $0.deallocate() }
        ) {
            memory = .allocate(byteCount: max(capacity, 1), alignment: 1)
            self.release = release
        }

        deinit {
            guard let memory else { return }
            overwrite(memory)
            release(memory)
        }

        /// Appends bytes.
        ///
        /// - Returns: Whether there was room; if not, nothing was taken.
        package func append(_ bytes: some Collection<UInt8>) -> Bool {
            guard let memory, bytes.count <= memory.count - count else { return false }
            for byte in bytes {
                memory[count] = byte
                count += 1
            }
            return true
        }

        /// Lets something write behind the bytes that are there.
        ///
        /// - Parameter body: Is given the room that is left; answers how many bytes it wrote there.
        package func fill(_ body: (UnsafeMutableRawBufferPointer) -> Int) {
            guard let memory else { return }
            let room = UnsafeMutableRawBufferPointer(rebasing: memory[count...])
            count += min(max(0, body(room)), room.count)
        }

        /// Hands the bytes over; the builder takes no more.
        package func finish() -> SecretBytes {
            guard let memory else { preconditionFailure("a builder is finished once") }
            self.memory = nil
            return SecretBytes(memory, count: count, release: release)
        }
    }

    /// Copies bytes that the caller overwrites, or that are no secret.
    package convenience init(copying bytes: some Collection<UInt8>) {
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: max(bytes.count, 1), alignment: 1)
        for (index, byte) in bytes.enumerated() { memory[index] = byte }
        self.init(memory, count: bytes.count, release: { $0.deallocate() })
    }
}
