import HostsConfig
import HostsLog
import HostsModel

/// Holds the configuration in force, and puts a new one in force when the folder has changed.
///
/// One reload runs at a time, so that what was read last is what is in force.
actor ConfigurationKeeper {
    /// What a reload has changed.
    struct Change: Hashable, Sendable {
        let configuration: Configuration
        var added: [HostID] = []
        var changed: [HostID] = []
        var removed: [HostID] = []
    }

    /// What has become wrong with one file.
    struct Fault: Hashable, Sendable {
        let file: String
        /// The host that the file belongs to, if it belongs to one.
        let host: HostID?
        /// The first error with its place, and how many more there are.
        let summary: String
    }

    /// How many files that become bad at once are told one by one; more have one cause, such as `limits.max_hosts`.
    private static let separateFaults = 5

    private(set) var current: Configuration
    /// Everything that is wrong with the configuration now, the rules of the agents included.
    private(set) var diagnostics: [Diagnostic] = []
    private let reader: ConfigurationReader
    private let clock: any MonotonicClock
    private let log: Log
    private let putInForce: @Sendable (Configuration) async -> Void
    private let tell: @Sendable (Fault) async -> Void
    private var presence = RecordPresence()
    private var ruleFaults: [Diagnostic] = []
    private var isFirst = true
    private var isReloading = false
    private var queue: [CheckedContinuation<Void, Never>] = []
    private var lookAgainWake: AsyncStream<Void>.Continuation?
    private var pendingLook: ContinuousClock.Instant?

    /// Makes a keeper with the defaults in force; `reload` reads the folder.
    ///
    /// - Parameters:
    ///   - reader: Of the folder.
    ///   - clock: For files that are missing for a moment.
    ///   - log: Of the category `config`.
    ///   - putInForce: Takes a configuration that differs from the last one.
    ///   - tell: Takes each fault once, when what it is about is in force already.
    init(
        reader: ConfigurationReader, clock: any MonotonicClock, log: Log,
        putInForce: @escaping @Sendable (Configuration) async -> Void,
        tell: @escaping @Sendable (Fault) async -> Void
    ) {
        current = Configuration()
        self.reader = reader
        self.clock = clock
        self.log = log
        self.putInForce = putInForce
        self.tell = tell
    }

    /// Reads the folder and puts what it says in force, before it returns.
    ///
    /// - Parameters:
    ///   - ruleFaults: What is wrong with the rules of the agents, if they were read anew.
    ///   - isAlwaysPutInForce: Also when nothing has changed since the last reading.
    ///   - names: Files of hosts that the daemon itself has put aside: gone without a wait.
    /// - Returns: What has changed.
    @discardableResult
    func reload(
        ruleFaults: [Diagnostic]? = nil, isAlwaysPutInForce: Bool = false, dismissing names: [String] = []
    ) async -> Change {
        await enter()
        defer { leave() }
        presence.dismiss(names)
        let decision = presence.observe(await reader.read(), now: clock.now)
        schedule(decision.lookAgainAt)
        let previous = current
        current = ConfigurationLoader.load(decision.snapshot).merging(lastGood: previous)
        if let ruleFaults { self.ruleFaults = ruleFaults }
        let faults = report()
        let new = current
        if new != previous || isFirst || isAlwaysPutInForce { await putInForce(new) }
        isFirst = false
        for fault in faults { await tell(fault) }
        return Self.compare(previous, new)
    }

    private func enter() async {
        if isReloading {
            await withCheckedContinuation { queue.append($0) }
        } else {
            isReloading = true
        }
    }

    private func leave() {
        if queue.isEmpty {
            isReloading = false
        } else {
            queue.removeFirst().resume()
        }
    }

    /// Reloads on every change of the folder, and when a missing file must be believed gone, until cancelled.
    ///
    /// - Parameters:
    ///   - reload: Reads the configuration, and what else stands in the folder.
    ///   - changes: Tells that something in the folder has changed.
    func run(reload: @escaping @Sendable () async -> Void, changes: AsyncStream<Void>) async {
        let (again, wake) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        lookAgainWake = wake
        await withDiscardingTaskGroup { group in
            group.addTask { for await _ in changes { await reload() } }
            group.addTask { for await _ in again { await self.waitAndReload() } }
            if pendingLook != nil { wake.yield() }
        }
    }

    private func schedule(_ instant: ContinuousClock.Instant?) {
        pendingLook = instant
        if instant != nil { lookAgainWake?.yield() }
    }

    private func waitAndReload() async {
        guard let instant = pendingLook else { return }
        do {
            try await clock.sleep(until: instant)
        } catch {
            return  // cancelled: the daemon stops
        }
        await reload()
    }

    /// What is wrong with the files of one host.
    func diagnostics(about host: HostID) -> [Diagnostic] {
        let names = ["/\(host).toml", "/\(host).override.toml"]
        return diagnostics.filter { diagnostic in names.contains { diagnostic.location.file.hasSuffix($0) } }
    }

    /// Logs what is wrong, once: when it is new, and when it is mended.
    ///
    /// - Returns: What to tell of the files that have errors they did not have before.
    private func report() -> [Fault] {
        let known = Set(diagnostics)
        diagnostics = (current.diagnostics + ruleFaults).sorted()
        for diagnostic in diagnostics where !known.contains(diagnostic) {
            let level: LogLevel =
                switch diagnostic.severity {
                case .error: .error
                case .warning: .warning
                case .info: .info
                }
            log.record(
                level, "config.diagnostic", "\(diagnostic.location): \(diagnostic.text)",
                [.text("severity", diagnostic.severity.rawValue), .text("file", diagnostic.location.file)])
        }
        if diagnostics.isEmpty, !known.isEmpty {
            log.notice("config.mended", "the configuration has no faults any more")
        }
        let errors = Dictionary(
            grouping: diagnostics.filter { $0.severity == .error }, by: \.location.file)
        let faults = errors.sorted { $0.key < $1.key }.compactMap { file, errors -> Fault? in
            guard errors.contains(where: { !known.contains($0) }) else { return nil }
            return Self.fault(of: file, errors)
        }
        guard let first = faults.first, faults.count > Self.separateFaults else { return faults }
        let summary = "\(faults.count) files have errors (see: hostsctl status); the first: \(first.summary)"
        return [Fault(file: first.file, host: nil, summary: summary)]
    }

    private static func fault(of file: String, _ errors: [Diagnostic]) -> Fault? {
        guard let first = errors.first else { return nil }
        let more = errors.count > 1 ? " (and \(errors.count - 1) more: hostsctl status)" : ""
        return Fault(
            file: file, host: host(of: file), summary: "\(first.location): \(first.text)\(more)")
    }

    private static func host(of file: String) -> HostID? {
        let parts = file.split(separator: "/")
        guard parts.count > 1, parts[parts.count - 2] == "hosts.d" else { return nil }
        switch RecordFileName(String(parts[parts.count - 1])) {
        case .record(let host), .override(let host): return host
        case .misspelt, .invalid, .conflictCopy, .ignored, .foreign: return nil
        }
    }

    private static func compare(_ old: Configuration, _ new: Configuration) -> Change {
        var change = Change(configuration: new)
        for (host, record) in new.records.sorted(by: { $0.key < $1.key }) {
            guard let before = old.records[host] else {
                change.added.append(host)
                continue
            }
            if before != record { change.changed.append(host) }
        }
        change.removed = old.records.keys.filter { new.records[$0] == nil }.sorted()
        return change
    }
}
