/// Compares sources, given as text, with the table of imports.
struct ImportCheck {
    let rows: [ImportRow]

    /// What is wrong with a file, one line each, as `path:line: problem`.
    ///
    /// - Parameters:
    ///   - text: The text of the file.
    ///   - path: Its path below `Sources`; the first part is the target.
    /// - Returns: Nothing for a file that keeps to the table.
    func problems(in text: String, path: String) -> [String] {
        let target = path.split(separator: "/").first.map(String.init) ?? path
        guard let row = rows.first(where: { $0.target == target }) else {
            return ["\(path): the target \(target) has no row in the table of imports"]
        }
        return ImportScanner.imports(in: text).compactMap { found in
            guard row.modules.contains(found.module) || row.system.contains(found.module) else {
                return "\(path):\(found.line): \(target) must not import \(found.module) (\(row.reason))"
            }
            guard let condition = row.conditions[found.module], !found.conditions.contains(condition) else {
                return nil
            }
            return
                "\(path):\(found.line): \(target) imports \(found.module) only under \(condition) (\(row.reason))"
        }
    }

    /// What is wrong with the table itself.
    var tableProblems: [String] {
        var problems: [String] = []
        var known: Set<String> = []
        for row in rows {
            if row.reason.isEmpty { problems.append("\(row.target): a row needs its reason") }
            for module in row.modules.subtracting(known).sorted() {
                problems.append(
                    "\(row.target): \(module) does not stand above it, so imports could go in circles")
            }
            if !known.insert(row.target).inserted { problems.append("\(row.target): two rows") }
        }
        return problems
    }
}
