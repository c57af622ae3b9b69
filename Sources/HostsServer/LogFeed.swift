package import HostsAPI
package import HostsLog

/// The log ring as the API shows it: what a `DaemonService` answers for its logs.
package struct LogFeed: Sendable {
    private let center: LogCenter

    package init(center: LogCenter) {
        self.center = center
    }

    /// The lines that a query asks for, oldest first.
    package func list(_ query: LogQuery) -> LogList {
        LogList(logs: Self.page(center.records(after: query.after ?? 0), query).map(LogView.init))
    }

    /// The lines that a query asks for, and then every new one that it includes.
    ///
    /// A place beyond the newest line belongs to an earlier run of the daemon: everything the ring holds is new then.
    package func watch(_ query: LogQuery) -> Watch<LogView> {
        let (all, stream) = center.watch(after: 0)
        let live = stream.filter { query.includes($0) }.map(LogView.init)
        guard let after = query.after else {
            return Watch(past: Self.page(all, query).map(LogView.init), live: live)
        }
        let isOfEarlierRun = after > (all.last?.sequence ?? 0)
        let rest = isOfEarlierRun ? all : all.filter { $0.sequence > after }
        let isCut = (all.first?.sequence ?? 1) > after + 1
        let past = Array(rest.filter { query.includes($0) })
        return Watch(past: past.map(LogView.init), live: live, isIncomplete: isOfEarlierRun || isCut)
    }

    private static func page(_ records: [LogRecord], _ query: LogQuery) -> [LogRecord] {
        let included = records.filter { query.includes($0) }
        return Array(query.after == nil ? included.suffix(query.limit) : included.prefix(query.limit))
    }
}

extension LogView {
    /// A record of the log in the form of the wire.
    package init(_ record: LogRecord) {
        var fields: [String: String] = [:]
        for field in record.fields { fields[field.name] = field.value.description }
        self.init(
            sequence: record.sequence, time: APITime(record.time), category: record.category.rawValue,
            level: record.level.rawValue, event: record.event, message: record.message, fields: fields)
    }
}
