package import HostsModel

/// One hook as `GET /v1/hooks` shows it.
package struct HookStatus: Hashable, Sendable {
    /// Whether it is run.
    package enum State: String, Hashable, Sendable {
        case ready
        /// It answered 78 and waits until the hooks are read anew.
        case misconfigured
        /// It cannot be run; `problem` says why.
        case unusable
    }

    /// Its file name.
    package let name: String
    package let path: String
    package let state: State
    /// What is wrong, and what to do.
    package let problem: String?
    package let history: HookHistory
    /// How many deliveries wait for it.
    package let pending: Int
    /// How many deliveries to it were given up.
    package let dead: Int
}

/// What the runs of a hook came to in this run of the daemon.
package struct HookHistory: Hashable, Sendable {
    package private(set) var runs = 0
    package private(set) var delivered = 0
    package private(set) var lastRun: WallTime?
    package private(set) var lastNote: String?
    /// What went wrong at the last run; nil when it delivered.
    package private(set) var lastFailure: String?

    package init() {}

    mutating func add(_ report: HookReport, at time: WallTime) {
        runs += 1
        if report.result == .delivered { delivered += 1 }
        lastRun = time
        lastNote = report.result.note
        lastFailure = report.result == .delivered ? nil : report.result.note
    }
}
