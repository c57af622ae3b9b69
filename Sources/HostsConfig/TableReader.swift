import HostsModel

/// Reads the members of one table by a table of keys, and collects what is wrong with them.
struct TableReader<Root: Sendable> {
    let keys: [ConfigurationKey<Root>]
    var diagnostics: [Diagnostic] = []
    /// Where each value that counts was written, by `ConfigurationKey.path`.
    var origins: [String: SourceLocation] = [:]

    init(keys: [ConfigurationKey<Root>]) {
        self.keys = keys
    }

    /// Whether the members of a table with that name are keys.
    private func isSection(_ name: String) -> Bool { keys.contains { $0.section == name } }

    private var sections: [String] {
        keys.reduce(into: []) { if !$1.section.isEmpty, !$0.contains($1.section) { $0.append($1.section) } }
    }

    /// Reads a whole file.
    mutating func read(_ document: TOMLDocument, into root: inout Root) {
        for member in document.root.members {
            if case .table(let table) = member.value.content, isSection(member.key) {
                read(table, section: member.key, into: &root)
            } else {
                read(member, section: "", into: &root)
            }
        }
    }

    private mutating func read(_ table: TOMLTable, section: String, into root: inout Root) {
        for member in table.members { read(member, section: section, into: &root) }
    }

    private mutating func read(_ member: TOMLTable.Member, section: String, into root: inout Root) {
        // Extension space: other programs may keep notes of their own in our files.
        guard !member.key.hasPrefix("x-") else { return }
        guard let key = keys.first(where: { $0.section == section && $0.name == member.key }) else {
            reportUnknown(member, section: section)
            return
        }
        do throws(Diagnostic) {
            try key.read(member.value, &root)
            origins[key.path] = member.value.location
        } catch {
            diagnostics.append(error)
        }
    }

    private mutating func reportUnknown(_ member: TOMLTable.Member, section: String) {
        let shown = SafeText.visible(member.key, limit: 60)
        if isSection(member.key), section.isEmpty {
            diagnostics.append(
                .error(
                    at: member.value.location, "\(shown) is a table: write [\(shown)] on a line of its own"))
            return
        }
        if case .table(let table) = member.value.content {
            reportUnknown(table, named: shown, at: member.keyLocation, section: section)
            return
        }
        let siblings = keys.filter { $0.section == section }.map(\.name)
        let suggestion = NearestName.suggestion(for: member.key, among: siblings)
        if suggestion == nil, let key = keys.first(where: { $0.name == member.key }) {
            let place = key.section.isEmpty ? "above the first table" : "in [\(key.section)]"
            diagnostics.append(
                .warning(at: member.keyLocation, "\"\(shown)\" has no effect here: it belongs \(place)"))
            return
        }
        let known = siblings.isEmpty ? "" : " in [\(section)]"
        diagnostics.append(
            .warning(
                at: member.keyLocation, "unknown key \"\(shown)\"\(section.isEmpty ? "" : known)",
                suggestion: suggestion))
    }

    /// A table that nobody reads; the keys in it that would count elsewhere are told one by one.
    private mutating func reportUnknown(
        _ table: TOMLTable, named name: String, at location: SourceLocation, section: String
    ) {
        let suggestion = section.isEmpty ? NearestName.suggestion(for: name, among: sections) : nil
        diagnostics.append(.warning(at: location, "unknown table [\(name)]", suggestion: suggestion))
        guard suggestion == nil else { return }
        for member in table.members {
            guard let key = keys.first(where: { $0.name == member.key }) else { continue }
            let place = key.section.isEmpty ? "above the first table" : "in [\(key.section)]"
            diagnostics.append(
                .warning(
                    at: member.keyLocation,
                    "\"\(key.name)\" stands in [\(name)] and has no effect: move it \(place)"))
        }
    }
}
