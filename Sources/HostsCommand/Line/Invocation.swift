/// A command line that was understood.
struct Invocation: Hashable, Sendable {
    var verb: Verb
    var operands: [String] = []
    var values: [OptionName: String] = [:]
    var flags: Set<OptionName> = []

    func has(_ option: OptionName) -> Bool { flags.contains(option) }

    /// A number that the parser has checked.
    func count(_ option: OptionName) -> Int? { values[option].flatMap { Int($0) } }

    /// The words of an option that takes some, with commas between them.
    func words(_ option: OptionName) -> [String] {
        values[option].map { $0.split(separator: ",", omittingEmptySubsequences: false).map(String.init) }
            ?? []
    }

    /// Seconds that the parser has checked.
    func duration(_ option: OptionName) -> Duration? {
        values[option].flatMap(Double.init).map { .seconds($0) }
    }
}
