import FoundationEssentials
import Testing

/// Whole outputs, kept as files beside the tests.
enum Golden {
    private static func path(_ name: String) -> String {
        let support = #filePath.split(separator: "/").dropLast(2).joined(separator: "/")
        return "/\(support)/Golden/\(name).txt"
    }

    /// Compares a text with the file of that name.
    ///
    /// With `HOSTS_RECORD_GOLDEN=1` it writes the file instead, to be
    /// looked at before it is committed.
    static func expect(_ text: String, _ name: String, at location: SourceLocation = #_sourceLocation) throws
    {
        if ProcessInfo.processInfo.environment["HOSTS_RECORD_GOLDEN"] == "1" {
            try Data(text.utf8).write(to: URL(filePath: path(name)))
            return
        }
        let expected = String(decoding: try Data(contentsOf: URL(filePath: path(name))), as: UTF8.self)
        #expect(text == expected, sourceLocation: location)
    }
}
