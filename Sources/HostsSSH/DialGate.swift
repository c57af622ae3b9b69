import HostsModel

/// Bounds the connections that are not logged in yet; see `DialQueue`.
final class DialGate: Sendable {
    private struct State: Sendable {
        var queue = DialQueue()
        var lastID = 0
        var signals: [Int: LoopSignal] = [:]

        mutating func giveUp(_ id: Int, _ key: String) -> Bool {
            signals[id] = nil
            return queue.cancel(id, key)
        }
    }

    /// The right to have one connection that is not logged in; given back by `leave` or by letting go of it.
    final class Pass: Sendable {
        private let gate: DialGate
        private let key: String
        private let hasLeft = Locked(false)

        fileprivate init(gate: DialGate, key: String) {
            self.gate = gate
            self.key = key
        }

        deinit { leave() }

        /// Gives it back; a second call has no effect.
        func leave() {
            let isFirst = hasLeft.withLock { hasLeft in
                defer { hasLeft = true }
                return !hasLeft
            }
            if isFirst { gate.leave(key) }
        }
    }

    private let loop: EventLoop
    private let state = Locked(State())

    init(loop: EventLoop) {
        self.loop = loop
    }

    /// How many have a pass.
    var count: Int { state.withLock { $0.queue.count } }

    /// Waits for a turn, on the event loop.
    ///
    /// It has no deadline of its own: whoever is inside has, and leaves.
    ///
    /// - Parameter key: The bastion or address that is dialled.
    /// - Returns: The right to dial.
    /// - Throws: `.cancelled`, or `.unreachable` when too many wait.
    func enter(_ key: String) async throws(LinkError) -> Pass {
        let signal = LoopSignal(on: loop)
        let (id, entry) = state.withLock { state in
            state.lastID += 1
            let entry = state.queue.enter(state.lastID, key)
            if entry == .waiting { state.signals[state.lastID] = signal }
            return (state.lastID, entry)
        }
        switch entry {
        case .admitted: break
        case .refused:
            throw .unreachable(
                address: key, detail: "\(DialQueue.waiterLimit) attempts wait for their turn already")
        case .waiting:
            var isAdmitted = false
            while !isAdmitted {
                switch await signal.wait(until: .now + .seconds(3600)) {
                case .raised: isAdmitted = true
                case .deadline: continue
                case .cancelled:
                    if state.withLock({ $0.giveUp(id, key) }) { throw .cancelled }
                    // Admitted in this very moment.
                    leave(key)
                    throw .cancelled
                }
            }
        }
        return Pass(gate: self, key: key)
    }

    private func leave(_ key: String) {
        let admitted = state.withLock { state in
            state.queue.leave(key).compactMap { state.signals.removeValue(forKey: $0) }
        }
        for signal in admitted { signal.raise() }
    }
}
