import HostsAttention
import HostsDetection
import HostsModel
import HostsPolicy
import Testing

/// Runs of agents over time, from what a look sees to what the person is told: exactly these edges, and no other.
@Suite struct RecordedRunTests {
    @Test func `every file is a run`() {
        #expect(RecordedRun.all.count == 27)
    }

    @Test(arguments: RecordedRun.all)
    func `a recorded run has its edges`(_ run: RecordedRun) throws {
        var running = try RunningHost(run)
        var detector = HostDetector(host: HostDetectorTests.host, rules: RuleFixtures.book)
        var tracker = AttentionTracker<SessionID>()
        for look in run.looks {
            try running.begin(look)
            let place = "\(run.name), look \(look.seconds)"
            if look.isCut {
                try expectNothing(of: running.host, &detector, look, place)
                continue
            }
            let seen = try detector.look(at: running.host, seconds: look.seconds)
            let sessions = Dictionary(uniqueKeysWithValues: seen.sessions.map { ($0.id, $0) })
            let edges = tracker.update(sessions.mapValues(AttentionObservation.init))
            #expect(
                edges.map { Self.words($0.change) }.joined(separator: " ")
                    == look.edges.joined(separator: " "),
                "\(place): \(seen.sessions.map(\.evidence))")
            let state = seen.sessions.first?.state.word
            if let wanted = look.state {
                #expect(state == wanted, "\(place): \(seen.sessions.map(\.evidence))")
            }
            if let unwanted = look.notState { #expect(state != unwanted, "\(place)") }
        }
    }

    /// A reply that ends anywhere is an error.
    private func expectNothing(
        of host: FakeHost, _ detector: inout HostDetector, _ look: RecordedRun.Look, _ place: String
    ) throws {
        let whole = host.answer(detector.nextRequest())
        for length in stride(from: 0, to: whole.body.count - 1, by: 61) {
            _ = detector.nextRequest()
            let cut = ProbeReply(nonce: whole.nonce, body: Array(whole.body.prefix(length)), status: 0)
            #expect(throws: ReplyError.self, "\(place)") {
                _ = try detector.report(cut, at: WallTime(milliseconds: 1_000_000 + look.seconds * 1000))
            }
        }
    }

    private static func words(_ change: AttentionChange) -> String {
        switch change {
        case .started: "started"
        case .turnEnded(let hasBackgroundWork): hasBackgroundWork ? "turn-ended background" : "turn-ended"
        case .needsYou(let reason): "needs-you \(reason)"
        case .needsCleared: "needs-cleared"
        case .exited: "exited"
        }
    }
}
