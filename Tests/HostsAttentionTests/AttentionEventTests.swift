import HostsModel
import Testing

@testable import HostsAttention

@Suite struct AttentionEventTests {
    @Test func `identifiers only grow, whatever the clock does`() {
        var source = EventIDSource()
        var last = source.next(at: WallTime(milliseconds: 1_000))
        for time in [1_000, 1_000, 2_000, 500, -5, 2_000, Int64.min, Int64.max, 0] as [Int64] {
            let next = source.next(at: WallTime(milliseconds: time))
            #expect(next > last, "at \(time)")
            #expect(EventID(rawValue: next.rawValue) == next)
            last = next
        }
    }

    @Test func `identifiers of an earlier run come before those of this one`() {
        var earlier = EventIDSource()
        let last = earlier.next(at: WallTime(milliseconds: 5_000))
        var source = EventIDSource()
        source.advance(past: last)
        #expect(source.next(at: WallTime(milliseconds: 1_000)) > last)
    }

    @Test(arguments: [
        "", "0", "00000000000000AA", "00000000000000ag", "00000000000000aa0", "000000000000 0aa",
    ])
    func `what is no identifier is refused`(text: String) {
        #expect(EventID(rawValue: text) == nil)
    }

    @Test(arguments: [
        (0, "0 s"), (-5, "0 s"), (59, "59 s"), (60, "1 min"), (130, "2 min 10 s"), (3600, "1 h"),
        (3605, "1 h"),
        (7384, "2 h 3 min"), (90_000, "1 d 1 h"),
    ])
    func length(seconds: Int, text: String) {
        #expect(EventSummary.length(.seconds(seconds)) == text)
    }

    @Test(arguments: NeedsYouReason.allCases)
    func `every reason has words of its own`(reason: NeedsYouReason) {
        let event = AttentionEvent(
            id: EventIDSource.first, kind: .needsYou, key: "k", time: WallTime(milliseconds: 0),
            host: CenterRig.devbox,
            agent: AgentName(rawValue: "codex\u{1b}[2J"), place: "-", summary: "", delivery: .pending)
        guard let label = AgentLabel(event) else {
            Issue.record("the event has an agent and a host")
            return
        }
        let text = EventSummary.needsYou(label, reason, gap: nil)
        #expect(text.hasPrefix("codex\\u{1b}[2J on devbox "))
        let others = NeedsYouReason.allCases.filter { $0 != reason }
        #expect(!others.contains { EventSummary.needsYou(label, $0, gap: nil) == text })
    }
}

extension EventIDSource {
    static var first: EventID {
        var source = EventIDSource()
        return source.next(at: WallTime(milliseconds: 0))
    }
}
