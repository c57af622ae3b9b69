/// Deadlines in order, each with an identifier; a binary heap with lazy removal.
struct TimerQueue<Payload> {
    /// Identifies one timer for ever: numbers are not used again.
    struct ID: Hashable, Sendable {
        fileprivate let number: UInt64
    }

    private struct Entry {
        let deadline: ContinuousClock.Instant
        let id: ID

        /// Equal deadlines fire in the order in which they were set.
        func isBefore(_ other: Entry) -> Bool {
            deadline < other.deadline || (deadline == other.deadline && id.number < other.id.number)
        }
    }

    /// Dead entries that may stay in the heap beside as many live ones.
    private static var slack: Int { 64 }

    private var heap: [Entry] = []
    private var payloads: [ID: Payload] = [:]
    private var nextNumber: UInt64 = 0

    var count: Int { payloads.count }

    mutating func insert(_ payload: Payload, at deadline: ContinuousClock.Instant) -> ID {
        let id = ID(number: nextNumber)
        nextNumber += 1
        payloads[id] = payload
        heap.append(Entry(deadline: deadline, id: id))
        siftUp(heap.count - 1)
        return id
    }

    /// Forgets a timer; one that has fired or was removed already is ignored.
    mutating func remove(_ id: ID) {
        payloads[id] = nil
        guard heap.count > 2 * payloads.count + Self.slack else { return }
        let live = heap.filter { payloads[$0.id] != nil }
        heap = live.sorted { $0.isBefore($1) }
    }

    /// The earliest deadline that is still wanted.
    mutating func earliest() -> ContinuousClock.Instant? {
        while let first = heap.first {
            if payloads[first.id] != nil { return first.deadline }
            dropFirst()
        }
        return nil
    }

    /// Takes out the earliest timer whose deadline has come.
    mutating func takeDue(now: ContinuousClock.Instant) -> Payload? {
        guard let deadline = earliest(), deadline <= now, let first = heap.first else { return nil }
        dropFirst()
        return payloads.removeValue(forKey: first.id)
    }

    private mutating func dropFirst() {
        heap.swapAt(0, heap.count - 1)
        heap.removeLast()
        siftDown(0)
    }

    private mutating func siftUp(_ start: Int) {
        var child = start
        while child > 0 {
            let parent = (child - 1) / 2
            guard heap[child].isBefore(heap[parent]) else { return }
            heap.swapAt(child, parent)
            child = parent
        }
    }

    private mutating func siftDown(_ start: Int) {
        var parent = start
        while true {
            var first = parent
            for child in [2 * parent + 1, 2 * parent + 2] where child < heap.count {
                if heap[child].isBefore(heap[first]) { first = child }
            }
            guard first != parent else { return }
            heap.swapAt(first, parent)
            parent = first
        }
    }
}
