import Glibc

/// A call to the system that failed, with the number it gave.
package enum SystemFailure: Error, Hashable, Sendable {
    case call(String, code: Int32)
}

extension SystemFailure: CustomStringConvertible {
    package var description: String {
        switch self {
        case .call(let name, let code): "\(name) failed: \(Self.text(code))"
        }
    }

    private static func text(_ code: Int32) -> String {
        var buffer = [CChar](repeating: 0, count: 256)
        guard unsafe strerror_r(code, &buffer, buffer.count) == 0 else { return "error \(code)" }
        return String(decoding: buffer.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}
