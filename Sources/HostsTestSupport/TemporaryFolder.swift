import FoundationEssentials
import Glibc

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
    package func write(_ name: String, _ text: String, mode: UInt32 = 0o600) throws -> String {
        let file = path(name)
        let descriptor = open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode)
        guard descriptor >= 0, fchmod(descriptor, mode) == 0 else {
            throw FixtureError("\(file): errno \(errno)")
        }
        defer { close(descriptor) }
        var bytes = Array(text.utf8)[...]
        while !bytes.isEmpty {
            let count = bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            guard count > 0 else { throw FixtureError("\(file): errno \(errno)") }
            bytes = bytes.dropFirst(count)
        }
        return file
    }

    /// Writes a file as editors do: a temporary file, then a rename over the old one.
    package func replace(_ name: String, _ text: String) throws {
        try write(name + ".tmp", text)
        try move(name + ".tmp", to: name)
    }

    /// Reads a file as text.
    package func read(_ name: String) throws -> String {
        String(decoding: try Data(contentsOf: URL(fileURLWithPath: path(name))), as: UTF8.self)
    }

    /// Makes a folder in the folder, with those that lead to it.
    ///
    /// - Returns: Its path.
    @discardableResult
    package func makeFolder(_ name: String) throws -> String {
        try FileManager.default.createDirectory(
            atPath: path(name), withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        return path(name)
    }

    /// Makes a symbolic link.
    package func link(_ name: String, to target: String) throws {
        try FileManager.default.createSymbolicLink(atPath: path(name), withDestinationPath: target)
    }

    /// Renames a file or a folder, over one of the other name if there is one.
    package func move(_ name: String, to other: String) throws {
        guard rename(path(name), path(other)) == 0 else { throw FixtureError("\(other): errno \(errno)") }
    }

    /// Removes a file, or a folder with everything in it.
    package func remove(_ name: String) throws {
        try FileManager.default.removeItem(atPath: path(name))
    }

    /// The names in a folder, in order.
    package func names(in folder: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: path(folder)).sorted()
    }

    /// The permissions of a file.
    package func mode(of name: String) throws -> UInt32 {
        var status = stat()
        guard stat(path(name), &status) == 0 else { throw FixtureError("\(name): errno \(errno)") }
        return status.st_mode & 0o7777
    }

    /// Changes the permissions of a file.
    package func setMode(_ mode: UInt32, of name: String) throws {
        guard chmod(path(name), mode) == 0 else { throw FixtureError("\(name): errno \(errno)") }
    }
}
