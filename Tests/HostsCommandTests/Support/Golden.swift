import FoundationEssentials
import Testing

/// Whole outputs, kept as files beside the tests.
enum Golden {
    /// The folder of the package, with a slash at its end.
    private static let root = "/" + #filePath.split(separator: "/").dropLast(4).map { $0 + "/" }.joined()

    /// Compares a text with the golden file of that name.
    static func expect(_ text: String, _ name: String, at location: SourceLocation = #_sourceLocation) throws
    {
        try expect(text, file: "Tests/HostsCommandTests/Golden/\(name).txt", at: location)
    }

    /// Compares a text with a file of the package.
    ///
    /// With `HOSTS_RECORD_GOLDEN=1` it writes the file instead, to be looked at before it is committed.
    static func expect(_ text: String, file: String, at location: SourceLocation = #_sourceLocation) throws {
        let url = URL(filePath: root + file)
        if ProcessInfo.processInfo.environment["HOSTS_RECORD_GOLDEN"] == "1" {
            try Data(text.utf8).write(to: url)
            return
        }
        let expected = String(decoding: try Data(contentsOf: url), as: UTF8.self)
        #expect(text == expected, sourceLocation: location)
    }
}
