import HostsModel
import Testing

@testable import HostsTestSupport

@Suite struct FaultPipeTests {
    private let start = ContinuousClock.now
    private var random = SeededGenerator(seed: 7)

    /// Takes everything out, and tells what came when.
    private func drain(_ pipe: inout FaultPipe) -> [(bytes: [UInt8], after: Duration)] {
        var out: [(bytes: [UInt8], after: Duration)] = []
        while let due = pipe.nextDue, let bytes = pipe.due(now: due) {
            out.append((Array(bytes), due - start))
            pipe.pass(bytes.count)
        }
        return out
    }

    @Test mutating func `bytes come out when they are due, not before`() {
        var pipe = FaultPipe()
        var way = ProxyFaults.Way()
        way.delay = .milliseconds(400)
        pipe.take([1, 2, 3], way, now: start, random: &random)
        #expect(pipe.due(now: start + .milliseconds(399)) == nil)
        #expect(pipe.due(now: start + .milliseconds(400)) == [1, 2, 3])
    }

    @Test mutating func `jitter never lets a byte overtake another`() {
        var pipe = FaultPipe()
        var way = ProxyFaults.Way()
        way.delay = .milliseconds(400)
        way.jitter = .milliseconds(400)
        for number in 0..<100 { pipe.take([UInt8(number)], way, now: start, random: &random) }
        let out = drain(&pipe)
        #expect(out.flatMap(\.bytes) == Array(0..<100))
        #expect(zip(out, out.dropFirst()).allSatisfy { $0.after <= $1.after })
        #expect(out.allSatisfy { $0.after <= .milliseconds(800) })
        #expect(Set(out.map(\.after)).count > 1)
    }

    @Test mutating func `pieces come one after another, each after its pause`() {
        var pipe = FaultPipe()
        var way = ProxyFaults.Way()
        way.pieceSize = 2
        way.piecePause = .milliseconds(50)
        pipe.take([1, 2, 3, 4, 5], way, now: start, random: &random)
        let out = drain(&pipe)
        #expect(out.map(\.bytes) == [[1, 2], [3, 4], [5]])
        #expect(out.map(\.after) == [.zero, .milliseconds(50), .milliseconds(100)])
    }

    @Test mutating func `a loss holds back what follows, too`() {
        var pipe = FaultPipe()
        var way = ProxyFaults.Way()
        way.lossOneIn = 1
        way.lossDelay = .milliseconds(900)
        pipe.take([1], way, now: start, random: &random)
        way.lossOneIn = 0
        pipe.take([2], way, now: start, random: &random)
        let out = drain(&pipe)
        #expect(out.map(\.after) == [.milliseconds(900), .milliseconds(900)])
    }

    @Test mutating func `one bit is turned over, counted from the setting of the faults`() {
        var pipe = FaultPipe()
        var way = ProxyFaults.Way()
        pipe.take([0, 0], way, now: start, random: &random)
        pipe.faultsChanged()
        way.flip = ProxyFaults.Flip(byte: 3, bit: 6)
        for _ in 0..<3 { pipe.take([0, 0], way, now: start, random: &random) }
        let out = drain(&pipe)
        #expect(out.flatMap(\.bytes) == [0, 0, 0, 0, 0, 64, 0, 0])
    }

    @Test mutating func `a full pipe has no room until bytes have gone out`() {
        var pipe = FaultPipe()
        pipe.take(
            [UInt8](repeating: 0, count: FaultPipe.capacity), ProxyFaults.Way(), now: start, random: &random)
        #expect(pipe.room == 0)
        pipe.pass(10)
        #expect(pipe.room == 10)
        pipe.hasSourceEnded = true
        #expect(pipe.room == 0)
        #expect(!pipe.isDrained)
        pipe.pass(FaultPipe.capacity - 10)
        #expect(pipe.isDrained)
    }
}
