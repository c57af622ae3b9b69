import Testing

/// Screens as they meet an eye that must not be fooled.
///
/// A reading is right or unknown; it never invents a need or the end of a turn.
@Suite(.serialized, .ownThread) struct ScreenMutationTests {
    @Test(arguments: ScreenMutation.allCases)
    func `no screen is read wrong`(_ mutation: ScreenMutation) throws {
        let score = try ScreenScore(mutation)
        #expect(score.total > 0)
        #expect(
            score.wrong.isEmpty,
            "\(mutation.rawValue): \(score.wrong.count) of \(score.total)\n\(score.wrong.prefix(40).joined(separator: "\n"))"
        )
    }
}
