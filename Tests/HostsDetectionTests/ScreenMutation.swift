import HostsConfig
import HostsDetection
import HostsModel
import Testing

/// What can befall a screen between the agent and the eye that reads it.
///
/// Its state stays what it was, or becomes unknown.
enum ScreenMutation: String, CaseIterable, Sendable {
    case none = "as captured"
    case truncated = "cut to 40 columns"
    case wrapped = "wrapped at 40 columns"
    case short = "cut to 15 rows"
    case widths = "cut or wrapped, 20 to 99"
    case heights = "cut to 3 to 24 rows"
    case torn = "torn between two screens"
    case scrollback = "other screens above"
    case quoted = "another screen quoted"
    case typed = "another screen typed"
    case unknownGlyph = "unknown spinner glyph"
    case unknownGlyphUntitled = "the same, without title"
    case untitled = "without title"
    case partial = "drawn in part"
    case foreign = "another agent's rules"

    /// One screen after the mutation, and whose rules look at it.
    struct Case {
        let captured: CapturedScreen
        let rules: String
        let rows: [String]
        let title: String
        /// What was done, for whoever must find out why it was read wrong.
        let detail: String
        /// Another state that is right too.
        var other: String?
    }

    /// What must be read right: agents that are there, with a screen of their own.
    static let screens = CapturedScreen.all.filter { $0.state != "exited" }

    /// Every case of this mutation for one screen.
    func cases(of captured: CapturedScreen) throws -> [Case] {
        let rows = try captured.rows()
        func same(_ rows: [String], _ detail: String = "") -> Case {
            Case(captured: captured, rules: captured.agent, rows: rows, title: captured.title, detail: detail)
        }
        switch self {
        case .none: return [same(rows)]
        case .truncated: return [same(rows.map { Columns.parts(of: $0, width: 40)[0] })]
        case .wrapped: return [same(rows.flatMap { Columns.parts(of: $0, width: 40) })]
        case .short: return [same(rows.suffix(15))]
        case .widths:
            return stride(from: 20, through: 98, by: 3).flatMap { width in
                [
                    same(rows.map { Columns.parts(of: $0, width: width)[0] }, "cut to \(width)"),
                    same(rows.flatMap { Columns.parts(of: $0, width: width) }, "wrapped at \(width)"),
                ]
            }
        case .heights: return (3...24).map { same(rows.suffix($0), "\($0) rows") }
        case .torn:
            return try Self.screens.filter { $0.agent == captured.agent && $0.file != captured.file }
                .flatMap { other in
                    let above = try other.rows()
                    return stride(from: 1, to: min(above.count, rows.count), by: 3).map { row in
                        var torn = same(
                            Array(above.prefix(row) + rows.dropFirst(row)), "\(other.file) to row \(row)")
                        torn.other = other.state
                        return torn
                    }
                }
        case .scrollback:
            return try CapturedScreen.all.filter { $0.agent == captured.agent && $0.file != captured.file }
                .map { same(try $0.rows() + [""] + rows, $0.file) }
        case .quoted: return try Self.quotes(in: captured, rows).map { same($0.rows, $0.detail) }
        case .typed: return try Self.drafts(in: captured, rows).map { same($0.rows, $0.detail) }
        case .unknownGlyph: return Self.glyphs.map { Self.withGlyph($0, captured, rows) }
        case .unknownGlyphUntitled:
            return Self.glyphs.map { glyph in
                let changed = Self.withGlyph(glyph, captured, rows)
                return Case(
                    captured: captured, rules: captured.agent, rows: changed.rows, title: "", detail: glyph)
            }
        case .untitled:
            return [Case(captured: captured, rules: captured.agent, rows: rows, title: "", detail: "")]
        case .partial:
            return (0..<rows.count).map { count in
                Case(
                    captured: captured, rules: captured.agent, rows: Array(rows.prefix(count)), title: "",
                    detail: "\(count) rows")
            }
        case .foreign:
            return RuleFixtures.shipped.book.agents.map(\.rules.name.rawValue)
                .filter { $0 != captured.agent }
                .map { Case(captured: captured, rules: $0, rows: rows, title: "", detail: $0) }
        }
    }

    // MARK: Quoted

    /// How transcripts show the first row of a tool's output or of a quotation, and the others.
    private static let quotations = [
        ("  ⎿  ", "     "), ("  │ ", "  │ "), ("│ ", "│ "), ("> ", "> "), ("  ", "  "), ("    ", "    "),
    ]

    private static func quotes(
        in captured: CapturedScreen, _ rows: [String]
    ) throws -> [(rows: [String], detail: String)] {
        var places: [Int] = []
        // Rows of an idle screen: directly above what stands around the composer, where a message would end.
        if captured.state == "idle", let prompt = Drafts.prompt(of: captured, rows) {
            places.append(rows[..<prompt].lastIndex { $0.isBlank }.map { $0 + 1 } ?? 0)
        }
        // Rows of one that works or asks: above the group of rows that says so, or the dialog.
        if captured.state != "idle" {
            let end = Drafts.prompt(of: captured, rows) ?? rows.count
            let chrome = rows[..<end].lastIndex { $0.isBlank } ?? 0
            if let last = rows[..<chrome].lastIndex(where: { !$0.isBlank }) {
                places.append(rows[..<last].lastIndex { $0.isBlank } ?? 0)
            }
        }
        // Any other: between two messages.
        if let gap = rows.dropFirst().firstIndex(where: { $0.isBlank }),
            rows[gap...].contains(where: { !$0.isBlank }), places.first != gap
        {
            places.append(gap)
        }
        var result: [(rows: [String], detail: String)] = []
        for (number, other) in CapturedScreen.all.enumerated() {
            let quoted = try other.rows().suffix(14)
            // The agent's own in every form, what could be taken for a need in some, all else in one.
            let count = other.agent == captured.agent ? quotations.count : other.state == "waiting" ? 3 : 1
            let forms = (0..<count).map { quotations[(number + $0) % quotations.count] }
            for (place, form) in places.flatMap({ place in forms.map { (place, $0) } }) {
                let marked = quoted.enumerated().map { ($0 == 0 ? form.0 : form.1) + $1 }
                result.append(
                    (
                        Array(rows[..<place] + [""] + marked + [""] + rows[place...]),
                        "\(other.file) at row \(place) as \(form.0)"
                    ))
            }
        }
        return result
    }

    // MARK: Typed

    private static func drafts(
        in captured: CapturedScreen, _ rows: [String]
    ) throws -> [(rows: [String], detail: String)] {
        guard let prompt = Drafts.prompt(of: captured, rows), let box = Drafts.boxes[captured.agent] else {
            return []
        }
        return try CapturedScreen.all.map { other in
            let text = try other.rows().suffix(14).filter { !$0.isBlank }
            let width = Columns.width(of: rows[prompt])
            let typed = text.enumerated().map { box.row($1, isFirst: $0 == 0, width: width) }
            return (Array(rows[..<prompt] + typed + rows[(prompt + 1)...]), other.file)
        }
    }

    // MARK: Glyphs

    private static let glyphs = ["⟡", "%", "🜁"]
    private static let spinners = Set("·✢✳✶✻✽*◐◑◒◓◔◕◉⬡⬢∿⏲✦⏳⚠✋◇✓⚕")
    /// These are bullets too: they count in a row that shows a clock or a hint.
    private static let bullets = Set("●•◦○◆")

    private static func withGlyph(_ glyph: String, _ captured: CapturedScreen, _ rows: [String]) -> Case {
        let changed = rows.map { row -> String in
            guard let start = row.firstIndex(where: { !" │╰▌".contains($0) }) else { return row }
            let first = row[start]
            let isStatus = row.contains("… (") || row.contains("to interrupt") || row.contains("[stop]")
            let isBar = row[start...].hasPrefix("⬝⬝") || row[start...].hasPrefix("■■")
            guard isSpinner(first) || isBar || bullets.contains(first) && isStatus else { return row }
            let end = row[start...].firstIndex { $0 == " " } ?? row.endIndex
            return row[..<start] + glyph + row[end...]
        }
        var title = captured.title
        if let first = title.first, isSpinner(first) { title = glyph + title.dropFirst() }
        return Case(
            captured: captured, rules: captured.agent, rows: changed, title: title, detail: glyph)
    }

    private static func isSpinner(_ character: Character) -> Bool {
        guard let scalar = character.unicodeScalars.first?.value else { return false }
        return spinners.contains(character) || (0x2800...0x28ff).contains(scalar)
            || (0x1f311...0x1f318).contains(scalar)
    }
}
