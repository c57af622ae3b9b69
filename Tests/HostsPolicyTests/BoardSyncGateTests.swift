import HostsPolicy
import Testing

@Suite struct BoardSyncGateTests {
    typealias Action = BoardSyncGate.Action

    @Test func `a new gate is in sync and has nothing to tell`() {
        let gate = BoardSyncGate()
        #expect(!gate.isDesynced)
        #expect(!gate.shouldFireHaptic)
        #expect(!gate.clockWasRunningBeforeDesync)
        #expect(gate.pausedActiveColor == .white)
    }

    /// One call of `update` and what it must answer.
    struct Step: Sendable {
        let isOutOfSync: Bool
        let isRunning: Bool
        let side: PieceColor
        let action: Action
        let haptic: Bool
    }

    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let steps: [Step]

        init(_ name: String, _ steps: [Step]) {
            testDescription = name
            self.steps = steps
        }
    }

    private static func out(_ running: Bool, _ side: PieceColor, _ action: Action, haptic: Bool = true)
        -> Step
    {
        Step(isOutOfSync: true, isRunning: running, side: side, action: action, haptic: haptic)
    }

    private static func sync(_ running: Bool, _ side: PieceColor, _ action: Action) -> Step {
        Step(isOutOfSync: false, isRunning: running, side: side, action: action, haptic: false)
    }

    @Test(arguments: [
        Case("in sync and staying so is nothing", [sync(true, .white, .none), sync(false, .black, .none)]),
        Case("entering pauses a running clock and fires", [out(true, .white, .pauseClock)]),
        Case("entering leaves a standing clock alone and fires all the same", [out(false, .white, .none)]),
        Case(
            "staying out of sync is nothing, whatever the clock and the side do",
            [
                out(true, .white, .pauseClock), out(false, .white, .none), out(true, .black, .none),
                out(false, .black, .none),
            ]),
        Case(
            "leaving resumes a clock that was paused",
            [out(true, .white, .pauseClock), sync(false, .white, .resumeClock(color: .white))]),
        Case(
            "a move made while out of sync resumes the clock on the other side",
            [out(true, .white, .pauseClock), sync(false, .black, .resumeClock(color: .black))]),
        Case(
            "the side on the move counts, not the one a step in between told",
            [
                out(true, .black, .pauseClock), out(false, .black, .none),
                sync(false, .white, .resumeClock(color: .white)),
            ]),
        Case(
            "leaving does not start a clock that stood",
            [out(false, .white, .none), sync(false, .white, .none)]),
        Case(
            "a clock that was started while out of sync is not resumed: it was not paused",
            [out(false, .white, .none), out(true, .white, .none), sync(true, .white, .none)]),
        Case(
            "a second loss is a transition of its own",
            [
                out(true, .white, .pauseClock), sync(false, .white, .resumeClock(color: .white)),
                out(true, .black, .pauseClock), sync(false, .black, .resumeClock(color: .black)),
            ]),
        Case(
            "an old pause does not resume a clock that stood at the second loss",
            [
                out(true, .white, .pauseClock), sync(false, .white, .resumeClock(color: .white)),
                out(false, .white, .none), sync(false, .white, .none),
            ]),
    ])
    func transitions(_ c: Case) {
        var gate = BoardSyncGate()
        for (index, step) in c.steps.enumerated() {
            let action = gate.update(
                isOutOfSync: step.isOutOfSync, clockIsRunning: step.isRunning, currentActiveColor: step.side)
            #expect(action == step.action, "step \(index + 1)")
            #expect(gate.shouldFireHaptic == step.haptic, "step \(index + 1)")
            #expect(gate.isDesynced == step.isOutOfSync, "step \(index + 1)")
        }
    }

    @Test func `what held when sync was lost can be read`() {
        var gate = BoardSyncGate()
        _ = gate.update(isOutOfSync: true, clockIsRunning: true, currentActiveColor: .black)
        #expect(gate.clockWasRunningBeforeDesync)
        #expect(gate.pausedActiveColor == .black)
        _ = gate.update(isOutOfSync: true, clockIsRunning: false, currentActiveColor: .white)
        #expect(gate.clockWasRunningBeforeDesync)
        #expect(gate.pausedActiveColor == .black)
    }

    @Test func `the haptic fires once for each entry, and not again once it was acknowledged`() {
        var gate = BoardSyncGate()
        for _ in 0..<3 {
            _ = gate.update(isOutOfSync: true, clockIsRunning: true, currentActiveColor: .white)
            #expect(gate.shouldFireHaptic)
            gate.acknowledgeHaptic()
            #expect(!gate.shouldFireHaptic)
            _ = gate.update(isOutOfSync: true, clockIsRunning: false, currentActiveColor: .white)
            #expect(!gate.shouldFireHaptic)
            _ = gate.update(isOutOfSync: false, clockIsRunning: false, currentActiveColor: .white)
            #expect(!gate.shouldFireHaptic)
        }
    }

    @Test func `acknowledging when nothing fired changes nothing`() {
        var gate = BoardSyncGate()
        let before = gate
        gate.acknowledgeHaptic()
        #expect(gate == before)
    }

    @Test func `no run of inputs pauses or resumes twice in a row`() {
        var generator = SystemRandomNumberGenerator()
        var gate = BoardSyncGate()
        var isPausedByGate = false
        for _ in 0..<5000 {
            let wasDesynced = gate.isDesynced
            let out = Bool.random(using: &generator)
            let side: PieceColor = Bool.random(using: &generator) ? .white : .black
            let running = Bool.random(using: &generator)
            let action = gate.update(isOutOfSync: out, clockIsRunning: running, currentActiveColor: side)
            switch action {
            case .none: #expect(wasDesynced == out || !(wasDesynced ? isPausedByGate : running))
            case .pauseClock:
                #expect(!isPausedByGate && !wasDesynced && out && running)
                isPausedByGate = true
            case .resumeClock(let color):
                #expect(isPausedByGate && wasDesynced && !out && color == side)
                isPausedByGate = false
            }
        }
    }

    /// The view of the seed, with a clock and a haptic engine that only note what they are told.
    @Test func `the seed's example pauses, fires once and resumes on the right side`() {
        var view = View()
        view.onBoardUpdate(isOutOfSync: false, clockIsRunning: true, activeColor: .white)
        view.onBoardUpdate(isOutOfSync: true, clockIsRunning: true, activeColor: .white)
        view.onBoardUpdate(isOutOfSync: true, clockIsRunning: false, activeColor: .white)
        view.onBoardUpdate(isOutOfSync: false, clockIsRunning: false, activeColor: .black)
        #expect(view.log == ["pause", "haptic", "resume black"])
    }

    private struct View {
        var syncGate = BoardSyncGate()
        var log: [String] = []

        mutating func onBoardUpdate(isOutOfSync: Bool, clockIsRunning: Bool, activeColor: PieceColor) {
            let action = syncGate.update(
                isOutOfSync: isOutOfSync,
                clockIsRunning: clockIsRunning,
                currentActiveColor: activeColor
            )
            switch action {
            case .pauseClock:
                log.append("pause")
            case .resumeClock(let color):
                log.append("resume \(color.rawValue)")
            case .none:
                break
            }
            if syncGate.shouldFireHaptic {
                log.append("haptic")
                syncGate.acknowledgeHaptic()
            }
        }
    }
}
