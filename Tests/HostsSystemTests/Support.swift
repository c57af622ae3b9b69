import FoundationEssentials
import Glibc
import HostsLog
import HostsModel

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

    func write(_ name: String, _ text: String) throws {
        try Data(text.utf8).write(to: URL(filePath: path + "/" + name))
    }

    /// Writes a file as editors do: a temporary file, then a rename over the old one.
    func replace(_ name: String, _ text: String) throws {
        try write(name + ".tmp", text)
        try move(name + ".tmp", to: name)
    }

    func remove(_ name: String) throws {
        try FileManager.default.removeItem(atPath: path + "/" + name)
    }

    func move(_ name: String, to other: String) throws {
        guard rename(path + "/" + name, path + "/" + other) == 0 else { throw Failure(code: errno) }
    }

    func link(_ name: String, to target: String) throws {
        try FileManager.default.createSymbolicLink(atPath: path + "/" + name, withDestinationPath: target)
    }

    struct Failure: Error {
        let code: Int32
    }
}

struct FixedWallClock: WallClock {
    var now: WallTime { WallTime(milliseconds: 0) }
}

func quietLog() -> Log {
    LogCenter(sinks: [], clock: FixedWallClock()).log(.config)
}
