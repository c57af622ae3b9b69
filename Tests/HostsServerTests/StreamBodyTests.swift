import HostsModel
import Testing

@testable import HostsServer

@Suite struct StreamBodyTests {
    private func read(_ body: StreamBody, _ size: Int) -> (StreamBody.Read, [UInt8]) {
        var buffer = [UInt8](repeating: 0, count: size)
        let result = buffer.withUnsafeMutableBytes { body.read(into: $0) }
        guard case .bytes(let count) = result else { return (result, []) }
        return (result, Array(buffer[..<count]))
    }

    @Test(arguments: [1, 2, 3, 5, 64]) func `bytes come out as they went in, whatever the buffer`(size: Int) {
        let body = StreamBody(format: .jsonLines) {}
        var expected: [UInt8] = []
        for number in UInt8(0)..<100 {
            let chunk = [UInt8](repeating: number, count: Int(number % 7))
            expected += chunk
            let result = body.append(chunk)
            #expect(result == .queued)
        }
        var received: [UInt8] = []
        while received.count < expected.count { received += read(body, size).1 }
        #expect(received == expected)
        #expect(read(body, size).0 == .empty)
    }

    @Test func `the loop is woken once, and only when it waits`() {
        let wakes = Locked(0)
        let body = StreamBody(format: .jsonLines) { wakes.withLock { $0 += 1 } }
        _ = body.append([1])
        #expect(wakes.withLock { $0 } == 0)
        _ = read(body, 8)
        #expect(read(body, 8).0 == .empty)
        _ = body.append([1])
        _ = body.append([2])
        #expect(wakes.withLock { $0 } == 1)
    }

    @Test func `a full body refuses the next chunk, keeps the last word, and ends`() {
        let body = StreamBody(format: .serverSentEvents) {}
        let chunk = [UInt8](repeating: 1, count: 1024)
        var count = 0
        while body.append(chunk) == .queued { count += 1 }
        #expect(count == StreamBody.byteLimit.bytes / 1024)
        body.end(.dropped)
        body.end(.stopping)
        let result = body.append([2])
        #expect(result == .closed)
        var text: [UInt8] = []
        while case (.bytes, let part) = read(body, 4096) { text += part }
        #expect(read(body, 8).0 == .end)
        let word = String(decoding: text.dropFirst(count * 1024), as: UTF8.self)
        #expect(word.hasPrefix("event: dropped\n"))
        #expect(!word.contains("stopping"))
    }

    @Test func `one chunk that is larger than the limit passes alone`() {
        let body = StreamBody(format: .jsonLines) {}
        let large = [UInt8](repeating: 1, count: StreamBody.byteLimit.bytes + 1)
        let first = body.append(large)
        let second = body.append([1])
        #expect(first == .queued)
        #expect(second == .full)
    }

    @Test func `a sign of life is only sent when nothing waits`() {
        let body = StreamBody(format: .jsonLines) {}
        body.appendIfIdle([10])
        body.appendIfIdle([10])
        #expect(read(body, 8).1 == [10])
    }

    @Test(arguments: 0..<100) func `a writer that waits for room ends when its reader goes`(round: Int) async
    {
        let body = StreamBody(format: .jsonLines) {}
        let chunk = [UInt8](repeating: 1, count: StreamBody.byteLimit.bytes)
        _ = body.append(chunk)
        async let wasQueued = body.appendWhenRoom(chunk)
        if round.isMultiple(of: 2) {
            body.close()
            #expect(await wasQueued == false)
        } else {
            while case .bytes = read(body, 65536).0 {}
            #expect(await wasQueued)
        }
    }

    @Test(arguments: 0..<100) func `waiting for the end is cancelled with its task`(round: Int) async {
        let body = StreamBody(format: .jsonLines) {}
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await body.untilClosed() }
            if round.isMultiple(of: 2) { body.close() } else { group.cancelAll() }
        }
    }

    @Test(
        arguments: [
            (nil, nil), ("*/*", nil), ("application/json", nil), ("text/event-stream", .serverSentEvents),
            ("application/x-ndjson", .jsonLines),
            ("text/html, Text/Event-Stream ;q=0.9, application/x-ndjson", .serverSentEvents),
            ("application/json, application/x-ndjson", .jsonLines),
        ] as [(String?, StreamFormat?)])
    func accept(text: String?, format: StreamFormat?) {
        #expect(StreamFormat(accept: text) == format)
    }
}
