/// One line of the report.
package struct Row {
    let name: String
    let value: String
    let budget: String
    let verdict: String

    /// Makes a line.
    ///
    /// - Parameters:
    ///   - name: What was measured.
    ///   - value: With its unit.
    ///   - budget: What it may be; empty for no limit.
    ///   - isMet: Whether it is; nil for no limit.
    package init(_ name: String, _ value: String, budget: String = "", isMet: Bool? = nil) {
        self.name = name
        self.value = value
        self.budget = budget
        verdict = isMet.map { $0 ? "met" : "MISSED" } ?? ""
    }
}

/// Rows in aligned columns.
package struct Report {
    let rows: [Row]

    package init(rows: [Row]) {
        self.rows = rows
    }

    /// Prints it.
    package func show() {
        let width = rows.map(\.name.count).max() ?? 0
        for row in rows {
            var line = row.name + String(repeating: " ", count: width - row.name.count + 2)
            line += String(repeating: " ", count: max(0, 12 - row.value.count)) + row.value
            if !row.budget.isEmpty { line += "   (budget \(row.budget)) \(row.verdict)" }
            print(line)
        }
    }
}

extension String {
    /// A number with two decimals and its unit.
    package init(format number: Double, _ unit: String) {
        let hundredths = Int((number * 100).rounded())
        let cents = hundredths % 100
        self = "\(hundredths / 100).\(cents < 10 ? "0" : "")\(cents)" + (unit.isEmpty ? "" : " \(unit)")
    }
}

extension Duration {
    /// In milliseconds, with three decimals.
    package var milliseconds: String {
        let micros = Int((components.seconds * 1_000_000) + components.attoseconds / 1_000_000_000_000)
        let rest = String(micros % 1000)
        return "\(micros / 1000).\(String(repeating: "0", count: 3 - rest.count))\(rest) ms"
    }
}
