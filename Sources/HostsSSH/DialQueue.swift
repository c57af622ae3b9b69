/// Who may have a connection that is not logged in yet, as a value: a few for each key, some more in all, in a fair
/// order.
///
/// sshd drops such connections at random beyond `MaxStartups` (10:30:100), and a laptop that wakes wants all of
/// its hosts at once. Within a key the first who came is the first; over the keys it goes round, so that one
/// bastion with many hosts behind it does not hold up the others.
struct DialQueue: Hashable, Sendable {
    /// Most at once for one bastion or address.
    static let keyLimit = 4
    /// Most at once in all.
    static let totalLimit = 16
    /// Most that wait.
    static let waiterLimit = 10_000

    enum Entry: Hashable, Sendable {
        case admitted, waiting, refused
    }

    private var inside: [String: Int] = [:]
    /// Keys at which one at a time is enough, since a server refused more.
    private(set) var narrow: Set<String> = []
    private var total = 0
    private var waiting: [String: [Int]] = [:]
    /// Keys with waiters, the one whose turn is next first.
    private var turns: [String] = []
    private var waiters = 0

    /// How many are inside.
    var count: Int { total }

    /// Somebody wants to dial.
    mutating func enter(_ id: Int, _ key: String) -> Entry {
        if waiting[key] == nil, hasRoom(key) {
            admit(key)
            return .admitted
        }
        guard waiters < Self.waiterLimit else { return .refused }
        waiters += 1
        if waiting[key] == nil { turns.append(key) }
        waiting[key, default: []].append(id)
        return .waiting
    }

    /// Somebody has logged in, or given up: answers who may dial now.
    mutating func leave(_ key: String) -> [Int] {
        let left = (inside[key] ?? 0) - 1
        precondition(left >= 0, "only who is inside can leave")
        inside[key] = left == 0 ? nil : left
        total -= 1
        return admitWaiting()
    }

    /// Somebody waits no more; false when he is inside already.
    mutating func cancel(_ id: Int, _ key: String) -> Bool {
        guard let index = waiting[key]?.firstIndex(of: id) else { return false }
        waiting[key]?.remove(at: index)
        waiters -= 1
        if waiting[key]?.isEmpty == true { forget(key) }
        return true
    }

    /// Lets one at a time in for this key from now on.
    mutating func makeNarrow(_ key: String) {
        if narrow.count >= Self.waiterLimit { narrow = [] }
        narrow.insert(key)
    }

    /// Whether somebody else is inside for this key.
    func isShared(_ key: String) -> Bool { inside[key] ?? 0 > 1 }

    private func hasRoom(_ key: String) -> Bool {
        total < Self.totalLimit && inside[key] ?? 0 < (narrow.contains(key) ? 1 : Self.keyLimit)
    }

    private mutating func admit(_ key: String) {
        inside[key, default: 0] += 1
        total += 1
    }

    private mutating func forget(_ key: String) {
        waiting[key] = nil
        turns.removeAll { $0 == key }
    }

    private mutating func admitWaiting() -> [Int] {
        var admitted: [Int] = []
        while let index = turns.firstIndex(where: hasRoom) {
            let key = turns.remove(at: index)
            guard var ids = waiting[key], !ids.isEmpty else {
                preconditionFailure("a key has a turn while somebody waits for it")
            }
            admitted.append(ids.removeFirst())
            waiters -= 1
            admit(key)
            if ids.isEmpty {
                waiting[key] = nil
            } else {
                waiting[key] = ids
                // Round robin: behind all the others.
                turns.append(key)
            }
        }
        return admitted
    }
}
