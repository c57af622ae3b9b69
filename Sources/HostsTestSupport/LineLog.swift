import HostsModel

/// The lines that a program has printed so far; a test waits for one instead of sleeping.
package final class LineLog: Sendable {
    /// Longest wait for a line: a program that never prints it fails its test, and does not hang it.
    private static let limit = Duration.seconds(60)

    private struct Waiter: Sendable {
        let id: Int
        let text: String
        let count: Int
        let continuation: CheckedContinuation<Bool, Never>
    }

    private struct State: Sendable {
        var lines: [String] = []
        var partial: [UInt8] = []
        var hasEnded = false
        var waiters: [Waiter] = []
        var endWaiters: [CheckedContinuation<Void, Never>] = []
        var lastID = 0

        func count(of text: String) -> Int { lines.reduce(0) { $0 + ($1.contains(text) ? 1 : 0) } }

        /// Takes out the waiters that have what they waited for, or never will.
        mutating func takeSettled() -> [(CheckedContinuation<Bool, Never>, Bool)] {
            let judged = waiters.map { waiter in
                (waiter: waiter, isReached: count(of: waiter.text) >= waiter.count)
            }
            waiters = judged.filter { !$0.isReached && !hasEnded }.map(\.waiter)
            return judged.filter { $0.isReached || hasEnded }.map { ($0.waiter.continuation, $0.isReached) }
        }
    }

    private let state = Locked(State())

    package init() {}

    /// All whole lines so far.
    package var lines: [String] { state.withLock { $0.lines } }

    /// How many lines contain `text`.
    package func count(of text: String) -> Int { state.withLock { $0.count(of: text) } }

    /// Waits until `count` lines contain `text`.
    ///
    /// - Parameters:
    ///   - text: Part of a line.
    ///   - count: How many lines in all, those of the past included.
    /// - Throws: When the program has closed its output before, or prints no such line within a minute.
    package func until(_ text: String, count: Int = 1) async throws {
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        let alarm = Task {
            try await ContinuousClock().sleep(for: Self.limit)
            giveUp(id)
        }
        defer { alarm.cancel() }
        let isReached = await withCheckedContinuation { continuation in
            let settled = state.withLock { state in
                state.waiters.append(Waiter(id: id, text: text, count: count, continuation: continuation))
                return state.takeSettled()
            }
            for (waiter, isReached) in settled { waiter.resume(returning: isReached) }
        }
        guard isReached else {
            throw FixtureError(
                "it ended, or a minute passed, without \"\(text)\":\n\(lines.joined(separator: "\n"))")
        }
    }

    /// Waits until the program has closed its output, as its end does.
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
            guard let index = state.waiters.firstIndex(where: { $0.id == id }) else { return nil }
            return state.waiters.remove(at: index)
        }
        waiter?.continuation.resume(returning: false)
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
        for (waiter, isReached) in settled { waiter.resume(returning: isReached) }
    }

    /// Says that nothing more will come.
    func end() {
        let (settled, endWaiters) = state.withLock { state in
            state.hasEnded = true
            defer { state.endWaiters = [] }
            return (state.takeSettled(), state.endWaiters)
        }
        for (waiter, isReached) in settled { waiter.resume(returning: isReached) }
        for waiter in endWaiters { waiter.resume() }
    }
}
