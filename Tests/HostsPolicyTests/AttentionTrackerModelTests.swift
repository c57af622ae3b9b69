import HostsPolicy
import Testing

/// Random looks against what must hold whatever comes.
@Suite struct AttentionTrackerModelTests {
    /// Counts from the looks alone how many ends and needs there may be.
    private struct Model {
        var busyRuns = 0
        var ends = 0
        var isNeeded = false
        var lastEvidence: AttentionState?

        mutating func look(_ state: AttentionState) {
            switch state {
            case .unknown, .stopped: return
            case .busy where lastEvidence != .busy: busyRuns += 1
            case .busy, .idle, .needsYou, .exited: break
            }
            lastEvidence = state == .exited ? nil : state
        }
    }

    private static let looks: [AttentionObservation] = [
        .init(.busy), .init(.idle), .init(.idle, hasBackgroundWork: true),
        .init(.idle, hasBackgroundWork: true, isEndCertain: true), .init(.idle, isInterrupted: true),
        .init(.needsYou(reason: "permission")), .init(.needsYou(reason: "question")), .init(.exited),
        .init(.stopped),
        .init(.unknown),
    ]

    @Test(arguments: 0..<200)
    func `whatever is seen, a turn ends at most once and needs alternate with clearances`(round: Int) {
        var tracker = AttentionTracker<Int>()
        var model = Model()
        var endedTurns: Set<Int> = []
        for _ in 0..<200 {
            guard let look = Self.looks.randomElement() else { continue }
            let before = model.lastEvidence
            let edges = tracker.update([7: look])
            model.look(look.state)
            for edge in edges {
                switch edge.change {
                case .started: #expect(before == nil)
                case .turnEnded:
                    #expect(before == .busy || before == .idle)
                    #expect(look.state == .idle || look.state == .exited)
                    #expect(endedTurns.insert(edge.turn).inserted, "turn \(edge.turn) ended twice")
                    model.ends += 1
                case .needsYou(let reason):
                    #expect(before != nil && before != look.state)
                    #expect(look.state == .needsYou(reason: reason))
                    model.isNeeded = true
                case .needsCleared:
                    if case .needsYou = before {} else { Issue.record("cleared without a need: \(look)") }
                    model.isNeeded = false
                case .exited: #expect(look.state == .exited)
                }
            }
            #expect(model.ends <= model.busyRuns)
            if look.state == .exited {
                #expect(tracker.ids.isEmpty)
                endedTurns = []
            }
        }
    }

    @Test(arguments: 0..<50)
    func `looks that are no evidence change nothing, wherever they fall`(round: Int) {
        var plain = AttentionTracker<Int>()
        var disturbed = AttentionTracker<Int>()
        for index in 0..<100 {
            guard let look = Self.looks.randomElement() else { continue }
            let expected = plain.update([7: look])
            // Only after the first look, which would be of another kind.
            if index > 0, disturbed.ids.contains(7) {
                let quiet = disturbed.update([7: AttentionObservation(Bool.random() ? .unknown : .stopped)])
                #expect(quiet.isEmpty)
            }
            let edges = disturbed.update([7: look])
            #expect(edges == expected)
        }
    }
}
