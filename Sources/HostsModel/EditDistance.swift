/// How far two words are from each other.
package enum EditDistance {
    /// Insertions, deletions, replacements and swaps of neighbours between two words: the optimal string alignment
    /// distance, three rows at a time.
    ///
    /// The cost grows with the product of the lengths, which is the caller's to bound.
    package static func between(_ left: some Sequence<Character>, _ right: some Sequence<Character>) -> Int {
        let (left, right) = (Array(left), Array(right))
        var beforeLast: [Int] = []
        var last = Array(0...right.count)
        for i in left.indices {
            var row = [i + 1]
            for j in right.indices {
                let isSame = left[i] == right[j]
                var cost = min(last[j + 1] + 1, row[j] + 1, last[j] + (isSame ? 0 : 1))
                if i > 0, j > 0, left[i] == right[j - 1], left[i - 1] == right[j] {
                    cost = min(cost, beforeLast[j - 1] + 1)
                }
                row.append(cost)
            }
            beforeLast = last
            last = row
        }
        return last[right.count]
    }
}
