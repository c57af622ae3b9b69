package import HostsModel

/// Something wrong in a rule, with the place where it stands.
package struct RuleProblem: Error, Hashable, Sendable {
    package let location: SourceLocation
    package let message: String

    package init(location: SourceLocation, message: String) {
        self.location = location
        self.message = message
    }
}

/// Rules whose patterns are compiled, ready to look at screens.
package struct CompiledRules: Sendable {
    package let rules: AgentRules
    let paths: [Pattern]
    let composers: [Composer]
    let dialogStart: Pattern?
    /// In the order in which they are asked: by stage, then as in the file.
    let screen: [Rule]
    let reasons: [(pattern: Pattern, reason: NeedsYouReason)]

    struct Composer: Sendable {
        let prompt: Pattern
        let notPrompt: Pattern?
        let top: Pattern?
        let bottom: Pattern?
        let row: Pattern?
        let continuation: Pattern?
        let absentAbove: Pattern?
        let footerRows: Int
    }

    struct Rule: Sendable {
        let rule: ScreenRule
        let when: [Condition]
        let unless: [Condition]
    }

    struct Condition: Sendable {
        let region: ScreenCondition.Region
        let rows: Int?
        let after: Pattern?
        let pattern: Pattern
    }

    /// Compiles every pattern of the rules.
    ///
    /// - Returns: The compiled rules, or everything that is wrong with them, in the order of the file.
    package static func compile(_ rules: AgentRules) -> Result<CompiledRules, RuleProblems> {
        var compiler = RuleCompiler()
        let compiled = compiler.compile(rules)
        guard let compiled, compiler.problems.isEmpty else {
            return .failure(RuleProblems(problems: compiler.problems))
        }
        return .success(compiled)
    }
}

/// Everything that is wrong with the rules of one agent.
package struct RuleProblems: Error, Hashable, Sendable {
    package let problems: [RuleProblem]

    package init(problems: [RuleProblem]) {
        self.problems = problems
    }
}

/// Compiles patterns and remembers what is wrong with them.
private struct RuleCompiler {
    var problems: [RuleProblem] = []

    mutating func compile(_ rules: AgentRules) -> CompiledRules? {
        let paths = rules.process.paths.compactMap { pattern($0) }
        let composers = rules.layout.composers.compactMap { shape(of: $0) }
        let dialogStart = rules.layout.dialogStart.flatMap { pattern($0) }
        let screen = ScreenRule.Stage.allCases.flatMap { stage in
            rules.rules.filter { $0.stage == stage }.map { rule in
                CompiledRules.Rule(rule: rule, when: conditions(rule.when), unless: conditions(rule.unless))
            }
        }
        let reasons = (rules.stateFile?.reasons ?? []).compactMap { entry in
            pattern(entry.pattern).map { (pattern: $0, reason: entry.reason) }
        }
        guard problems.isEmpty else { return nil }
        return CompiledRules(
            rules: rules, paths: paths, composers: composers, dialogStart: dialogStart, screen: screen,
            reasons: reasons)
    }

    private mutating func shape(of shape: ComposerShape) -> CompiledRules.Composer? {
        let notPrompt = shape.notPrompt.flatMap { pattern($0) }
        let top = shape.top.flatMap { pattern($0) }
        let bottom = shape.bottom.flatMap { pattern($0) }
        let row = shape.row.flatMap { pattern($0) }
        let continuation = shape.continuation.flatMap { pattern($0) }
        let absentAbove = shape.absentAbove.flatMap { pattern($0) }
        guard let prompt = pattern(shape.prompt) else { return nil }
        return CompiledRules.Composer(
            prompt: prompt, notPrompt: notPrompt, top: top, bottom: bottom, row: row,
            continuation: continuation, absentAbove: absentAbove, footerRows: shape.footerRows)
    }

    private mutating func conditions(_ conditions: [ScreenCondition]) -> [CompiledRules.Condition] {
        conditions.compactMap { condition in
            let after = condition.after.flatMap { pattern($0) }
            guard let compiled = pattern(condition.pattern) else { return nil }
            return CompiledRules.Condition(
                region: condition.region, rows: condition.rows, after: after, pattern: compiled)
        }
    }

    private mutating func pattern(_ pattern: RulePattern) -> Pattern? {
        do throws(Pattern.Failure) {
            return try Pattern(pattern.text)
        } catch {
            let message = "this is no pattern: \(error.message) (byte \(error.offset) of it)"
            problems.append(RuleProblem(location: pattern.location, message: message))
            return nil
        }
    }
}
