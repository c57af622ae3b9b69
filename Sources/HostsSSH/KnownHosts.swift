/// The lines of known_hosts files that speak about one host (sshd(8), SSH_KNOWN_HOSTS FILE FORMAT).
///
/// libssh2 has a reader of its own, which takes `@revoked` and patterns for host names and gives up on a
/// whole file at one long line (1.10.0); this one errs on the side of refusing.
struct KnownHosts: Sendable {
    /// Longest line that is read; a longer one is skipped, as it can be no key.
    static let lineLimit = 64 * 1024
    /// Longest file that is read.
    static let fileLimit = 16 * 1024 * 1024

    /// One file's text.
    struct File: Sendable {
        let path: String
        let text: [UInt8]
    }

    /// What a line says about its key.
    enum Role: Hashable, Sendable {
        case hostKey
        case revoked
        case certificateAuthority
    }

    /// A line that matches the host.
    struct Entry: Hashable, Sendable {
        let role: Role
        let key: PublicKey
        let file: String
        let line: Int
    }

    let entries: [Entry]

    /// Collects the lines about `name`, in the order of the files.
    ///
    /// - Parameters:
    ///   - name: As it stands in the files: lower case, `[host]:port` for a port that is not 22.
    ///   - files: In the order in which ssh reads them.
    init(matching name: String, in files: [File]) {
        let name = Array(name.utf8)
        entries = files.flatMap { file in
            file.text.split(separator: 0x0a, omittingEmptySubsequences: false).enumerated().compactMap {
                index, line in
                Self.entry(line, name: name, file: file.path, number: index + 1)
            }
        }
    }

    private static func entry(_ line: ArraySlice<UInt8>, name: [UInt8], file: String, number: Int) -> Entry? {
        guard line.count <= lineLimit else { return nil }
        var words = line.split { $0 == 0x20 || $0 == 0x09 || $0 == 0x0d }[...]
        guard let first = words.first, first.first != 0x23 else { return nil }
        var role = Role.hostKey
        if first.first == 0x40 {
            switch String(decoding: first, as: UTF8.self) {
            case "@revoked": role = .revoked
            case "@cert-authority": role = .certificateAuthority
            default: return nil
            }
            words = words.dropFirst()
        }
        guard words.count >= 3 else { return nil }
        let hosts = words[words.startIndex]
        guard HostPatternList.matches(hosts, name) else { return nil }
        guard let blob = Base64.decode(words[words.startIndex + 2]), let key = PublicKey(blob: blob),
            key.hasName(words[words.startIndex + 1])
        else { return nil }
        return Entry(role: role, key: key, file: file, line: number)
    }
}

extension KnownHosts {
    /// What the files say about a key that a server has shown.
    enum Verdict: Hashable, Sendable {
        case known
        case revoked
        /// Another key of the same type is known.
        case changed(expected: PublicKey, file: String)
        /// Keys are known, but none of this type.
        case otherType(expected: PublicKey, file: String)
        /// Only an authority that signs host certificates is known.
        case certificateAuthority(file: String, line: Int)
        case unknown
    }

    /// Judges a key; a revocation counts whatever else matches.
    func verdict(on key: PublicKey) -> Verdict {
        if entries.contains(where: { $0.role == .revoked && $0.key == key }) { return .revoked }
        let hostKeys = entries.filter { $0.role == .hostKey }
        if hostKeys.contains(where: { $0.key == key }) { return .known }
        if let other = hostKeys.first(where: { $0.key.type == key.type }) {
            return .changed(expected: other.key, file: other.file)
        }
        if let authority = entries.first(where: { $0.role == .certificateAuthority }) {
            return .certificateAuthority(file: authority.file, line: authority.line)
        }
        if let other = hostKeys.first { return .otherType(expected: other.key, file: other.file) }
        return .unknown
    }

    /// The types of the usable keys, in file order, each once.
    var keyTypes: [String] {
        var types: [String] = []
        for entry in entries where entry.role == .hostKey && !types.contains(entry.key.type) {
            types.append(entry.key.type)
        }
        return types
    }
}

extension PublicKey {
    /// Whether a line may call the key so; ssh also reads an RSA key under the name of a signature (9.2p1).
    fileprivate func hasName(_ word: ArraySlice<UInt8>) -> Bool {
        let names = type == Self.rsaType ? [type, Self.rsaSignatureType, "rsa-sha2-256"] : [type]
        return names.contains { $0.utf8.elementsEqual(word) }
    }
}

/// The first word of a known_hosts line: names with wildcards and negation, or one hashed name.
enum HostPatternList {
    private static let hashPrefix = Array("|1|".utf8)

    static func matches(_ list: ArraySlice<UInt8>, _ name: [UInt8]) -> Bool {
        if list.starts(with: hashPrefix) { return matchesHash(list.dropFirst(hashPrefix.count), name) }
        var isMatched = false
        for pattern in list.split(separator: 0x2c) {
            let isNegated = pattern.first == 0x21
            guard matchesPattern(isNegated ? pattern.dropFirst() : pattern, name) else { continue }
            // A negated match ends it, whatever else the line says.
            if isNegated { return false }
            isMatched = true
        }
        return isMatched
    }

    private static func matchesHash(_ text: ArraySlice<UInt8>, _ name: [UInt8]) -> Bool {
        let parts = text.split(separator: 0x7c)
        guard parts.count == 2, let salt = Base64.decode(parts[0]), let digest = Base64.decode(parts[1])
        else {
            return false
        }
        return Fingerprint.hmacSHA1(key: salt, text: name) == digest
    }

    /// `*` is any run, `?` any one character; letters in either case.
    ///
    /// Linear in time for each `*` that is passed.
    private static func matchesPattern(_ pattern: ArraySlice<UInt8>, _ name: [UInt8]) -> Bool {
        let pattern = pattern.map(lowercased)
        var p = 0
        var n = 0
        var star: (pattern: Int, name: Int)?
        while n < name.count {
            if p < pattern.count, pattern[p] == 0x2a {
                star = (p, n)
                p += 1
            } else if p < pattern.count, pattern[p] == 0x3f || pattern[p] == lowercased(name[n]) {
                p += 1
                n += 1
            } else if let last = star {
                star = (last.pattern, last.name + 1)
                p = last.pattern + 1
                n = last.name + 1
            } else {
                return false
            }
        }
        return pattern[p...].allSatisfy { $0 == 0x2a }
    }

    private static func lowercased(_ byte: UInt8) -> UInt8 {
        (0x41...0x5a).contains(byte) ? byte + 0x20 : byte
    }
}
