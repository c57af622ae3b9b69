import HostsPolicy
import Testing

@Suite struct AttentionTrackerTests {
    typealias Observation = AttentionObservation

    /// Looks at one agent, and the changes that each of them must bring.
    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let looks: [(observed: Observation, changes: [AttentionChange])]

        init(_ name: String, _ looks: (Observation, [AttentionChange])...) {
            testDescription = name
            self.looks = looks.map { ($0.0, $0.1) }
        }
    }

    private static let busy = Observation(.busy)
    private static let idle = Observation(.idle)
    private static let exited = Observation(.exited)
    private static let unknown = Observation(.unknown)
    private static let stopped = Observation(.stopped)
    private static let permission = Observation(.needsYou(reason: "permission"))
    private static let question = Observation(.needsYou(reason: "question"))
    private static let background = Observation(.idle, hasBackgroundWork: true)
    private static let certainBackground = Observation(.idle, hasBackgroundWork: true, isEndCertain: true)
    private static let interrupted = Observation(.idle, isInterrupted: true)
    private static let ended = AttentionChange.turnEnded(hasBackgroundWork: false)

    @Test(arguments: [
        Case("a turn ends", (busy, []), (idle, [ended])),
        Case(
            "a turn ends once, however often the end is seen", (busy, []), (idle, [ended]), (idle, []),
            (idle, [])),
        Case("each turn has its own end", (busy, []), (idle, [ended]), (busy, []), (idle, [ended])),
        Case("idle at the first look is a baseline", (idle, []), (idle, [])),
        Case("the need at the first look is a baseline", (permission, []), (permission, [])),
        Case("a need that was there at the first look is cleared", (permission, []), (idle, [.needsCleared])),
        Case(
            "a turn ends by the need for the person", (busy, []),
            (permission, [.needsYou(reason: "permission")])),
        Case(
            "an idle agent can need the person too", (idle, []),
            (permission, [.needsYou(reason: "permission")])),
        Case(
            "the same need is told once", (busy, []), (permission, [.needsYou(reason: "permission")]),
            (permission, [])),
        Case(
            "another reason is another need", (busy, []), (permission, [.needsYou(reason: "permission")]),
            (question, [.needsYou(reason: "question")])),
        Case(
            "an answered need is cleared and a new turn begins", (permission, []), (busy, [.needsCleared]),
            (idle, [ended])),
        Case(
            "a need that ends in idle is cleared; its turn had ended already", (busy, []),
            (permission, [.needsYou(reason: "permission")]), (idle, [.needsCleared])),
        Case("an agent that exits while busy has ended its turn", (busy, []), (exited, [ended, .exited])),
        Case("an idle agent exits", (idle, []), (exited, [.exited])),
        Case("an agent that needed the person exits", (permission, []), (exited, [.needsCleared, .exited])),
        Case("an exit is told once", (idle, []), (exited, [.exited]), (exited, [])),
        Case("an exit at the first look is of no interest", (exited, []), (exited, [])),
        Case("unknown is no evidence", (busy, []), (unknown, []), (idle, [ended])),
        Case(
            "a stopped agent has not ended its turn", (busy, []), (stopped, []), (busy, []), (idle, [ended])),
        Case("unknown does not clear a need", (permission, []), (unknown, []), (permission, [])),
        Case("unknown is no baseline", (unknown, []), (permission, []), (busy, [.needsCleared])),
        Case("stopped is no baseline", (stopped, []), (idle, []), (busy, []), (idle, [ended])),
        Case("an agent that was only seen as unknown can exit", (unknown, []), (exited, [.exited])),
        Case("an interrupted end is quiet", (busy, []), (interrupted, []), (idle, [])),
        Case(
            "the turn after an interrupted one is told", (busy, []), (interrupted, []), (busy, []),
            (idle, [ended])),
        Case(
            "an interrupted turn that ends in an exit is quiet", (busy, []),
            (Observation(.exited, isInterrupted: true), [.exited])),
        Case("idle with background work is no end", (busy, []), (background, []), (background, [])),
        Case(
            "the turn ends when the background work is gone", (busy, []), (background, []), (idle, [ended]),
            (idle, [])),
        Case(
            "the agent's own word ends the turn in spite of background work", (busy, []),
            (certainBackground, [.turnEnded(hasBackgroundWork: true)]), (background, []), (idle, [])),
        Case(
            "its own word may come later", (busy, []), (background, []),
            (certainBackground, [.turnEnded(hasBackgroundWork: true)])),
        Case(
            "a turn that goes on after background work ends once", (busy, []), (background, []), (busy, []),
            (background, []), (idle, [ended])),
        Case(
            "an agent with background work can need the person, and has ended its turn by that", (busy, []),
            (background, []), (permission, [.needsYou(reason: "permission")]), (background, [.needsCleared]),
            (idle, [])),
        Case(
            "an exit ends the background work too", (busy, []), (background, []), (exited, [ended, .exited])),
        Case(
            "an interruption ends a held turn quietly", (busy, []), (background, []), (interrupted, []),
            (idle, [])),
        Case("background work without a turn is nothing", (idle, []), (background, []), (idle, [])),
    ])
    func looks(_ c: Case) {
        var tracker = AttentionTracker<String>()
        for (index, look) in c.looks.enumerated() {
            let changes = tracker.update(["a": look.observed]).map(\.change)
            #expect(changes == look.changes, "look \(index + 1)")
        }
    }

    @Test func `a lost link is no look: what changed meanwhile is found once afterwards`() {
        var tracker = AttentionTracker<String>()
        _ = tracker.update(["a": Self.busy])
        // The link is down for an hour: the owner does not call `update`.
        let afterwards = tracker.update(["a": Self.idle])
        #expect(afterwards == [AttentionEdge(id: "a", change: Self.ended, turn: 1)])
        let again = tracker.update(["a": Self.idle])
        #expect(again.isEmpty)
    }

    @Test func `a cold start announces nothing old`() {
        var tracker = AttentionTracker<String>()
        let first = tracker.update(["a": Self.idle, "b": Self.permission, "c": Self.busy, "d": Self.exited])
        #expect(first.isEmpty)
    }

    @Test func `an agent that appears after the first look has started, and has no other edge`() {
        var tracker = AttentionTracker<String>()
        let empty = tracker.update([:])
        let appeared = tracker.update(["a": Self.permission])
        let gone = tracker.update(["a": Self.exited])
        let back = tracker.update(["a": Self.busy])
        #expect(empty.isEmpty)
        #expect(appeared == [AttentionEdge(id: "a", change: .started, turn: 0)])
        #expect(gone.map(\.change) == [.needsCleared, .exited])
        #expect(back == [AttentionEdge(id: "a", change: .started, turn: 1)])
    }

    @Test func `agents do not mix`() {
        var tracker = AttentionTracker<String>()
        _ = tracker.update(["a": Self.busy, "b": Self.busy])
        let edges = tracker.update(["a": Self.idle, "b": Self.busy])
        #expect(edges.map(\.id) == ["a"])
    }

    @Test func `turns are counted for each agent`() {
        var tracker = AttentionTracker<String>()
        _ = tracker.update(["a": Self.idle])
        var turns: [Int] = []
        for _ in 0..<3 {
            _ = tracker.update(["a": Self.busy])
            turns += tracker.update(["a": Self.idle]).map(\.turn)
        }
        #expect(turns == [1, 2, 3])
    }

    @Test func `an agent that a look does not list keeps its state`() {
        var tracker = AttentionTracker<String>()
        _ = tracker.update(["a": Self.busy])
        for _ in 0..<AttentionTracker<String>.absenceLimit { _ = tracker.update([:]) }
        let edges = tracker.update(["a": Self.idle])
        #expect(edges.map(\.change) == [Self.ended])
    }

    @Test func `an agent that is missing for too long is forgotten`() {
        var tracker = AttentionTracker<String>()
        _ = tracker.update(["a": Self.busy])
        for _ in 0...AttentionTracker<String>.absenceLimit { _ = tracker.update([:]) }
        #expect(tracker.ids.isEmpty)
        let edges = tracker.update(["a": Self.idle])
        #expect(edges.map(\.change) == [.started])
    }

    @Test func `what was forgotten needs a new baseline`() {
        var tracker = AttentionTracker<String>()
        _ = tracker.update(["a": Self.busy, "b": Self.busy])
        tracker.forget(["a"])
        let edges = tracker.update(["a": Self.idle, "b": Self.idle])
        #expect(Set(edges.map(\.change)) == [.started, Self.ended])
        #expect(edges.first { $0.change == Self.ended }?.id == "b")
    }
}
