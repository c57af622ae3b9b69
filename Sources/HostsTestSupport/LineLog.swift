import HostsModel

/// The lines that a program has printed so far; a test waits for one instead of sleeping.
package final class LineLog: Sendable {
    /// Longest wait for a line: a program that never prints it fails its test, and does not hang it.
    private static let limit = Duration.seconds(60)

    private struct Waiter: Sendable {
        let id: Int
        let text: String
        /// How many lines with the text still have to come.
        var missing: Int
        /// The first line that was not looked at yet.
        var next: Int
        let continuation: CheckedContinuation<Int?, Never>

        /// Looks at the new lines, up to the last one that is waited for; each line is looked at once.
        mutating func scan(_ lines: [String]) {
            while missing > 0, next < lines.count {
                if lines[next].contains(text) { missing -= 1 }
                next += 1
            }
        }
    }

    private typealias Settled = [(continuation: CheckedContinuation<Int?, Never>, position: Int?)]

    private struct State: Sendable {
        var lines: [String] = []
        var partial: [UInt8] = []
        var hasEnded = false
        var waiters: [Waiter] = []
        var endWaiters: [CheckedContinuation<Void, Never>] = []
        var lastID = 0
        /// Waits that were given up before they began.
        var givenUp: Set<Int> = []

        /// Takes out the waiters that have what they waited for, or never will.
        mutating func takeSettled() -> Settled {
            var settled: Settled = []
            for index in waiters.indices.reversed() {
                waiters[index].scan(lines)
                let isReached = waiters[index].missing <= 0
                guard isReached || hasEnded else { continue }
                let waiter = waiters.remove(at: index)
                settled.append((waiter.continuation, isReached ? waiter.next : nil))
            }
            return settled
        }
    }

    private let state = Locked(State())

    package init() {}

    /// All whole lines so far.
    package var lines: [String] { state.withLock { $0.lines } }

    /// How many lines contain `text`.
    package func count(of text: String) -> Int { lines.count { $0.contains(text) } }

    /// Where the next line will stand: what is waited for after this is not of the past.
    package var position: Int { state.withLock { $0.lines.count } }

    /// Waits until `count` lines contain `text`.
    ///
    /// - Parameters:
    ///   - text: Part of a line.
    ///   - count: How many lines in all, those of the past included.
    ///   - position: Where to begin: 0 for the first line, or what `position` or another wait gave.
    /// - Returns: The position behind the last line that was waited for.
    /// - Throws: When the program has ended before, prints no such line within a minute, or the task is cancelled.
    @discardableResult
    package func until(_ text: String, count: Int = 1, after position: Int = 0) async throws -> Int {
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        let alarm = Task {
            try await ContinuousClock().sleep(for: Self.limit)
            giveUp(id)
        }
        defer { alarm.cancel() }
        let reached = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let waiter = Waiter(
                    id: id, text: text, missing: count, next: position, continuation: continuation)
                resume(
                    state.withLock { state -> Settled in
                        guard state.givenUp.remove(id) == nil else { return [(continuation, nil)] }
                        state.waiters.append(waiter)
                        return state.takeSettled()
                    })
            }
        } onCancel: {
            giveUp(id)
        }
        guard let reached else {
            throw FixtureError(
                "it ended, or a minute passed, without \"\(text)\":\n\(lines.joined(separator: "\n"))")
        }
        return reached
    }

    /// Waits until the program has ended.
    package func untilEnded() async {
        await withCheckedContinuation { continuation in
            let hasEnded = state.withLock { state in
                if !state.hasEnded { state.endWaiters.append(continuation) }
                return state.hasEnded
            }
            if hasEnded { continuation.resume() }
        }
    }

    private func giveUp(_ id: Int) {
        let waiter = state.withLock { state -> Waiter? in
            guard let index = state.waiters.firstIndex(where: { $0.id == id }) else {
                state.givenUp.insert(id)
                return nil
            }
            return state.waiters.remove(at: index)
        }
        waiter?.continuation.resume(returning: nil)
    }

    private func resume(_ settled: Settled) {
        for (continuation, position) in settled { continuation.resume(returning: position) }
    }

    /// Takes the next bytes of the output.
    func append(_ bytes: some Sequence<UInt8>) {
        let settled = state.withLock { state in
            state.partial += bytes
            var lines = state.partial.split(separator: 0x0a, omittingEmptySubsequences: false)
            state.partial = lines.popLast().map(Array.init) ?? []
            state.lines += lines.map { line in
                String(decoding: line.last == 0x0d ? line.dropLast() : line, as: UTF8.self)
            }
            return state.takeSettled()
        }
        resume(settled)
    }

    /// Says that nothing more will come.
    func end() {
        let (settled, endWaiters) = state.withLock { state in
            state.hasEnded = true
            defer { state.endWaiters = [] }
            return (state.takeSettled(), state.endWaiters)
        }
        resume(settled)
        for waiter in endWaiters { waiter.resume() }
    }
}
