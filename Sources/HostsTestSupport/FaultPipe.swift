/// The bytes of one connection that are under way in one direction, each with the moment at which it is due.
///
/// A value that is told the time, so that what it does to bytes can be tested without sockets.
struct FaultPipe {
    /// Most bytes that are held; the source has to wait while there are more.
    static let capacity = 64 * 1024

    private struct Piece {
        var bytes: ArraySlice<UInt8>
        let due: ContinuousClock.Instant
    }

    /// Oldest first from `next` on.
    private var pieces: [Piece] = []
    private var next = 0
    private var lastDue: ContinuousClock.Instant?
    /// Bytes that are held.
    private(set) var held = 0
    /// Bytes that came in, and that went out, since the faults were set.
    private(set) var taken = 0
    private(set) var passed = 0
    /// Whether nothing more comes in.
    var hasSourceEnded = false
    /// Whether the target has been told so.
    var isFinished = false

    /// How many more bytes may come in.
    var room: Int { hasSourceEnded ? 0 : max(0, Self.capacity - held) }

    /// Whether the target is to be told that nothing more comes.
    var isDrained: Bool { hasSourceEnded && held == 0 && !isFinished }

    /// Begins to count anew.
    mutating func faultsChanged() {
        (taken, passed) = (0, 0)
    }

    /// Takes in one chunk.
    mutating func take(
        _ bytes: [UInt8], _ way: ProxyFaults.Way, now: ContinuousClock.Instant,
        random: inout SeededGenerator
    ) {
        var bytes = bytes
        if let flip = way.flip, flip.byte >= taken, flip.byte < taken + bytes.count {
            bytes[flip.byte - taken] ^= 1 << UInt8(flip.bit)
        }
        taken += bytes.count
        held += bytes.count
        var due = now + way.delay
        if way.jitter > .zero { due += way.jitter * Double.random(in: -1...1, using: &random) }
        if way.lossOneIn > 0, Int.random(in: 0..<way.lossOneIn, using: &random) == 0 { due += way.lossDelay }
        var rest = bytes[...]
        while !rest.isEmpty {
            let piece = rest.prefix(max(1, way.pieceSize ?? rest.count))
            rest = rest[piece.endIndex...]
            let earliest = lastDue.map { way.pieceSize == nil ? $0 : $0 + way.piecePause } ?? due
            due = max(due, earliest)
            lastDue = due
            pieces.append(Piece(bytes: piece, due: due))
        }
    }

    /// The oldest bytes, if they are due; never more than one piece.
    func due(now: ContinuousClock.Instant) -> ArraySlice<UInt8>? {
        guard next < pieces.count, pieces[next].due <= now else { return nil }
        return pieces[next].bytes
    }

    /// When the oldest bytes are due; nil when there are none.
    var nextDue: ContinuousClock.Instant? { next < pieces.count ? pieces[next].due : nil }

    /// Drops bytes that have gone out.
    mutating func pass(_ count: Int) {
        passed += count
        held -= count
        pieces[next].bytes = pieces[next].bytes.dropFirst(count)
        guard pieces[next].bytes.isEmpty else { return }
        next += 1
        guard next == pieces.count || next > 1024 else { return }
        pieces.removeFirst(next)
        next = 0
    }
}
