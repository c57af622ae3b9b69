package import HostsModel

/// The subject of a log line; the closed set of the whole program.
package enum LogCategory: String, Hashable, Sendable, CaseIterable {
    case daemon, config, hub, ssh, probe, detect, resume, background, attention, hook, api, history
}

/// How much a log line matters, ordered by who must act.
///
/// `critical` we stop; `error` the operator must act; `warning` handled but unusual; `notice` changes of hosts
/// and attention; `info` lifecycle; `debug` decisions with their inputs; `trace` every step.
package enum LogLevel: String, Hashable, Sendable, CaseIterable, Comparable {
    case trace, debug, info, notice, warning, error, critical

    private var rank: Int {
        switch self {
        case .trace: 0
        case .debug: 1
        case .info: 2
        case .notice: 3
        case .warning: 4
        case .error: 5
        case .critical: 6
        }
    }

    package static func < (left: LogLevel, right: LogLevel) -> Bool { left.rank < right.rank }
}

/// One typed fact beside the message.
///
/// Never a credential, key material or screen text.
package struct LogField: Hashable, Sendable {
    package enum Value: Hashable, Sendable {
        case text(String), integer(Int), number(Double), boolean(Bool)
    }

    package let name: String
    package let value: Value

    package init(_ name: String, _ value: Value) {
        self.name = name
        self.value = value
    }

    package static func host(_ host: HostID) -> LogField { LogField("host", .text(host.rawValue)) }
    package static func session(_ session: SessionID) -> LogField {
        LogField("session", .text(session.rawValue))
    }
    package static func token(_ token: Int) -> LogField { LogField("token", .integer(token)) }
    package static func took(_ duration: Duration) -> LogField { LogField("took", .number(duration.seconds)) }
    /// Text of our own or bounded, visible text of others.
    package static func text(_ name: String, _ text: String) -> LogField {
        LogField(name, .text(SafeText.visible(text, limit: 500)))
    }
    package static func count(_ name: String, _ count: Int) -> LogField { LogField(name, .integer(count)) }
    package static func flag(_ name: String, _ value: Bool) -> LogField { LogField(name, .boolean(value)) }
    package static func error(_ error: any Error) -> LogField { .text("error", String(describing: error)) }
    package static func link(_ error: LinkError) -> LogField { LogField("code", .text(error.code)) }
}

extension LogField.Value: CustomStringConvertible {
    package var description: String {
        switch self {
        case .text(let text): text
        case .integer(let number): String(number)
        case .number(let number): String((number * 1_000_000).rounded() / 1_000_000)
        case .boolean(let value): value ? "true" : "false"
        }
    }
}

/// One line of the log.
package struct LogRecord: Hashable, Sendable {
    /// Counts from 1 in one run of the daemon, without gaps.
    package let sequence: Int
    package let time: WallTime
    package let category: LogCategory
    package let level: LogLevel
    /// The stable name of the event, such as `host.connected`.
    package let event: String
    /// One line for people.
    package let message: String
    package let fields: [LogField]

    package init(
        sequence: Int, time: WallTime, category: LogCategory, level: LogLevel, event: String, message: String,
        fields: [LogField]
    ) {
        self.sequence = sequence
        self.time = time
        self.category = category
        self.level = level
        self.event = event
        self.message = message
        self.fields = fields
    }

    /// The host that the line is about, if any.
    package var host: String? { text("host") }

    /// The text of a field, if it has that name.
    package func text(_ name: String) -> String? {
        fields.first { $0.name == name }.map(\.value.description)
    }
}
