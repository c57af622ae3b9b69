import HostsModel

/// The text of an override file, and how a change is put into it.
struct OverrideText: Sendable {
    /// What stands above the first key of a new file.
    static let header = "# Written by hostsctl; lies over the record beside it.\n"

    /// The parsed text; an empty table for a file that does not exist yet.
    private let document: TOMLDocument
    private let lines: [String]

    /// - Throws: The syntax error that stands in the way.
    init(bytes: [UInt8], file: String) throws(Diagnostic) {
        document = try TOMLDocument(parsing: bytes, file: file)
        let byteOrderMark: [UInt8] = [0xef, 0xbb, 0xbf]
        let body = bytes.starts(with: byteOrderMark) ? bytes.dropFirst(byteOrderMark.count) : bytes[...]
        var text = String(decoding: body, as: UTF8.self)
        if text.isEmpty { text = Self.header }
        if text.hasSuffix("\n") || text.hasSuffix("\r\n") { text.removeLast() }
        // The line feed alone: "\r\n" is one Character, and the carriage return stays with its line.
        lines = text.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false).map {
            String($0)
        }
    }

    /// The text with `change` in it and everything else as it was, or nil if it cannot be put there.
    ///
    /// The result is parsed again and compared member by member: a file that people have edited may hold what
    /// a line-wise change would break, and then nothing is written.
    func applying(_ edit: RecordEdit) -> [UInt8]? {
        for range in ranges(for: edit.key) {
            var changed = lines
            switch edit {
            case .put(let change): changed.replaceSubrange(range, with: [change.line])
            case .takeAway: changed.removeSubrange(range)
            }
            let bytes = Array((changed.joined(separator: "\n") + "\n").utf8)
            if isSame(bytes, but: edit) { return bytes }
        }
        return nil
    }

    /// Whether the file itself has the key, with whatever value.
    func has(_ key: String) -> Bool { document.root[key] != nil }

    /// The lines that a key's new line may take the place of, best first.
    ///
    /// An existing value has one line, or (arrays and long texts) all up to the next key. A new key goes above
    /// the first one, where no table is open yet.
    private func ranges(for key: String) -> [Range<Int>] {
        let members = document.root.members
        guard let index = members.firstIndex(where: { $0.key == key }) else {
            let place = members.first.map { min($0.keyLocation.line - 1, lines.count) } ?? lines.count
            return [place..<place]
        }
        let first = members[index].keyLocation.line - 1
        let next = index + 1 < members.count ? members[index + 1].keyLocation.line - 1 : lines.count
        guard first < next, next <= lines.count else { return [] }
        return [first..<(first + 1), first..<next]
    }

    private func isSame(_ bytes: [UInt8], but edit: RecordEdit) -> Bool {
        do throws(Diagnostic) {
            let new = try TOMLDocument(parsing: bytes, file: document.file).root
            let old = document.root.members.filter { $0.key != edit.key }
            guard Self.holds(new[edit.key], edit) else { return false }
            let rest = new.members.filter { $0.key != edit.key }
            return rest.count == old.count
                && zip(rest, old).allSatisfy {
                    $0.key == $1.key && $0.value.content.isSame(as: $1.value.content)
                }
        } catch {
            return false  // the change would have broken the file; it is not made
        }
    }

    private static func holds(_ member: TOMLTable.Member?, _ edit: RecordEdit) -> Bool {
        switch edit {
        case .put(let change): member?.value.content.isSame(as: change.content) ?? false
        case .takeAway: member == nil
        }
    }
}

extension TOMLValue.Content {
    /// Equality of what is written, wherever it stands.
    fileprivate func isSame(as other: TOMLValue.Content) -> Bool {
        switch (self, other) {
        case (.table(let left), .table(let right)):
            left.members.count == right.members.count
                && zip(left.members, right.members).allSatisfy {
                    $0.key == $1.key && $0.value.content.isSame(as: $1.value.content)
                }
        case (.array(let left), .array(let right)):
            left.count == right.count && zip(left, right).allSatisfy { $0.content.isSame(as: $1.content) }
        default: self == other
        }
    }
}
