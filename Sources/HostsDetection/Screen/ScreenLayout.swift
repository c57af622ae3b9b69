/// The parts of one screen, as ranges of its rows.
struct ScreenLayout: Hashable {
    /// Most rows of a draft.
    static let composerRows = 80

    /// Nil: there is none.
    private(set) var composer: Range<Int>?
    private(set) var body: Range<Int>
    private(set) var border: Range<Int>
    private(set) var footer: Range<Int>
    private(set) var dialog: Range<Int>

    init(of screen: Screen, by rules: CompiledRules, _ matcher: inout RowMatcher) {
        body = 0..<0
        border = 0..<0
        footer = 0..<0
        dialog = 0..<0
        guard !screen.rows.isEmpty else { return }
        for shape in rules.composers {
            guard let found = Self.composer(of: screen, shape, &matcher) else { continue }
            composer = found.composer
            body = 0..<found.bodyEnd
            border = found.border
            footer = found.footerStart..<screen.rows.count
            return
        }
        var start = 0
        if let pattern = rules.dialogStart {
            let last = screen.rows.indices.last { matcher.matches(pattern, screen, $0) }
            start = last.map { $0 + 1 } ?? 0
        }
        dialog = start..<screen.rows.count
    }

    /// A digest of the rows that are the agent's own: what the person types, and the clocks in a status line below
    /// it, are left out.
    func outputDigest(of screen: Screen) -> Int {
        let output = composer == nil ? screen.rows.indices : body
        guard let first = output.first, let last = output.last else { return 0 }
        var hasher = Hasher()
        unsafe screen.text.withUnsafeBytes { bytes in
            let part = screen.rows[first].lowerBound..<screen.rows[last].upperBound
            unsafe hasher.combine(bytes: UnsafeRawBufferPointer(rebasing: bytes[part]))
        }
        return hasher.finalize()
    }

    private struct Found {
        let bodyEnd: Int
        let composer: Range<Int>
        var border = 0..<0
        let footerStart: Int
    }

    private static func composer(
        of screen: Screen, _ shape: CompiledRules.Composer, _ matcher: inout RowMatcher
    ) -> Found? {
        if let absent = shape.absentAbove, matcher.matches(absent, screen, screen.rows.count - 1) {
            return nil
        }
        if let bottom = shape.bottom { return framed(screen, shape, bottom, &matcher) }
        return open(screen, shape, &matcher)
    }

    /// A composer above a row that is its lower edge, with a few rows of footer below that.
    ///
    /// The lowest such row counts: an old composer above a dialog, whose edges are lower, is none. An edge that
    /// a narrow pane has wrapped is several rows.
    private static func framed(
        _ screen: Screen, _ shape: CompiledRules.Composer, _ bottom: Pattern, _ matcher: inout RowMatcher
    ) -> Found? {
        var below = 0
        var row = screen.rows.count - 1
        while row > 0, !matcher.matches(bottom, screen, row) {
            if !screen.isBlank(row) { below += 1 }
            guard below <= shape.footerRows else { return nil }
            row -= 1
        }
        let footerStart = row + 1
        while row > 1, matcher.matches(bottom, screen, row - 1) { row -= 1 }
        let end = row
        guard let start = draftStart(above: end, screen, shape, bottom, &matcher) else { return nil }
        guard start.draft < end, isPrompt(start.draft, screen, shape, &matcher) else { return nil }
        if let pattern = shape.row {
            for row in start.draft..<end where !matcher.matches(pattern, screen, row) { return nil }
        }
        return Found(
            bodyEnd: start.edge, composer: start.draft..<end, border: end..<footerStart,
            footerStart: footerStart)
    }

    /// Where the draft that ends above `end` begins, and where its upper edge does.
    private static func draftStart(
        above end: Int, _ screen: Screen, _ shape: CompiledRules.Composer, _ bottom: Pattern,
        _ matcher: inout RowMatcher
    ) -> (edge: Int, draft: Int)? {
        let highest = max(0, end - composerRows)
        if shape.top == nil, let pattern = shape.row {
            var start = end
            while start > highest, matcher.matches(pattern, screen, start - 1) { start -= 1 }
            return (start, start)
        }
        let top = shape.top ?? bottom
        for above in (highest..<end).reversed() {
            guard matcher.matches(top, screen, above) || matcher.matches(bottom, screen, above) else {
                continue
            }
            var edge = above
            while edge > highest, matcher.matches(bottom, screen, edge - 1) { edge -= 1 }
            return (edge, above + 1)
        }
        return nil
    }

    /// A composer that reaches from its prompt to the end; the last group of rows is the footer.
    private static func open(
        _ screen: Screen, _ shape: CompiledRules.Composer, _ matcher: inout RowMatcher
    ) -> Found? {
        let end = screen.rows.count
        for row in (max(0, end - composerRows)..<end).reversed() {
            if isPrompt(row, screen, shape, &matcher) {
                let lastBlank = (row..<end).last { screen.isBlank($0) }
                let footer = lastBlank.map { $0 + 1 } ?? end
                return Found(bodyEnd: row, composer: row..<(lastBlank ?? end), footerStart: footer)
            }
            guard let continuation = shape.continuation else { continue }
            guard screen.isBlank(row) || matcher.matches(continuation, screen, row) else { return nil }
        }
        return nil
    }

    private static func isPrompt(
        _ row: Int, _ screen: Screen, _ shape: CompiledRules.Composer, _ matcher: inout RowMatcher
    ) -> Bool {
        guard matcher.matches(shape.prompt, screen, row) else { return false }
        guard let notPrompt = shape.notPrompt else { return true }
        return !matcher.matches(notPrompt, screen, row)
    }
}

/// Matches patterns with rows, and remembers that a pattern has failed: a limit that was hit is never a
/// match.
struct RowMatcher {
    private(set) var hasFailed = false

    mutating func matches(_ pattern: Pattern, _ screen: Screen, _ row: Int) -> Bool {
        matches(pattern, screen.text, screen.rows[row])
    }

    mutating func matches(_ pattern: Pattern, _ text: [UInt8], _ range: Range<Int>) -> Bool {
        switch pattern.find(in: text, range) {
        case .match: return true
        case .noMatch: return false
        case .limit, .failed:
            hasFailed = true
            return false
        }
    }

    /// Whether something failed since the last question.
    mutating func takeFailure() -> Bool {
        defer { hasFailed = false }
        return hasFailed
    }
}
