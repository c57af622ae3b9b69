/// One line of `grep -H` over files of `/proc`: `/proc/PID/FILE:CONTENT`.
struct ProcLine {
    let pid: Int32
    let content: Range<Int>

    init?(_ row: Range<Int>, of body: [UInt8], file: String) {
        var scanner = ByteScanner(body, row)
        guard scanner.skip("/proc/"), let pid = scanner.number(), scanner.skip("/"), scanner.skip(file),
            scanner.skip(":"), let pid = Int32(exactly: pid)
        else { return nil }
        self.pid = pid
        content = scanner.position..<row.upperBound
    }
}

extension ProcessRecord {
    /// Reads `/proc/PID/stat` (proc(5)); the name stands in parentheses and may hold any byte.
    init?(statLine line: ProcLine, of body: [UInt8]) {
        let content = body[line.content]
        guard let close = content.lastIndex(of: UInt8(ascii: ")")),
            let open = content[..<close].firstIndex(of: UInt8(ascii: "("))
        else { return nil }
        let name = content[(open + 1)..<close]
        guard close + 2 < line.content.upperBound else { return nil }
        let state = body[close + 2]
        var scanner = ByteScanner(body, (close + 3)..<line.content.upperBound)
        var fields: [Int64] = []
        // Fields 4 to 21, then 22.
        for _ in 0..<18 {
            guard scanner.skip(" "), let field = scanner.number() else { return nil }
            fields.append(field)
        }
        guard scanner.skip(" ") else { return nil }
        let start = scanner.position
        guard scanner.number() != nil else { return nil }
        // The line is cut somewhere behind it: a number at its very end may not be whole.
        guard scanner.position < line.content.upperBound else { return nil }
        guard let parent = Int32(exactly: fields[0]), let group = Int32(exactly: fields[1]),
            let session = Int32(exactly: fields[2]), let terminal = Int32(exactly: fields[3]),
            let foreground = Int32(exactly: fields[4])
        else { return nil }
        self.init(
            pid: line.pid, parent: parent, group: group, session: session, terminal: terminal,
            foreground: foreground, state: state,
            startTime: String(decoding: body[start..<scanner.position], as: UTF8.self),
            name: String(decoding: name, as: UTF8.self))
    }
}

extension ProcessRecord {
    /// Reads a row of ps(1): number, parent, group, foreground group, state, terminal, the five words of a date, and the
    /// command as it was started.
    init?(psRow row: ArraySlice<UInt8>) {
        let words = row.split(separator: 0x20, maxSplits: 11, omittingEmptySubsequences: true)
        guard words.count == 12, let pid = Int32(text(words[0])), let parent = Int32(text(words[1])),
            let group = Int32(text(words[2])), let foreground = Int32(text(words[3])),
            let state = words[4].first
        else { return nil }
        let terminal = text(words[5])
        // `??` on macOS and OpenBSD, `-` on FreeBSD and NetBSD, `?` on Linux.
        let hasTerminal = !terminal.allSatisfy { $0 == "?" || $0 == "-" }
        let arguments = text(words[11]).split(separator: " ").map(String.init)
        self.init(
            pid: pid, parent: parent, group: group, session: 0, terminal: hasTerminal ? 1 : 0,
            foreground: foreground, state: state, startTime: words[6...10].map(text).joined(separator: " "),
            name: arguments.first.map { CommandLine.baseName($0) } ?? "", arguments: arguments,
            terminalFile: hasTerminal ? terminal : nil)
    }
}

extension TmuxClient {
    /// `pid activity tty pane session`; the session is free text.
    init?(row: ArraySlice<UInt8>) {
        let words = row.split(separator: 0x20, maxSplits: 4, omittingEmptySubsequences: false)
        guard words.count == 5, let pid = Int32(text(words[0])), let activity = Int64(text(words[1])) else {
            return nil
        }
        self.init(
            pid: pid, activity: activity, tty: text(words[2]), pane: text(words[3]), session: text(words[4]))
    }
}

extension TmuxPane {
    /// Nine words, then `session:window.pane title`; tmux allows no colon in the name of a session.
    init?(row: ArraySlice<UInt8>) {
        let words = row.split(separator: 0x20, maxSplits: 9, omittingEmptySubsequences: false)
        guard words.count == 10, words[0].first == UInt8(ascii: "%"), let pid = Int32(text(words[1])) else {
            return nil
        }
        let rest = words[9]
        guard let colon = rest.firstIndex(of: UInt8(ascii: ":")) else { return nil }
        let space = rest[colon...].firstIndex(of: 0x20) ?? rest.endIndex
        self.init(
            id: text(words[0]), pid: pid, tty: text(words[2]), isDead: text(words[3]) == "1",
            isInMode: text(words[4]) == "1", hasBell: text(words[5]) == "1",
            activity: Int64(text(words[6])) ?? 0, width: Int(text(words[7])) ?? 0,
            height: Int(text(words[8])) ?? 0, label: text(rest[..<space]),
            title: text(rest[space...].dropFirst()))
    }
}

private func text(_ bytes: ArraySlice<UInt8>) -> String { String(decoding: bytes, as: UTF8.self) }

/// Reads numbers and fixed texts from bytes, forwards only.
struct ByteScanner {
    private let bytes: [UInt8]
    private let end: Int
    private(set) var position: Int

    init(_ bytes: [UInt8], _ range: Range<Int>) {
        self.bytes = bytes
        position = range.lowerBound
        end = range.upperBound
    }

    /// Steps over `text` if it stands here.
    mutating func skip(_ text: String) -> Bool {
        var here = position
        for byte in text.utf8 {
            guard here < end, bytes[here] == byte else { return false }
            here += 1
        }
        position = here
        return true
    }

    /// A decimal number; nil if none stands here or it does not fit.
    ///
    /// Unsigned fields may wrap: they are not used.
    mutating func number() -> Int64? {
        let isNegative = skip("-")
        let start = position
        var value: Int64 = 0
        while position < end, (0x30...0x39).contains(bytes[position]) {
            guard position - start < 20 else { return nil }
            value = value &* 10 &+ Int64(bytes[position] - 0x30)
            position += 1
        }
        guard position > start else { return nil }
        return isNegative ? 0 &- value : value
    }
}
