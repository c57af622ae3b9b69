import Glibc

/// Error numbers of the system in words.
enum SystemError {
    /// What `code` means, as in "Permission denied".
    static func text(_ code: Int32) -> String {
        var buffer = [CChar](repeating: 0, count: 256)
        // The POSIX variant is what Glibc's module imports: it fills the buffer.
        let failed = unsafe strerror_r(code, &buffer, buffer.count)
        guard failed == 0 else { return "error \(code)" }
        return String(decoding: buffer.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}
