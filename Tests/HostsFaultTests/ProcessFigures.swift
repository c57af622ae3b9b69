import FoundationEssentials
import Glibc
import HostsModel

/// Figures of this process.
enum ProcessFigures {
    /// Processor time of all threads so far.
    static var processorTime: Duration {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }

    /// Open descriptors.
    static var descriptors: Int {
        get throws { try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count }
    }

    /// Resident memory in KiB (proc(5), statm).
    static var residentKibibytes: Int {
        get throws {
            let text = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8)
            let pages = text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
            return pages * Int(getpagesize()) / 1024
        }
    }

    /// Children that have ended and that nobody has asked for.
    static var zombies: Int {
        get throws {
            // A child belongs to the thread that started it.
            let tasks = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")
            let children = tasks.flatMap { task in
                do {
                    return try String(contentsOfFile: "/proc/self/task/\(task)/children", encoding: .utf8)
                        .split(separator: " ")
                } catch {
                    // The thread is gone, and its children belong to another.
                    return []
                }
            }
            return children.count { pid in
                do {
                    let stat = try String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8)
                    return stat.split(separator: ")").last?.hasPrefix(" Z") ?? false
                } catch {
                    return false
                }
            }
        }
    }

    /// Waits until the number of descriptors no longer changes: closes are on their way on other threads.
    static func settledDescriptors() async throws -> Int {
        var last = try descriptors
        var quiet = 0
        while quiet < 20 {
            try await ContinuousClock().sleep(for: .milliseconds(10))
            let count = try descriptors
            quiet = count == last ? quiet + 1 : 0
            last = count
        }
        return last
    }
}
