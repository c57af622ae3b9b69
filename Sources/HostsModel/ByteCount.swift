/// A number of bytes, so that a limit says its unit.
package struct ByteCount: Hashable, Comparable, Sendable {
    package let bytes: Int

    package static func bytes(_ count: Int) -> ByteCount { ByteCount(bytes: count) }
    package static func kibibytes(_ count: Int) -> ByteCount { ByteCount(bytes: count * 1024) }
    package static func mebibytes(_ count: Int) -> ByteCount { ByteCount(bytes: count * 1024 * 1024) }

    package static func < (left: ByteCount, right: ByteCount) -> Bool { left.bytes < right.bytes }
}

extension ByteCount: CustomStringConvertible {
    package var description: String {
        if bytes >= 1024 * 1024, bytes % (1024 * 1024) == 0 { return "\(bytes / (1024 * 1024)) MiB" }
        if bytes >= 1024, bytes % 1024 == 0 { return "\(bytes / 1024) KiB" }
        return "\(bytes) bytes"
    }
}
