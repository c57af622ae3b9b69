import FoundationEssentials

/// A configuration in a folder of its own, which goes away with it.
final class TemporaryFolder: Sendable {
    let path: String

    init() throws {
        path = "/tmp/hostsd-test-" + UUID().uuidString.prefix(12)
        for folder in ["", "/config", "/config/hosts.d", "/run"] {
            try FileManager.default.createDirectory(
                atPath: path + folder, withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700])
        }
    }

    deinit {
        do {
            try FileManager.default.removeItem(atPath: path)
        } catch {
            print("the folder \(path) stays: \(error)")
        }
    }

    func write(_ name: String, _ text: String) throws {
        try Data(text.utf8).write(to: URL(filePath: path + "/" + name))
    }

    func read(_ name: String) throws -> String {
        String(decoding: try Data(contentsOf: URL(filePath: path + "/" + name)), as: UTF8.self)
    }

    func link(_ name: String, to target: String) throws {
        try FileManager.default.createSymbolicLink(atPath: path + "/" + name, withDestinationPath: target)
    }

    func names(in folder: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: path + "/" + folder).sorted()
    }

    func setAttributes(_ attributes: [FileAttributeKey: Any], of name: String) throws {
        try FileManager.default.setAttributes(attributes, ofItemAtPath: path + "/" + name)
    }

    func mode(of name: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: path + "/" + name)[.posixPermissions] as? Int
    }
}
