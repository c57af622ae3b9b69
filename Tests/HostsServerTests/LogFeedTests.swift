import HostsAPI
import HostsLog
import HostsModel
import HostsTestSupport
import Testing

@testable import HostsServer

@Suite struct LogFeedTests {
    private func feed() -> (LogCenter, LogFeed) {
        let center = LogCenter(level: .trace, sinks: [], clock: FixedWallClock())
        for number in 1...10 {
            center.log(number.isMultiple(of: 2) ? .hub : .api).record(
                number > 5 ? .warning : .debug, "event", "line \(number)", [])
        }
        return (center, LogFeed(center: center))
    }

    @Test(arguments: [
        (LogQuery(limit: 3), [8, 9, 10]), (LogQuery(limit: 0), []),
        (LogQuery(after: 4, limit: 3), [5, 6, 7]),
        (LogQuery(after: 99, limit: 3), []), (LogQuery(categories: [.hub], limit: 2), [8, 10]),
        (LogQuery(level: .info, limit: 100), [6, 7, 8, 9, 10]),
        (LogQuery(after: 0, categories: [.api], level: .warning, limit: 100), [7, 9]),
        (LogQuery(host: HostID(rawValue: "devbox"), limit: 100), []),
    ])
    func list(query: LogQuery, sequences: [Int]) {
        #expect(feed().1.list(query).logs.map(\.sequence) == sequences)
    }

    @Test(arguments: [
        (LogQuery(limit: 0), [], false), (LogQuery(limit: 2), [9, 10], false),
        (LogQuery(after: 8, limit: 0), [9, 10], false), (LogQuery(after: 10, limit: 0), [], false),
        (LogQuery(after: 11, categories: [.api], limit: 0), [1, 3, 5, 7, 9], true),
    ])
    func watch(query: LogQuery, past: [Int], isIncomplete: Bool) {
        let watch = feed().1.watch(query)
        #expect(watch.past.map(\.sequence) == past)
        #expect(watch.isIncomplete == isIncomplete)
    }

    @Test func `a place that the ring has let go is told`() {
        let (center, feed) = feed()
        for _ in 0..<LogCenter.ringCapacity { center.log(.hub).info("event", "more") }
        #expect(feed.watch(LogQuery(after: 3, limit: 0)).isIncomplete)
        #expect(!feed.watch(LogQuery(after: 10, limit: 0)).isIncomplete)
    }

    @Test func `a watch goes on with what its query includes`() async {
        let (center, feed) = feed()
        let watch = feed.watch(LogQuery(categories: [.hub], limit: 0))
        center.log(.api).info("event", "other")
        center.log(.hub).info("event", "ours")
        for await line in watch.live {
            #expect(line.message == "ours")
            break
        }
    }
}
