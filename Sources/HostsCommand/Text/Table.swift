/// Rows in columns, aligned by the cells of the terminal.
///
/// Without a width nothing is ever cut. With one, the last column is shortened first, down to `narrowest`; then whole
/// columns go, from the last. The first column is never shortened.
struct Table: Hashable, Sendable {
    /// Least cells that are worth showing of a shortened column.
    static let narrowest = 12
    /// Between two columns.
    static let gap = 2

    let titles: [String]
    private(set) var rows: [[StyledText]] = []

    /// Makes an empty table.
    ///
    /// - Parameter titles: One for each column.
    init(_ titles: String...) {
        self.titles = titles
    }

    /// Adds a row; missing cells at its end are empty.
    mutating func add(_ cells: [StyledText]) {
        precondition(cells.count <= titles.count, "a row has a cell for each title at most")
        rows.append(cells + Array(repeating: StyledText(), count: titles.count - cells.count))
    }

    /// The lines of the table.
    ///
    /// - Parameters:
    ///   - width: Cells of the terminal, or nil for no limit.
    ///   - heading: Whether the titles come first.
    /// - Returns: One text for each line; none if there are no rows.
    func lines(width: Int?, heading: Bool) -> [StyledText] {
        guard !rows.isEmpty else { return [] }
        // A column in which nothing stands says nothing.
        let columns = titles.indices.filter { column in rows.contains { !$0[column].isEmpty } }
        var table = rows.map { row in columns.map { row[$0] } }
        if heading { table.insert(columns.map { StyledText(titles[$0], .faint) }, at: 0) }
        let widths = Self.fitted(Self.widths(of: table), to: width)
        return table.map { Self.line($0, widths) }
    }

    private static func widths(of table: [[StyledText]]) -> [Int] {
        guard let first = table.first else { return [] }
        return first.indices.map { column in table.reduce(0) { max($0, $1[column].cells) } }
    }

    private static func fitted(_ natural: [Int], to limit: Int?) -> [Int] {
        guard let limit else { return natural }
        var widths = natural
        while widths.count > 1 {
            let total = widths.reduce(0, +) + gap * (widths.count - 1)
            if total <= limit { break }
            let last = widths[widths.count - 1]
            let left = limit - (total - last)
            if left >= min(narrowest, last) {
                widths[widths.count - 1] = left
                break
            }
            widths.removeLast()
        }
        return widths
    }

    private static func line(_ row: [StyledText], _ widths: [Int]) -> StyledText {
        var line = StyledText()
        var space = 0
        for (column, width) in widths.enumerated() {
            let cell = column == 0 ? row[column] : row[column].fitted(to: width)
            if !cell.isEmpty {
                line += StyledText(String(repeating: " ", count: space)) + cell
                space = 0
            }
            space += max(0, width - cell.cells) + gap
        }
        return line
    }
}
