package import HostsModel

/// What one screen says about its agent.
package struct ScreenReading: Hashable, Sendable {
    /// Nil: no rule matched.
    package var meaning: ScreenRule.Meaning?
    package var strength: Evidence.Strength
    /// Every rule with that meaning that matched, in the order in which they are asked.
    package var evidence: [Evidence]
    /// Rules that matched, too, and mean something else.
    package var outranked: [OutrankedRule]
    package var flags: Set<SessionFlag>
    /// The end of this busy time is no turn end.
    package var isQuiet: Bool
    /// Every rule that asks for the person says that the need may be met without one.
    package var isDwelling: Bool
    /// Rules that could not be decided, such as because a pattern hit its limit.
    package var failedRules: [String]
    /// Of what is shown outside of the composer and the rows below it: of the agent's own output.
    package var outputDigest: Int

    /// A rule that has matched in vain.
    package struct OutrankedRule: Hashable, Sendable {
        package let evidence: Evidence
        package let meaning: ScreenRule.Meaning

        package init(evidence: Evidence, meaning: ScreenRule.Meaning) {
            self.evidence = evidence
            self.meaning = meaning
        }
    }

    package init(
        meaning: ScreenRule.Meaning? = nil, strength: Evidence.Strength = .weak, evidence: [Evidence] = [],
        outranked: [OutrankedRule] = [], flags: Set<SessionFlag> = [], isQuiet: Bool = false,
        isDwelling: Bool = false, failedRules: [String] = [], outputDigest: Int = 0
    ) {
        self.meaning = meaning
        self.strength = strength
        self.evidence = evidence
        self.outranked = outranked
        self.flags = flags
        self.isQuiet = isQuiet
        self.isDwelling = isDwelling
        self.failedRules = failedRules
        self.outputDigest = outputDigest
    }

    /// Whether a title showed work.
    var hasBusyTitle: Bool { meaning == .busy && evidence.contains { $0.kind == .title } }
}
