import Glibc

/// An error of the system: an errno value, on its way to the error that says what was tried.
package struct SystemError: Error, Hashable, Sendable {
    package let code: Int32

    package init(code: Int32) {
        self.code = code
    }

    /// What an errno value means, as in "Permission denied"; safe to call from any thread.
    package static func text(_ code: Int32) -> String {
        var buffer = [CChar](repeating: 0, count: 256)
        // The POSIX variant is what Glibc's module imports: it fills the buffer, and answers 0 when it has.
        guard unsafe strerror_r(code, &buffer, buffer.count) == 0 else { return "error \(code)" }
        return String(decoding: buffer.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}

extension SystemError: CustomStringConvertible {
    package var description: String { Self.text(code) }
}
