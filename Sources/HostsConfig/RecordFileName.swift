package import HostsModel

/// What the name of a file below `hosts.d` makes of it.
package enum RecordFileName: Hashable, Sendable {
    /// `NAME.toml`, the person's own.
    case record(HostID)
    /// `NAME.override.toml`, written by hostsctl.
    case override(HostID)
    /// `Name.toml`: would be a record under another spelling. Carries the id it would have.
    case misspelt(HostID)
    /// Ends in `.toml`, but its name can be no host's.
    case invalid(stem: String)
    /// Left by a sync tool when two machines changed `original` while apart.
    case conflictCopy(original: String)
    /// An editor's, a package manager's or a sync tool's own; never told of.
    case ignored
    /// Not one of ours: its name does not end in `.toml`.
    case foreign

    /// Which names are host names, for messages.
    package static let allowed =
        "1 to \(HostID.maximumLength) characters of a-z 0-9 . _ -, the first a letter or digit"

    /// What is added to the name of a removed record or override; a number may follow.
    static let asideSuffix = ".removed"

    package init(_ name: String) {
        if let original = Self.originalOfConflictCopy(name) {
            self = .conflictCopy(original: original)
        } else if Self.isIgnored(name) {
            self = .ignored
        } else if !name.lowercased().hasSuffix(".toml") {
            self = .foreign
        } else {
            self = Self.ours(name)
        }
    }

    private static func ours(_ name: String) -> RecordFileName {
        let stem = String(name.dropLast(".toml".count))
        let isSpeltRight = name.hasSuffix(".toml")
        if isSpeltRight, stem.hasSuffix(".override"),
            let id = HostID(rawValue: String(stem.dropLast(".override".count)))
        {
            return .override(id)
        }
        if isSpeltRight, let id = HostID(rawValue: stem) { return .record(id) }
        if let id = HostID(rawValue: stem.lowercased()) { return .misspelt(id) }
        return .invalid(stem: stem)
    }

    /// Names of editors, package managers and sync tools (facts: linux, 14.6).
    private static func isIgnored(_ name: String) -> Bool {
        if name.hasPrefix(".") || name.hasPrefix("~syncthing~") { return true }
        if name.hasPrefix("#"), name.hasSuffix("#") { return true }
        if name.contains(".toml" + asideSuffix) { return true }
        let suffixes = ["~", ".swp", ".tmp", ".bak", ".rpmsave", ".rpmnew", ".rpmorig"]
        return suffixes.contains(where: name.hasSuffix) || name.contains(".dpkg-")
    }

    /// The name of the file that a copy was made of, or nil if it is no such copy.
    private static func originalOfConflictCopy(_ name: String) -> String? {
        // Syncthing: gpu1.sync-conflict-20260131-235959-ABCDEFG.toml
        if let mark = name.firstRange(of: ".sync-conflict-") {
            let tail = name[mark.upperBound...]
            let ending = tail.firstIndex(of: ".").map { tail[$0...] } ?? ""
            return String(name[..<mark.lowerBound]) + ending
        }
        // Nextcloud and Dropbox: gpu1 (conflicted copy 2026-01-31 235959).toml, gpu1 (Ann's conflicted copy …).toml
        guard let mark = name.firstRange(of: "conflicted copy"),
            let open = name[..<mark.lowerBound].lastIndex(of: "("),
            let close = name[mark.upperBound...].firstIndex(of: ")")
        else { return nil }
        var stem = name[..<open]
        while stem.last == " " { stem.removeLast() }
        return stem + String(name[name.index(after: close)...])
    }
}

extension String {
    /// The first place of `text`; the standard library has none without regular expressions.
    fileprivate func firstRange(of text: String) -> Range<String.Index>? {
        var start = startIndex
        while start < endIndex {
            if self[start...].hasPrefix(text) { return start..<index(start, offsetBy: text.count) }
            start = index(after: start)
        }
        return nil
    }
}
