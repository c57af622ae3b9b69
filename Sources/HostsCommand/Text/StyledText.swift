import HostsModel

/// A line, or a part of one, whose pieces have a meaning.
struct StyledText: Hashable, Sendable {
    /// Longest text of others that is shown, in characters; what is longer has gone wrong somewhere.
    static let foreignLimit = 4096

    struct Piece: Hashable, Sendable {
        var text: String
        var ink: Ink
    }

    private(set) var pieces: [Piece]

    init(_ text: String = "", _ ink: Ink = .plain) {
        pieces = text.isEmpty ? [] : [Piece(text: text, ink: ink)]
    }

    /// Text that the daemon or a host sent: nothing in it can move the cursor.
    init(foreign text: String, _ ink: Ink = .plain) {
        self.init(SafeText.visible(text, limit: Self.foreignLimit), ink)
    }

    static func + (left: StyledText, right: StyledText) -> StyledText {
        var sum = left
        sum.pieces += right.pieces
        return sum
    }

    static func += (left: inout StyledText, right: StyledText) {
        left.pieces += right.pieces
    }

    var isEmpty: Bool { pieces.isEmpty }

    var text: String { pieces.map(\.text).joined() }

    var cells: Int { pieces.reduce(0) { $0 + CellWidth.of($1.text) } }

    /// The same in one ink, but where the person is needed.
    func inked(_ ink: Ink) -> StyledText {
        var copy = self
        for index in copy.pieces.indices { copy.pieces[index].ink = ink }
        return copy
    }

    /// Cut to so many cells, the last one an ellipsis; unchanged if it fits.
    func fitted(to limit: Int) -> StyledText {
        guard cells > limit else { return self }
        guard limit > 0 else { return StyledText() }
        var left = limit - 1
        var result = StyledText()
        var ink = Ink.plain
        for piece in pieces {
            let kept = CellWidth.prefix(of: piece.text, cells: left)
            left -= CellWidth.of(kept)
            ink = piece.ink
            if !kept.isEmpty { result.pieces.append(Piece(text: kept, ink: piece.ink)) }
            if kept != piece.text { break }
        }
        return result + StyledText("…", ink)
    }

    /// As bytes for a terminal or a pipe.
    func rendered(colour: Bool) -> String {
        colour ? pieces.map { $0.ink.paint($0.text) }.joined() : text
    }
}

extension StyledText: ExpressibleByStringLiteral {
    init(stringLiteral text: String) {
        self.init(text)
    }
}

extension [StyledText] {
    func joined(_ separator: StyledText) -> StyledText {
        var result = StyledText()
        for (index, text) in enumerated() { result += index == 0 ? text : separator + text }
        return result
    }
}
