import FoundationEssentials
package import Glibc

/// A folder for one test, gone with everything in it when nobody holds it any more.
///
/// Its path is short, as sockets are made in it.
package final class TemporaryFolder: Sendable {
    /// Absolute, without a slash at the end.
    package let path: String

    /// Makes the folder, readable by its owner only.
    ///
    /// - Parameter parent: Where; not `/tmp` for what a host with a `/tmp` of its own must see.
    /// - Throws: When it cannot be made.
    package init(in parent: String = "/tmp") throws {
        var template = Array("\(parent)/hosts.XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw FixtureError("no temporary folder: errno \(errno)") }
        path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    deinit {
        // What cannot be removed is left to /tmp's own cleaning.
        do { try FileManager.default.removeItem(atPath: path) } catch {}
    }

    /// The path of something in the folder.
    package func path(_ name: String) -> String { path + "/" + name }

    /// Writes a file that only its owner can read.
    ///
    /// - Parameters:
    ///   - name: Relative to the folder.
    ///   - text: The whole content.
    ///   - mode: The permissions.
    /// - Returns: The path of the file.
    /// - Throws: When the system refuses; the test cannot go on.
    @discardableResult
    package func write(_ name: String, _ text: String, mode: mode_t = 0o600) throws -> String {
        let file = path(name)
        let descriptor = open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode)
        guard descriptor >= 0 else { throw FixtureError("\(file): errno \(errno)") }
        defer { close(descriptor) }
        var bytes = Array(text.utf8)[...]
        while !bytes.isEmpty {
            let count = bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            guard count > 0 else { throw FixtureError("\(file): errno \(errno)") }
            bytes = bytes.dropFirst(count)
        }
        guard chmod(file, mode) == 0 else { throw FixtureError("\(file): errno \(errno)") }
        return file
    }

    /// Reads a file as text.
    package func read(_ name: String) throws -> String {
        String(decoding: try Data(contentsOf: URL(fileURLWithPath: path(name))), as: UTF8.self)
    }

    /// Makes a folder in the folder.
    ///
    /// - Returns: Its path.
    @discardableResult
    package func makeFolder(_ name: String) throws -> String {
        guard mkdir(path(name), 0o700) == 0 else { throw FixtureError("\(path(name)): errno \(errno)") }
        return path(name)
    }
}
