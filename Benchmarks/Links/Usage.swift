import FoundationEssentials
import Glibc

/// What this process has used so far.
struct Usage {
    let cpu: Duration
    /// How often a thread had to be woken (voluntary context switches, getrusage(2)).
    let switches: Int
    /// Memory that no other process shares (proc(5), smaps_rollup).
    let privateBytes: Int

    static var now: Usage {
        var usage = rusage()
        getrusage(RUSAGE_SELF.rawValue, &usage)
        return Usage(
            cpu: cpu(usage), switches: usage.ru_nvcsw, privateBytes: privateBytes(of: getpid()))
    }

    /// CPU time of the children that have ended.
    static var children: Duration {
        var usage = rusage()
        getrusage(RUSAGE_CHILDREN.rawValue, &usage)
        return cpu(usage)
    }

    static func privateBytes(of pid: pid_t) -> Int {
        guard let data = FileManager.default.contents(atPath: "/proc/\(pid)/smaps_rollup") else { return 0 }
        let lines = String(decoding: data, as: UTF8.self).split(separator: "\n")
        let sizes = lines.filter { $0.hasPrefix("Private_") }.compactMap { line in
            line.split(separator: " ").dropFirst().first.flatMap { Int($0) }
        }
        return sizes.reduce(0, +) * 1024
    }

    private static func cpu(_ usage: rusage) -> Duration {
        func duration(_ time: timeval) -> Duration {
            .seconds(time.tv_sec) + .microseconds(Int64(time.tv_usec))
        }
        return duration(usage.ru_utime) + duration(usage.ru_stime)
    }
}

/// What one of many looks has cost.
struct Cost {
    let cpu: Duration
    let wall: Duration
    let wakeUps: Double

    /// Runs `body`, which does something `count` times.
    static func of(_ count: Int, _ body: () async throws -> Void) async throws -> Cost {
        let start = Usage.now
        let clock = ContinuousClock.now
        try await body()
        let wall = ContinuousClock.now - clock
        let end = Usage.now
        return Cost(
            cpu: (end.cpu - start.cpu) / count, wall: wall / count,
            wakeUps: Double(end.switches - start.switches) / Double(count))
    }
}
