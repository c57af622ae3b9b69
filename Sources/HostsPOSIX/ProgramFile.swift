import Glibc

/// The file of the program that runs.
package enum ProgramFile {
    /// Its absolute path with every link resolved; empty where `/proc` is not mounted.
    package static var path: String {
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = unsafe readlink("/proc/self/exe", &buffer, buffer.count)
        return String(decoding: buffer.prefix(max(count, 0)).map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}
