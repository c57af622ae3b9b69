/// Names and values beneath each other; a value may have several lines.
struct FactList {
    private var facts: [(name: String, values: [StyledText])] = []

    mutating func add(_ name: String, _ values: [StyledText]) {
        let values = values.filter { !$0.isEmpty }
        if !values.isEmpty { facts.append((name, values)) }
    }

    mutating func add(_ name: String, _ value: StyledText) { add(name, [value]) }

    /// Text that came from elsewhere; nil is left out.
    mutating func add(_ name: String, foreign value: String?) {
        if let value { add(name, [StyledText(foreign: value)]) }
    }

    var lines: [StyledText] {
        let width = facts.reduce(0) { max($0, CellWidth.of($1.name)) }
        return facts.flatMap { fact in
            fact.values.enumerated().map { index, value in
                let name = index == 0 ? fact.name : ""
                let space = String(repeating: " ", count: width - CellWidth.of(name) + 2)
                return StyledText("  ") + StyledText(name, .faint) + StyledText(space) + value
            }
        }
    }
}
