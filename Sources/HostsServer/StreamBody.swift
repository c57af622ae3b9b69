import HostsModel

/// The bytes of one stream between the task that writes it and the loop that sends it.
///
/// Bounded.
final class StreamBody: Sendable {
    /// How much may wait for a reader that does not keep up; the last word comes on top.
    static let byteLimit = ByteCount.kibibytes(256)

    enum Append: Hashable, Sendable {
        case queued, full, closed
    }

    /// What the loop can send now.
    enum Read: Hashable, Sendable {
        case bytes(Int)
        /// Nothing: `wake` is called when there is.
        case empty
        case end
    }

    fileprivate struct State: Sendable {
        var chunks: [[UInt8]] = []
        /// The first chunk that is not wholly sent, and how much of it is.
        var first = 0
        var offset = 0
        var byteCount = 0
        var hasEnded = false
        var isClosed = false
        var isReaderWaiting = false
    }

    private let format: StreamFormat
    private let state = Locked(State())
    private let wake: @Sendable () -> Void
    private let closed: AsyncStream<Void>
    private let closedSource: AsyncStream<Void>.Continuation
    private let room: AsyncStream<Void>
    private let roomSource: AsyncStream<Void>.Continuation

    /// Makes an empty body.
    ///
    /// - Parameters:
    ///   - format: Of the last word.
    ///   - wake: Tells the loop that there is something to send; from any thread.
    init(format: StreamFormat, wake: @escaping @Sendable () -> Void) {
        self.format = format
        self.wake = wake
        (closed, closedSource) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
        (room, roomSource) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    // MARK: The writer's side

    /// Adds a chunk, whole or not at all.
    func append(_ chunk: [UInt8]) -> Append {
        change { state in
            if state.hasEnded || state.isClosed { return .closed }
            guard state.byteCount == 0 || state.byteCount + chunk.count <= Self.byteLimit.bytes else {
                return .full
            }
            state.add(chunk)
            return .queued
        }
    }

    /// Adds a chunk as soon as there is room: for a past that the reader asked for and may take its time
    /// with.
    ///
    /// False when the stream has ended.
    func appendWhenRoom(_ chunk: [UInt8]) async -> Bool {
        while true {
            switch append(chunk) {
            case .queued: return true
            case .closed: return false
            case .full: break
            }
            var iterator = room.makeAsyncIterator()
            guard await iterator.next() != nil else { return false }
        }
    }

    /// Adds a chunk if nothing waits to be sent.
    func appendIfIdle(_ chunk: [UInt8]) {
        change { state in
            if state.byteCount == 0, !state.hasEnded, !state.isClosed { state.add(chunk) }
        }
    }

    /// Adds the last word and ends the stream; what waits is still sent.
    ///
    /// A second end has no effect.
    func end(_ word: StreamEnd) {
        let chunk = format.lastWord(word)
        change { state in
            guard !state.hasEnded, !state.isClosed else { return }
            state.add(chunk)
            state.hasEnded = true
        }
    }

    /// Waits until the reader has gone, or everything was sent after the end.
    ///
    /// Returns at once when cancelled.
    func untilClosed() async {
        for await _ in closed {}
    }

    /// Makes a change and wakes the loop if it waits for one.
    private func change<Result: Sendable>(_ body: (inout State) -> Result) -> Result {
        let (result, isDue) = state.withLock { state in
            let result = body(&state)
            let isDue = state.isReaderWaiting && (state.byteCount > 0 || state.hasEnded)
            if isDue { state.isReaderWaiting = false }
            return (result, isDue)
        }
        if isDue { wake() }
        return result
    }

    // MARK: The loop's side

    /// Takes what fits into a buffer.
    func read(into buffer: UnsafeMutableRawBufferPointer) -> Read {
        let result = state.withLock { state in
            let count = state.take(into: buffer)
            if count > 0 { return Read.bytes(count) }
            guard !state.hasEnded, !state.isClosed else { return .end }
            state.isReaderWaiting = true
            return .empty
        }
        roomSource.yield()
        return result
    }

    /// The connection is gone: nothing will be read any more.
    func close() {
        state.withLock { state in
            state = State()
            state.isClosed = true
        }
        closedSource.finish()
        roomSource.finish()
    }
}

extension StreamBody.State {
    fileprivate mutating func add(_ chunk: [UInt8]) {
        guard !chunk.isEmpty else { return }
        chunks.append(chunk)
        byteCount += chunk.count
    }

    fileprivate mutating func take(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        var written = 0
        while written < buffer.count, first < chunks.count {
            let chunk = chunks[first]
            let part = chunk[offset..<min(chunk.count, offset + buffer.count - written)]
            buffer[written..<written + part.count].copyBytes(from: part)
            written += part.count
            offset += part.count
            if offset == chunk.count {
                first += 1
                offset = 0
            }
        }
        byteCount -= written
        if first == chunks.count {
            chunks.removeAll(keepingCapacity: true)
            first = 0
        } else if first > 256 {
            chunks.removeFirst(first)
            first = 0
        }
        return written
    }
}
