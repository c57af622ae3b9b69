/// The versions of an agent that its rules were made for; either end may be open.
package struct VersionRange: Hashable, Sendable {
    package var minimum: String?
    package var maximum: String?

    package init(minimum: String? = nil, maximum: String? = nil) {
        self.minimum = minimum
        self.maximum = maximum
    }

    /// Whether `version` lies in the range; an end without a third part covers all of them (`2.1` holds
    /// `2.1.284`).
    package func contains(_ version: String) -> Bool {
        let parts = Self.parts(of: version)
        if let minimum, parts.lexicographicallyPrecedes(Self.parts(of: minimum)) { return false }
        guard let maximum else { return true }
        let end = Self.parts(of: maximum)
        return !end.lexicographicallyPrecedes(Array(parts.prefix(end.count)))
    }

    /// The leading number of each part; what is no number ends the list.
    private static func parts(of version: String) -> [Int] {
        var result: [Int] = []
        for part in version.split(separator: ".", maxSplits: 7) {
            guard let number = Int(part.prefix { $0.isASCII && $0.isNumber }) else { break }
            result.append(number)
        }
        return result
    }
}
