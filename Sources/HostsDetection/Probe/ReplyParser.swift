package import HostsModel

/// Reads the bytes of a reply.
///
/// Total: any bytes give a report or an error.
package enum ReplyParser {
    /// Most processes kept.
    static let processLimit = 1_000
    static let serverLimit = 32
    static let paneLimit = 1_000
    static let clientLimit = 100
    /// Most events kept of one log.
    static let eventLimit = 8
    /// Most rows kept of a drawn pane: the last ones, where an agent's state stands.
    static let rowLimit = 200

    /// Parses a reply.
    ///
    /// - Throws: Whatever makes the reply no observation. A tmux server that did not answer is no error.
    package static func parse(_ reply: ProbeReply) throws(ReplyError) -> ProbeReport {
        guard reply.status == 0 else { throw .failed(status: reply.status) }
        return try parse(reply.body, nonce: reply.nonce)
    }

    /// Parses the body of a reply that was framed with `nonce`.
    package static func parse(_ body: [UInt8], nonce: String) throws(ReplyError) -> ProbeReport {
        guard !nonce.isEmpty else { throw .unmarked }
        var sections = SectionReader(body: body, nonce: nonce)
        guard let first = sections.next(), first.name == "hostsd", sections.preambleIsEmpty else {
            throw .unmarked
        }
        guard let version = first.words.first.flatMap({ Int($0) }) else { throw .unmarked }
        guard version == ProbeProgram.version else { throw .otherVersion(version) }
        guard let kind = first.words.dropFirst().first.flatMap({ ProbeReport.Kind(rawValue: $0) }) else {
            throw .unmarked
        }
        var builder = ReportBuilder(kind: kind)
        while let section = sections.next() {
            try builder.add(section, of: body)
        }
        return try builder.finish()
    }
}

/// A part of a reply: its header and the rows below it.
struct ReplySection {
    let name: String
    /// The rest of the header, one word at a time.
    let words: [String]
    /// The rest of the header after its first word boundary, as it is.
    let text: String
    /// Each row of the body, without its line feed.
    let rows: [Range<Int>]
}

/// Cuts a reply into its sections.
struct SectionReader {
    private let body: [UInt8]
    private let mark: [UInt8]
    private var lines: LineReader
    private var header: Range<Int>?
    /// Nothing stood before the first header.
    private(set) var preambleIsEmpty = true

    init(body: [UInt8], nonce: String) {
        self.body = body
        mark = Array("@\(nonce) ".utf8)
        lines = LineReader(body)
        while let line = lines.next() {
            if isHeader(line) {
                header = line
                return
            }
            preambleIsEmpty = false
        }
    }

    /// The next section, or nil after the last.
    mutating func next() -> ReplySection? {
        guard let header else { return nil }
        self.header = nil
        var rows: [Range<Int>] = []
        while let line = lines.next() {
            if isHeader(line) {
                self.header = line
                break
            }
            rows.append(line)
        }
        let text = String(decoding: body[(header.lowerBound + mark.count)..<header.upperBound], as: UTF8.self)
        let words = text.split(separator: " ").map(String.init)
        let rest = text.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false).dropFirst()
            .first
        return ReplySection(
            name: words.first ?? "", words: Array(words.dropFirst()), text: rest.map(String.init) ?? "",
            rows: rows)
    }

    private func isHeader(_ line: Range<Int>) -> Bool {
        guard line.count > mark.count, body[line.lowerBound] == mark[0] else { return false }
        return body[line.lowerBound..<(line.lowerBound + mark.count)].elementsEqual(mark)
    }
}

/// Walks over the lines of some bytes.
struct LineReader {
    private let bytes: [UInt8]
    private var position: Int
    private let end: Int

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        position = 0
        end = bytes.count
    }

    /// The next line without its line feed, or nil after the last.
    mutating func next() -> Range<Int>? {
        guard position < end else { return nil }
        let start = position
        while position < end, bytes[position] != 0x0a { position += 1 }
        let line = start..<position
        position += 1
        return line
    }
}
