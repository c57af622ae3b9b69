import Foundation
import HostsModel
import Testing

@testable import HostsLog

@Suite struct SinkTests {
    static func record(_ message: String, _ fields: [LogField] = [], level: LogLevel = .notice) -> LogRecord {
        LogRecord(
            sequence: 7, time: WallTime(milliseconds: 1_796_068_800_123), category: .hub, level: level,
            event: "host.online", message: message, fields: fields)
    }

    @Test func `a line for people has time, level, category, host, message and facts`() {
        let record = Self.record(
            "online again",
            [
                LogField("host", .text("devbox")), .token(3), .text("peer", "a \"b\""), .flag("late", true),
                .took(.milliseconds(1500)), .text("empty", ""),
            ])
        let line = TerminalSink.line(record, time: "21:04:05.123", isColored: false)
        #expect(
            line
                == #"21:04:05.123 notice   hub        devbox: online again  token=3 peer="a \"b\"" late=true took=1.5 empty="""#
        )
    }

    @Test func `control characters of others are made visible`() {
        let line = TerminalSink.line(
            Self.record("a\u{1b}[31mb\nc", [LogField("x", .text("\u{202e}y"))]), time: "t", isColored: false)
        #expect(line == "t notice   hub        a\\u{1b}[31mb c  x=\\u{202e}y")
        #expect(!JSONLinesSink.line(Self.record("a\u{1b}b\nc")).contains("\n"))
    }

    @Test(arguments: LogLevel.allCases) func `colour surrounds the level only`(level: LogLevel) {
        let record = Self.record("m", level: level)
        let plain = TerminalSink.line(record, time: "t", isColored: false)
        let colored = TerminalSink.line(record, time: "t", isColored: true)
        #expect(colored.hasPrefix("t \u{1b}["))
        #expect(colored.contains(level.rawValue))
        #expect(colored.hasSuffix("\u{1b}[0m hub        m"))
        #expect(!plain.contains("\u{1b}"))
    }

    @Test func `a line for programs is JSON with typed fields`() throws {
        let line = JSONLinesSink.line(
            Self.record(
                "say \"hi\"",
                [
                    .count("n", 3), .flag("late", false), LogField("f", .number(.nan)),
                    LogField("p", .text("/a/b")),
                ]))
        #expect(
            line
                == #"{"category":"hub","event":"host.online","fields":{"f":"nan","late":false,"n":3,"p":"/a/b"},"level":"notice","message":"say \"hi\"","sequence":7,"time":"2026-11-30T20:00:00.123Z"}"#
        )
    }

    @Test(arguments: ["\u{1}", "x", "\"", "ä", "🙂", "\u{2028}"])
    func `a long line stays whole JSON within the limit`(character: String) throws {
        let long = String(repeating: character, count: 20_000)
        let line = JSONLinesSink.line(Self.record(long, [LogField("x", .text(long))]))
        #expect(line.utf8.count < LineWriter.lineLimit)
        #expect(throws: Never.self) { try JSONSerialization.jsonObject(with: Data(line.utf8)) }
    }

    @Test func `lines of many threads stay whole`() async throws {
        let file = "/tmp/hostsd-log-test.\(getpid()).\(UInt32.random(in: 0...UInt32.max))"
        let descriptor = open(file, O_RDWR | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0o600)
        try #require(descriptor >= 0)
        defer {
            close(descriptor)
            unlink(file)
        }
        let sink = TerminalSink(descriptor: descriptor, isColored: false)
        await withTaskGroup(of: Void.self) { group in
            for writer in 0..<8 {
                group.addTask {
                    for _ in 0..<200 { sink.write(Self.record(String(repeating: "\(writer)", count: 300))) }
                }
            }
        }
        let lines = try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n")
        #expect(lines.count == 1600)
        #expect(lines.allSatisfy { line in Set(line.suffix(300)).count == 1 })
    }

    @Test func `a reader that does not read loses lines and is told how many`() throws {
        var ends: [Int32] = [0, 0]
        try #require(pipe(&ends) == 0)
        defer { for end in ends { close(end) } }
        let sink = JSONLinesSink(descriptor: ends[1])
        // A pipe holds 64 KiB (pipe(7)): most of these find no room, and none of them blocks.
        for _ in 0..<1000 { sink.write(Self.record(String(repeating: "x", count: 400))) }
        func drain() -> String {
            var buffer = [UInt8](repeating: 0, count: 1 << 20)
            let count = read(ends[0], &buffer, buffer.count)
            return String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
        }
        let first = drain().split(separator: "\n")
        #expect(first.count < 1000)
        sink.write(Self.record("after"))
        let second = drain().split(separator: "\n")
        try #require(second.count == 2)
        #expect(second[0] == #"{"category":"daemon","event":"log.lost","lines":\#(1000 - first.count)}"#)
        #expect(second[1].contains("after"))
        for line in first + second {
            #expect(throws: Never.self) { try JSONSerialization.jsonObject(with: Data(line.utf8)) }
        }
    }

    @Test func `a descriptor that is no longer open loses lines and nothing else`() {
        let sink = TerminalSink(descriptor: -1, isColored: false)
        sink.write(Self.record("m"))
    }

    @Test func `a cut line ends with a whole character`() async throws {
        var ends: [Int32] = [0, 0]
        try #require(pipe(&ends) == 0)
        defer { for end in ends { close(end) } }
        let writer = LineWriter(descriptor: ends[1]) { "\($0)" }
        for shift in 0..<4 {
            writer.write(String(repeating: "a", count: shift) + String(repeating: "🙂", count: 2000))
            var buffer = [UInt8](repeating: 0, count: 8192)
            let count = read(ends[0], &buffer, buffer.count)
            #expect(count <= LineWriter.lineLimit)
            #expect(String(validating: buffer.prefix(count), as: UTF8.self) != nil)
        }
    }
}
