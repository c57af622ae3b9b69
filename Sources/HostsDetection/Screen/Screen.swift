/// The visible rows of a pane, and its title.
///
/// Valid UTF-8; trailing blanks and empty rows are cut.
package struct Screen: Hashable, Sendable {
    /// Longest row that rules see, in bytes.
    static let rowLength = 2_000

    let text: [UInt8]
    let rows: [Range<Int>]
    package let title: String

    /// Takes what `capture-pane -p` has printed; what is not UTF-8 becomes U+FFFD.
    package init(capture: [UInt8], title: String) {
        let text = Array(String(decoding: capture, as: UTF8.self).utf8)
        self.text = text
        self.title = title
        var rows: [Range<Int>] = []
        var lines = LineReader(text)
        while let line = lines.next() {
            var end = min(line.upperBound, line.lowerBound + Self.rowLength)
            // Never in the middle of a character.
            while end > line.lowerBound, end < line.upperBound, text[end] & 0xc0 == 0x80 { end -= 1 }
            while end > line.lowerBound, text[end - 1] == 0x20 || text[end - 1] == 0x0d { end -= 1 }
            rows.append(line.lowerBound..<end)
        }
        while let last = rows.last, last.isEmpty { rows.removeLast() }
        self.rows = rows
    }

    /// What tells one capture from another, for as long as the program runs: a screen that was read already is not read
    /// again.
    ///
    /// - Parameters:
    ///   - capture: As it came.
    ///   - title: Of the pane.
    /// - Returns: A digest of both.
    package static func digest(of capture: [UInt8], title: String) -> Int {
        var hasher = Hasher()
        unsafe capture.withUnsafeBytes { unsafe hasher.combine(bytes: $0) }
        hasher.combine(title)
        return hasher.finalize()
    }

    /// Whether a row has nothing but blanks.
    func isBlank(_ row: Int) -> Bool { text[rows[row]].allSatisfy { $0 == 0x20 || $0 == 0x09 } }
}
