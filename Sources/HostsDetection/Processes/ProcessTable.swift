/// The processes of one report, by pid, with their parents.
struct ProcessTable {
    /// Longest chain of parents that is followed.
    static let depthLimit = 64

    private let byPid: [Int32: ProcessRecord]
    /// In the order of the report.
    let processes: [ProcessRecord]

    init(_ processes: [ProcessRecord]) {
        self.processes = processes
        byPid = Dictionary(processes.map { ($0.pid, $0) }, uniquingKeysWith: { first, _ in first })
    }

    subscript(pid: Int32) -> ProcessRecord? { byPid[pid] }

    /// The parents of a process that are in the table, nearest first.
    ///
    /// Ends at a loop.
    func ancestors(of process: ProcessRecord) -> [ProcessRecord] {
        var result: [ProcessRecord] = []
        var seen: Set<Int32> = [process.pid]
        var parent = process.parent
        while result.count < Self.depthLimit, seen.insert(parent).inserted, let next = byPid[parent] {
            result.append(next)
            parent = next.parent
        }
        return result
    }
}

/// What tells a process from every other one between two starts of a host.
struct ProcessKey: Hashable, Sendable {
    let pid: Int32
    let startTime: String

    init(pid: Int32, startTime: String) {
        self.pid = pid
        self.startTime = startTime
    }

    init(_ process: ProcessRecord) {
        self.init(pid: process.pid, startTime: process.startTime)
    }
}
