import CTerminal

/// How many cells of a terminal a text takes.
enum CellWidth {
    /// Taken once, before the first measurement: in the C locale nothing beyond ASCII has a width.
    private static let locale: Void = hosts_terminal_take_locale()

    /// The cells of one character; what the C library does not know counts as one.
    static func of(_ scalar: Unicode.Scalar) -> Int {
        if (0x20..<0x7f).contains(scalar.value) { return 1 }
        _ = locale
        let width = hosts_terminal_width(scalar.value)
        return width < 0 ? 1 : Int(width)
    }

    static func of(_ text: String) -> Int {
        text.unicodeScalars.reduce(0) { $0 + of($1) }
    }

    /// The longest beginning of a text that fits, by whole characters.
    static func prefix(of text: String, cells: Int) -> String {
        var left = cells
        var result = ""
        for character in text {
            let width = of(String(character))
            guard width <= left else { break }
            left -= width
            result.append(character)
        }
        return result
    }
}
