package import HostsModel

/// Where records go, beside the ring: a terminal, a file of JSON lines, the journal.
package protocol LogSink: Sendable {
    /// Writes one record; must not block for long and never fails.
    func write(_ record: LogRecord)
}

/// Owns the levels, the ring and the sinks; hands out a `Log` per category.
package final class LogCenter: Sendable {
    /// How many records the ring holds.
    package static let ringCapacity = 8192

    /// How many records may wait for one watcher before it is dropped.
    package static let watcherBacklog = 1024

    struct State: Sendable {
        /// From which level on a category is handed to the sinks.
        var sinkLevels: [LogCategory: LogLevel]
        var ring: [LogRecord] = []
        var next = 0
        var sequence = 0
        var watchers: [Int: AsyncStream<LogRecord>.Continuation] = [:]
        var nextWatcher = 0
    }

    private let state: Locked<State>
    private let ringLevel: LogLevel
    private let sinks: [any LogSink]
    private let clock: any WallClock

    /// Makes a center.
    ///
    /// - Parameters:
    ///   - level: The least level that is kept in the ring, for every category.
    ///   - sinkLevel: The least level that is handed to the sinks; changed by `setSinkLevel`.
    ///   - sinks: Where records go beside the ring.
    ///   - clock: Where the time of a record comes from.
    package init(
        level: LogLevel = .debug, sinkLevel: LogLevel = .info, sinks: [any LogSink], clock: any WallClock
    ) {
        let levels = LogCategory.allCases.map { ($0, sinkLevel) }
        state = Locked(State(sinkLevels: Dictionary(uniqueKeysWithValues: levels)))
        ringLevel = level
        self.sinks = sinks
        self.clock = clock
    }

    /// The log of one category.
    package func log(_ category: LogCategory) -> Log { Log(center: self, category: category) }

    /// Changes from which level on a category is handed to the sinks; the ring keeps at least as much.
    package func setSinkLevel(_ level: LogLevel, for category: LogCategory) {
        state.withLock { $0.sinkLevels[category] = level }
    }

    func isKept(_ level: LogLevel, _ category: LogCategory) -> Bool {
        level >= ringLevel || state.withLock { level >= $0.sinkLevels[category] ?? ringLevel }
    }

    func record(
        _ level: LogLevel, _ category: LogCategory, _ event: String, _ message: String, _ fields: [LogField]
    ) {
        let time = clock.now
        let (record, watchers, isWritten) = state.withLock { state in
            state.sequence += 1
            let record = LogRecord(
                sequence: state.sequence, time: time, category: category, level: level, event: event,
                message: message, fields: fields)
            state.keep(record)
            return (record, Array(state.watchers), level >= state.sinkLevels[category] ?? ringLevel)
        }
        for (id, watcher) in watchers {
            if case .dropped = watcher.yield(record) { end(watcher: id) }
        }
        guard isWritten else { return }
        for sink in sinks { sink.write(record) }
    }

    /// The records in the ring that came after `sequence`, oldest first.
    package func records(after sequence: Int = 0) -> [LogRecord] {
        state.withLock { $0.records(after: sequence) }
    }

    /// The records in the ring and then every new one.
    ///
    /// The stream ends when the watcher falls `watcherBacklog` records behind, or when its task is cancelled.
    package func watch(after sequence: Int = 0) -> (past: [LogRecord], live: AsyncStream<LogRecord>) {
        let (stream, continuation) = AsyncStream<LogRecord>.makeStream(
            bufferingPolicy: .bufferingOldest(Self.watcherBacklog))
        let (past, id) = state.withLock { state in
            state.nextWatcher += 1
            state.watchers[state.nextWatcher] = continuation
            return (state.records(after: sequence), state.nextWatcher)
        }
        continuation.onTermination = { [weak self] _ in self?.forget(watcher: id) }
        return (past, stream)
    }

    private func end(watcher id: Int) {
        let continuation = state.withLock { $0.watchers.removeValue(forKey: id) }
        continuation?.finish()
    }

    private func forget(watcher id: Int) {
        _ = state.withLock { $0.watchers.removeValue(forKey: id) }
    }
}

extension LogCenter.State {
    mutating func keep(_ record: LogRecord) {
        if ring.count < LogCenter.ringCapacity {
            ring.append(record)
        } else {
            ring[next] = record
        }
        next = (next + 1) % LogCenter.ringCapacity
    }

    func records(after sequence: Int) -> [LogRecord] {
        let ordered = ring.count < LogCenter.ringCapacity ? ring[...] : ring[next...] + ring[..<next]
        return ordered.filter { $0.sequence > sequence }
    }
}

/// The log of one category; a value, cheap to copy.
package struct Log: Sendable {
    private let center: LogCenter
    private let category: LogCategory

    init(center: LogCenter, category: LogCategory) {
        self.center = center
        self.category = category
    }

    /// Records a fact.
    ///
    /// - Parameters:
    ///   - level: How much it matters.
    ///   - event: The stable name of the event.
    ///   - message: One line for people; made only if the line is kept.
    ///   - fields: The facts as typed values.
    package func record(
        _ level: LogLevel, _ event: StaticString, _ message: @autoclosure () -> String, _ fields: [LogField]
    ) {
        guard center.isKept(level, category) else { return }
        center.record(level, category, String(describing: event), message(), fields)
    }

    package func trace(_ event: StaticString, _ message: @autoclosure () -> String, _ fields: LogField...) {
        record(.trace, event, message(), fields)
    }

    package func debug(_ event: StaticString, _ message: @autoclosure () -> String, _ fields: LogField...) {
        record(.debug, event, message(), fields)
    }

    package func info(_ event: StaticString, _ message: @autoclosure () -> String, _ fields: LogField...) {
        record(.info, event, message(), fields)
    }

    package func notice(_ event: StaticString, _ message: @autoclosure () -> String, _ fields: LogField...) {
        record(.notice, event, message(), fields)
    }

    package func warning(_ event: StaticString, _ message: @autoclosure () -> String, _ fields: LogField...) {
        record(.warning, event, message(), fields)
    }

    package func error(_ event: StaticString, _ message: @autoclosure () -> String, _ fields: LogField...) {
        record(.error, event, message(), fields)
    }

    package func critical(_ event: StaticString, _ message: @autoclosure () -> String, _ fields: LogField...)
    {
        record(.critical, event, message(), fields)
    }
}
