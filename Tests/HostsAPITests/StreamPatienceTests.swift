import HostsModel
import Testing

@testable import HostsAPI

@Suite struct StreamPatienceTests {
    private let limits = ClientLimits(call: .seconds(10), heartbeat: .seconds(15), missedBeats: 2)
    private let begin = ContinuousClock.now

    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let now: Int
        var lastActivity = 0
        var isAnswered = true
        var deadline: Int?
        let wait: Result<Duration, ClientError>
    }

    @Test(arguments: [
        Case(
            testDescription: "the head is waited for as a call is", now: 4, isAnswered: false,
            wait: .success(.seconds(6))),
        Case(
            testDescription: "a head that never comes", now: 10, isAnswered: false,
            wait: .failure(.timedOut(after: .seconds(10)))),
        Case(testDescription: "silence from the head on", now: 29, wait: .success(.seconds(1))),
        Case(
            testDescription: "two beats missed", now: 30,
            wait: .failure(.heartbeatMissed(after: .seconds(30)))),
        Case(
            testDescription: "silence counts from the last beat", now: 44, lastActivity: 15,
            wait: .success(.seconds(1))),
        Case(
            testDescription: "two beats missed after some came", now: 45, lastActivity: 15,
            wait: .failure(.heartbeatMissed(after: .seconds(30)))),
        Case(
            testDescription: "a deadline that comes first", now: 18, lastActivity: 15, deadline: 20,
            wait: .success(.seconds(2))),
        Case(
            testDescription: "a deadline ends a stream that lives", now: 20, lastActivity: 15, deadline: 20,
            wait: .failure(.deadlinePassed(after: .seconds(20)))),
        Case(
            testDescription: "a deadline far away", now: 16, lastActivity: 15, deadline: 500,
            wait: .success(.seconds(29))),
    ])
    func `how long a stream is waited for`(_ c: Case) {
        let patience = StreamPatience(
            limits: limits, begin: begin, deadline: c.deadline.map { begin + .seconds($0) })
        let wait = Result { () throws(ClientError) in
            try patience.wait(
                now: begin + .seconds(c.now), lastActivity: begin + .seconds(c.lastActivity),
                isAnswered: c.isAnswered)
        }
        #expect(wait == c.wait)
    }

    @Test func `a heartbeat is a sign of life, and no line`() {
        let receiver = CurlReceiver(limits: limits, wantsLines: true, now: begin - .seconds(60))
        receiver.status = { 200 }
        let isTaken = [UInt8]("\n".utf8).withUnsafeBytes { receiver.receive($0) }
        #expect(isTaken)
        #expect(receiver.lastActivity >= begin)
        let lines = receiver.takeLines().filter { !$0.isEmpty }
        #expect(lines == [])
    }
}
