import FoundationEssentials
import HostsLog
import HostsModel
import Synchronization

/// A folder that goes away with its owner.
final class TemporaryFolder: Sendable {
    let path: String

    init() throws {
        path = "/tmp/hostsd-test-" + UUID().uuidString.prefix(12)
        try makeFolder("")
    }

    deinit {
        do {
            try FileManager.default.removeItem(atPath: path)
        } catch {
            print("the folder \(path) stays: \(error)")
        }
    }

    func makeFolder(_ name: String) throws {
        try FileManager.default.createDirectory(atPath: path + "/" + name, withIntermediateDirectories: true)
    }

    /// Writes a file as editors do: a temporary file, then a rename.
    func replace(_ name: String, _ text: String) throws {
        let temporary = path + "/" + name + ".tmp"
        try Data(text.utf8).write(to: URL(filePath: temporary))
        _ = try FileManager.default.replaceItemAt(temporary: temporary, target: path + "/" + name)
    }

    func write(_ name: String, _ text: String) throws {
        try Data(text.utf8).write(to: URL(filePath: path + "/" + name))
    }

    func remove(_ name: String) throws {
        try FileManager.default.removeItem(atPath: path + "/" + name)
    }

    func move(_ name: String, to other: String) throws {
        try FileManager.default.moveItem(atPath: path + "/" + name, toPath: path + "/" + other)
    }
}

extension FileManager {
    /// rename(2); `moveItem` refuses to replace.
    fileprivate func replaceItemAt(temporary: String, target: String) throws {
        if fileExists(atPath: target) { try removeItem(atPath: target) }
        try moveItem(atPath: temporary, toPath: target)
    }
}

struct FixedWallClock: WallClock {
    var now: WallTime { WallTime(milliseconds: 0) }
}

func quietLog() -> Log {
    LogCenter(sinks: [], clock: FixedWallClock()).log(.config)
}
