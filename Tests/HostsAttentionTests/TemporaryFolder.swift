import FoundationEssentials
import Glibc
import Testing

/// A folder for one test, removed with everything in it afterwards.
final class TemporaryFolder: Sendable {
    let path: String

    init() throws {
        path = "/tmp/hostsd-test-" + UUID().uuidString
        try #require(mkdir(path, 0o700) == 0)
    }

    deinit {
        do { try FileManager.default.removeItem(atPath: path) } catch { Issue.record(error) }
    }

    /// Writes a file with exactly this mode.
    func write(_ name: String, _ text: String, mode: mode_t) throws -> String {
        let file = path + "/" + name
        let descriptor = open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        try #require(descriptor >= 0)
        let bytes = Array(text.utf8)
        let count = bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
        close(descriptor)
        try #require(count == bytes.count)
        try #require(chmod(file, mode) == 0)
        return file
    }
}
