import HostsModel

/// Bounds the connections that are not logged in yet; see `DialQueue`.
final class DialGate: Sendable {
    private struct State: Sendable {
        var queue = DialQueue()
        var lastID = 0
        var signals: [Int: LoopSignal] = [:]
        /// When somebody left last, by key.
        var lastLeft: [String: ContinuousClock.Instant] = [:]

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
        /// Whether other connections to the same place were under way, or had just been, when this one began.
        let hadCompany: Bool

        fileprivate init(gate: DialGate, key: String, hadCompany: Bool) {
            self.gate = gate
            self.key = key
            self.hadCompany = hadCompany
        }

        /// Gives it back, and lets only one at a time in from now on: the server has refused more.
        func leaveNarrow() {
            gate.state.withLock { $0.queue.makeNarrow(key) }
            leave()
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

    /// How long a server may take to see that a connection has logged in or ended.
    private static let companyAge: Duration = .seconds(1)

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
        let hadCompany = state.withLock { state in
            state.queue.isShared(key) || state.lastLeft[key].map { .now - $0 < Self.companyAge } ?? false
        }
        return Pass(gate: self, key: key, hadCompany: hadCompany)
    }

    private func leave(_ key: String) {
        let admitted = state.withLock { state in
            if state.lastLeft.count >= DialQueue.waiterLimit { state.lastLeft = [:] }
            state.lastLeft[key] = .now
            return state.queue.leave(key).compactMap { state.signals.removeValue(forKey: $0) }
        }
        for signal in admitted { signal.raise() }
    }
}
