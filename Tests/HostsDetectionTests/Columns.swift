/// Columns of a terminal.
enum Columns {
    static func width(of text: String) -> Int { text.reduce(0) { $0 + width(of: $1) } }

    private static func width(of character: Character) -> Int {
        let isWide = character.unicodeScalars.contains { $0.value >= 0x1f300 || $0.value == 0x2728 }
        return isWide ? 2 : 1
    }

    /// The text in parts of at most so many columns; at least one.
    static func parts(of text: String, width limit: Int) -> [String] {
        var parts: [String] = []
        var part = ""
        var used = 0
        for character in text {
            let width = width(of: character)
            if used + width > limit {
                parts.append(part)
                part = ""
                used = 0
            }
            part.append(character)
            used += width
        }
        if !part.isEmpty || parts.isEmpty { parts.append(part) }
        return parts
    }
}

extension String {
    /// Nothing but blanks.
    var isBlank: Bool { allSatisfy { $0 == " " || $0 == "\u{a0}" } }
}
