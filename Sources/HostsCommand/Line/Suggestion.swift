/// Finds what a mistyped word may have meant.
enum Suggestion {
    /// The nearest known word, if it is near enough: a third of the word may be wrong, and one letter of any.
    static func nearest(to word: String, among known: [String]) -> String? {
        let limit = max(1, word.count / 3)
        let ranked = known.map { (distance: distance(word, $0), word: $0) }
            .filter { $0.distance <= limit }
            .sorted { ($0.distance, $0.word) < ($1.distance, $1.word) }
        if let best = ranked.first { return best.word }
        // A beginning that fits only one word is a good guess, too.
        let begun = known.filter { word.count >= 2 && $0.hasPrefix(word) }
        return begun.count == 1 ? begun[0] : nil
    }

    /// Insertions, deletions, replacements and swaps of neighbours between two words (optimal string alignment).
    static func distance(_ left: String, _ right: String) -> Int {
        let (left, right) = (Array(left), Array(right))
        var older: [Int] = []
        var old = Array(0...right.count)
        for row in left.indices {
            var new = [row + 1]
            for column in right.indices {
                let isSame = left[row] == right[column]
                var best = min(old[column + 1] + 1, new[column] + 1, old[column] + (isSame ? 0 : 1))
                if row > 0, column > 0, left[row] == right[column - 1], left[row - 1] == right[column] {
                    best = min(best, older[column - 1] + 1)
                }
                new.append(best)
            }
            older = old
            old = new
        }
        return old[right.count]
    }
}
