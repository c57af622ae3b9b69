import HostsModel

/// Finds what a mistyped word may have meant.
enum Suggestion {
    /// The nearest known word, if it is near enough: a third of the word may be wrong, and one letter of any.
    static func nearest(to word: String, among known: [String]) -> String? {
        let limit = max(1, word.count / 3)
        let ranked = known.map { (distance: EditDistance.between(word, $0), word: $0) }
            .filter { $0.distance <= limit }
            .sorted { ($0.distance, $0.word) < ($1.distance, $1.word) }
        if let best = ranked.first { return best.word }
        // A beginning that fits only one word is a good guess, too.
        let begun = known.filter { word.count >= 2 && $0.hasPrefix(word) }
        return begun.count == 1 ? begun[0] : nil
    }
}
