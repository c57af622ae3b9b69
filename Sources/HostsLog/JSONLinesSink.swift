import FoundationEssentials
import Glibc
import HostsModel

/// Log lines for programs: one JSON object per line, with the members of the API's log lines and typed fields.
package struct JSONLinesSink: LogSink {
    private let writer: LineWriter

    /// Makes a sink.
    ///
    /// - Parameter descriptor: Where the lines go; stays open for as long as the sink lives.
    package init(descriptor: Int32) {
        writer = LineWriter(descriptor: descriptor) {
            #"{"category":"daemon","event":"log.lost","lines":\#($0)}"#
        }
    }

    package func write(_ record: LogRecord) {
        writer.write(Self.line(record))
    }

    /// The line of a record, without its newline, always whole JSON.
    static func line(_ record: LogRecord) -> String {
        let line = encoded(Line(record, fields: record.fields))
        guard line.utf8.count >= LineWriter.lineLimit else { return line }
        // Too long to be written whole: the fields go, and the message is bounded. A character has at most nine
        // bytes here (`\\u{202e}`), so 300 of them fit.
        return encoded(Line(record, fields: [LogField("truncated", .boolean(true))], messageLimit: 300))
    }

    private static func encoded(_ line: Line) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.nonConformingFloatEncodingStrategy = .convertToString(
            positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
        do {
            return String(decoding: try encoder.encode(line), as: UTF8.self)
        } catch {
            preconditionFailure("a log line has only members that JSON knows: \(error)")
        }
    }
}

/// The object of one line.
private struct Line: Encodable {
    struct Key: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }
        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    let sequence: Int
    let time: String
    let category: String
    let level: String
    let event: String
    let message: String
    let fields: Fields

    init(_ record: LogRecord, fields: [LogField], messageLimit: Int = TerminalSink.messageLimit) {
        sequence = record.sequence
        time = record.time.rfc3339
        category = record.category.rawValue
        level = record.level.rawValue
        event = record.event
        message = SafeText.visible(record.message, limit: messageLimit)
        self.fields = Fields(fields: fields)
    }

    struct Fields: Encodable {
        let fields: [LogField]

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Key.self)
            for field in fields {
                let key = Key(stringValue: field.name)
                switch field.value {
                case .text(let text): try container.encode(text, forKey: key)
                case .integer(let number): try container.encode(number, forKey: key)
                case .number(let number): try container.encode(number, forKey: key)
                case .boolean(let value): try container.encode(value, forKey: key)
                }
            }
        }
    }
}
