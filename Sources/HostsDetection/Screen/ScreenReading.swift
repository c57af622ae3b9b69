package import HostsModel

/// What one screen says about its agent.
package struct ScreenReading: Hashable, Sendable {
    /// Nil: no rule matched.
    package var meaning: ScreenRule.Meaning?
    package var strength: Evidence.Strength = .weak
    /// Every rule that matched, in the order in which they are asked.
    package var matches: [Match] = []
    package var flags: Set<SessionFlag> = []
    /// The end of this busy time is no turn end.
    package var isQuiet = false
    /// Every rule that asks for the person says that the need may be met without one.
    package var isDwelling = false
    /// Rules that could not be decided, such as because a pattern hit its limit.
    package var failedRules: [String] = []
    /// Of what is shown outside of the composer and the rows below it: of the agent's own output.
    package var outputDigest: Int

    /// A rule that has matched.
    package struct Match: Hashable, Sendable {
        package let evidence: Evidence
        /// What it says by itself.
        package let meaning: ScreenRule.Meaning
        /// A rule that was asked before says something else.
        package let isOutranked: Bool

        package init(evidence: Evidence, meaning: ScreenRule.Meaning, isOutranked: Bool) {
            self.evidence = evidence
            self.meaning = meaning
            self.isOutranked = isOutranked
        }
    }

    package init(outputDigest: Int = 0) {
        self.outputDigest = outputDigest
    }

    /// Of the rules that say what the screen means.
    package var evidence: [Evidence] { matches.filter { !$0.isOutranked }.map(\.evidence) }

    /// Whether a title showed work.
    var hasBusyTitle: Bool { meaning == .busy && evidence.contains { $0.kind == .title } }
}
