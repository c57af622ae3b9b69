import HostsModel

/// Finds the known name that a misspelt one was probably meant to be.
package enum NearestName {
    /// Longer names are not compared: the cost grows with the product of the lengths.
    package static let lengthLimit = 64

    /// The nearest of `candidates`, if one is near enough to be worth a question.
    ///
    /// Near is at most one slip per three characters, where a slip is a missing, added or wrong character or two
    /// that changed places. Of equally near ones the first is taken; a name never suggests itself.
    package static func suggestion(for name: String, among candidates: some Sequence<String>) -> String? {
        let wanted = Array(normalised(name))
        guard !wanted.isEmpty, wanted.count <= lengthLimit else { return nil }
        var best: (name: String, distance: Int)?
        for candidate in candidates where candidate != name {
            for letters in forms(of: candidate) {
                let allowed = max(1, max(wanted.count, letters.count) / 3)
                guard letters.count <= lengthLimit, abs(letters.count - wanted.count) <= allowed else {
                    continue
                }
                let distance = EditDistance.between(wanted, letters)
                guard distance <= allowed, distance < min(wanted.count, letters.count) else { continue }
                if let best, best.distance <= distance { continue }
                best = (candidate, distance)
            }
        }
        return best?.name
    }

    /// What a person may mean a name by: who forgets its unit still means it.
    private static func forms(of name: String) -> [[Character]] {
        let unit = "_seconds"
        let short = name.hasSuffix(unit) ? [normalised(String(name.dropLast(unit.count)))] : []
        return [normalised(name)] + short
    }

    // `keepAlive`, `keep-alive` and `keep_alive` are the same word to a person.
    private static func normalised(_ name: String) -> [Character] {
        name.lowercased().filter { $0 != "_" && $0 != "-" }
    }
}
