import HostsModel

/// Reads screens of one agent by its rules.
///
/// Pure: the same screen always gives the same reading.
package struct ScreenClassifier: Sendable {
    private let rules: CompiledRules

    package init(_ rules: CompiledRules) {
        self.rules = rules
    }

    /// Asks the rules stage by stage; the first that matches decides what the screen means.
    ///
    /// Later rules that mean the same are added as evidence, with their flags; those that mean something else are
    /// outranked. Where none matches nothing is known.
    package func read(_ screen: Screen) -> ScreenReading {
        var matcher = RowMatcher()
        let layout = ScreenLayout(of: screen, by: rules, &matcher)
        var reading = ScreenReading(outputDigest: layout.outputDigest(of: screen))
        if matcher.takeFailure() { reading.failedRules.append("\(rules.rules.name).layout") }
        let view = ScreenView(screen: screen, layout: layout)
        var busyRowsAreQuiet: [Bool] = []
        for compiled in rules.screen {
            let rule = compiled.rule
            let isMatch = view.matches(compiled, &matcher)
            let name = "\(rules.rules.name).\(rule.name)"
            if matcher.takeFailure() {
                // A rule with a condition that cannot be decided is not decided.
                reading.failedRules.append(name)
                continue
            }
            guard isMatch else { continue }
            let evidence = Evidence(kind: rule.stage.evidenceKind, strength: rule.strength, rule: name)
            if let meaning = reading.meaning, !Self.isSame(meaning, rule.meaning) {
                reading.outranked.append(.init(evidence: evidence, meaning: rule.meaning))
                continue
            }
            let isFirst = reading.meaning == nil
            if isFirst { reading.meaning = rule.meaning }
            reading.isDwelling = rule.isDwelling && (isFirst || reading.isDwelling)
            reading.strength = max(reading.strength, rule.strength)
            reading.flags.formUnion(rule.flags)
            reading.evidence.append(evidence)
            if rule.stage == .statusRow { busyRowsAreQuiet.append(rule.isQuiet) }
        }
        reading.isQuiet = !busyRowsAreQuiet.isEmpty && busyRowsAreQuiet.allSatisfy { $0 }
        return reading
    }

    // The first reason to need the person stands; others that follow are less certain.
    private static func isSame(_ left: ScreenRule.Meaning, _ right: ScreenRule.Meaning) -> Bool {
        switch (left, right) {
        case (.needsYou, .needsYou), (.busy, .busy), (.idle, .idle), (.previous, .previous): true
        case (.needsYou, _), (.busy, _), (.idle, _), (.previous, _): false
        }
    }
}

/// A screen with its layout, to ask conditions of.
private struct ScreenView {
    let screen: Screen
    let layout: ScreenLayout
    let title: [UInt8]

    init(screen: Screen, layout: ScreenLayout) {
        self.screen = screen
        self.layout = layout
        title = Array(screen.title.utf8)
    }

    func matches(_ rule: CompiledRules.Rule, _ matcher: inout RowMatcher) -> Bool {
        for condition in rule.when {
            guard holds(condition, &matcher) else { return false }
        }
        for condition in rule.unless {
            if holds(condition, &matcher) { return false }
        }
        return true
    }

    private func holds(_ condition: CompiledRules.Condition, _ matcher: inout RowMatcher) -> Bool {
        guard var rows = rows(of: condition.region) else {
            return matcher.matches(condition.pattern, title, title.indices)
        }
        if let after = condition.after {
            guard let last = rows.last(where: { matcher.matches(after, screen, $0) }) else { return false }
            rows = (last + 1)..<rows.upperBound
        }
        var left = condition.rows ?? Int.max
        for row in rows.reversed() where !screen.isBlank(row) {
            guard left > 0 else { return false }
            left -= 1
            if matcher.matches(condition.pattern, screen, row) { return true }
        }
        return false
    }

    /// Nil for the title, which is no row.
    private func rows(of region: ScreenCondition.Region) -> Range<Int>? {
        switch region {
        case .title: nil
        case .screen: screen.rows.indices
        case .body: layout.body
        case .composer: layout.composer ?? 0..<0
        case .border: layout.border
        case .footer: layout.footer
        case .dialog: layout.dialog
        }
    }
}

extension ScreenRule.Stage {
    /// The kind of evidence that a match in this stage is.
    var evidenceKind: Evidence.Kind {
        switch self {
        case .dialog: .dialog
        case .blockedTitle, .title: .title
        case .statusRow, .standingRow: .statusRow
        case .footer: .footer
        case .composer: .composer
        case .viewer: .previous
        }
    }
}
