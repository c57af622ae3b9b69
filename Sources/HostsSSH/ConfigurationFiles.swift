import Glibc

/// What stat(2) says about a file or a folder, to see whether it is still the same.
struct FileStamp: Hashable, Sendable {
    private let device: UInt64
    private let inode: UInt64
    private let size: Int64
    /// Nanoseconds since 1970.
    private let modified: Int64
    /// The same for owner and permissions, which ssh minds, too.
    private let changed: Int64
    let isFile: Bool

    /// Nil: it is absent, or cannot be looked at.
    init?(_ path: String) {
        var facts = stat()
        guard unsafe stat(path, &facts) == 0 else { return nil }
        device = UInt64(facts.st_dev)
        inode = UInt64(facts.st_ino)
        isFile = facts.st_mode & S_IFMT == S_IFREG
        // A folder's size says nothing that its time does not.
        size = isFile ? Int64(facts.st_size) : 0
        modified = Int64(facts.st_mtim.tv_sec) * 1_000_000_000 + Int64(facts.st_mtim.tv_nsec)
        changed = Int64(facts.st_ctim.tv_sec) * 1_000_000_000 + Int64(facts.st_ctim.tv_nsec)
    }
}

/// Every file and folder that ssh may read as its configuration, as they were at one moment.
///
/// Found by following `Include` in all sections, whether they apply or not, so that nothing ssh reads is missed.
/// All functions block.
struct ConfigurationFiles: Hashable, Sendable {
    /// Where ssh begins to read.
    struct Roots: Hashable, Sendable {
        /// Paths, and the folders that relative includes of theirs are in (ssh_config(5), Include).
        fileprivate let files: [Place]
        /// The home directory of the account, which ssh takes from there and not from HOME.
        fileprivate let home: String

        fileprivate struct Place: Hashable, Sendable {
            let path: String
            let includes: String
        }

        /// - Parameters:
        ///   - configFile: What `ssh -F` gets; nil: ssh's own choice.
        ///   - home: Of the account that runs ssh.
        init(configFile: String?, home: String) {
            self.home = home
            let personal = home + "/.ssh"
            files =
                switch configFile {
                case "none": []
                case .some(let file):
                    // `ssh -G` runs in "/".
                    [Place(path: file.hasPrefix("/") ? file : "/" + file, includes: personal)]
                case nil:
                    [
                        Place(path: personal + "/config", includes: personal),
                        Place(path: "/etc/ssh/ssh_config", includes: "/etc/ssh"),
                    ]
                }
        }
    }

    /// ssh gives up at the same depth (READCONF_MAX_DEPTH of 9.2p1).
    private static let depthLimit = 16
    private static let pathLimit = 1_024
    private static let fileLimit = 1024 * 1024

    let roots: Roots
    /// What is at each path; nil: nothing.
    private(set) var stamps: [String: FileStamp?] = [:]
    /// Folders whose entries matter, as an Include has a pattern there.
    private(set) var folders: Set<String> = []
    /// Whether the same files may mean something else the next time: there is a `Match exec` or `Match
    /// localnetwork`, or something here was not understood.
    private(set) var isVolatile = false

    /// Looks at all of them now.
    init(_ roots: Roots) {
        self.roots = roots
        for root in roots.files { read(root.path, includes: root.includes, depth: 0) }
    }

    /// Whether all of it is still as it was.
    var isCurrent: Bool { stamps.allSatisfy { FileStamp($0.key) == $0.value } }

    /// Whether ssh reads the same as it did then.
    ///
    /// A folder that a pattern is looked for in changes with every entry, such as a socket of ControlPath; what
    /// counts is which files are found there.
    func saysTheSame(as other: ConfigurationFiles) -> Bool { contents == other.contents }

    private var contents: [String: FileStamp?] { stamps.filter { !folders.contains($0.key) } }

    /// Whether ssh has read nothing else.
    func covers(_ paths: [String]) -> Bool {
        paths.allSatisfy { stamps.keys.contains(Self.normal($0)) }
    }

    /// A path without empty components.
    private static func normal(_ path: String) -> String {
        "/" + path.split(separator: "/").joined(separator: "/")
    }

    // MARK: Reading

    /// Stamps a path before anybody reads it; nil when it was known already or is one too many.
    private mutating func stamp(_ path: String) -> FileStamp?? {
        guard !stamps.keys.contains(path) else { return nil }
        guard stamps.count < Self.pathLimit else {
            isVolatile = true
            return nil
        }
        let stamp = FileStamp(path)
        stamps[path] = .some(stamp)
        return .some(stamp)
    }

    private mutating func read(_ path: String, includes: String, depth: Int) {
        guard depth <= Self.depthLimit, let stamp = stamp(Self.normal(path)), let stamp else { return }
        // ssh reads pipes and devices, too; what those say is not known beforehand.
        guard stamp.isFile, let bytes = BoundedFile.read(path, limit: Self.fileLimit) else {
            isVolatile = true
            return
        }
        for line in bytes.split(separator: UInt8(ascii: "\n")) {
            let words = Self.words(String(decoding: line, as: UTF8.self))
            switch words.first?.lowercased() {
            case "match": if Self.isVolatile(words.dropFirst()) { isVolatile = true }
            case "include":
                for pattern in words.dropFirst() { include(pattern, includes: includes, depth: depth) }
            default: break
            }
        }
    }

    private static func isVolatile(_ criteria: ArraySlice<String>) -> Bool {
        criteria.contains { word in
            let name = word.lowercased().drop { $0 == "!" }.prefix { $0 != "=" }
            return name == "exec" || name == "localnetwork"
        }
    }

    private mutating func include(_ pattern: String, includes: String, depth: Int) {
        // Newer versions fill in tokens and variables there.
        if pattern.contains("%") || pattern.contains("${") { isVolatile = true }
        let path: String
        if let account = TokenExpansion.account(in: pattern) {
            guard let home = TokenExpansion.home(of: account) else { return }
            path = home + pattern.dropFirst(1 + account.count)
        } else if pattern.hasPrefix("~") {
            path = roots.home + pattern.dropFirst()
        } else {
            path = pattern.hasPrefix("/") ? pattern : includes + "/" + pattern
        }
        var found = [""]
        for component in path.split(separator: "/") {
            guard component.contains(where: { "*?[\\".contains($0) }) else {
                found = found.map { $0 + "/" + component }
                continue
            }
            var matches: [String] = []
            for folder in found { matches += entries(of: folder, like: String(component)) }
            found = matches
        }
        for file in found { read(file, includes: includes, depth: depth + 1) }
    }

    /// The paths in a folder that match a pattern, as glob(3) has them.
    private mutating func entries(of folder: String, like pattern: String) -> [String] {
        let place = folder.isEmpty ? "/" : folder
        _ = stamp(place)
        folders.insert(place)
        guard let stream = unsafe opendir(place) else { return [] }
        defer { unsafe closedir(stream) }
        var paths: [String] = []
        while let entry = unsafe readdir(stream) {
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                unsafe pointer.withMemoryRebound(to: CChar.self, capacity: Int(NAME_MAX) + 1) {
                    unsafe String(cString: $0)
                }
            }
            if unsafe fnmatch(pattern, name, FNM_PERIOD) == 0 { paths.append(folder + "/" + name) }
            guard paths.count <= Self.pathLimit else {
                isVolatile = true
                return paths
            }
        }
        return paths.sorted()
    }

    /// The words of a line: quotes are taken off, a comment ends it, the keyword may be followed by `=`.
    static func words(_ line: String) -> [String] {
        var words: [String] = []
        var word: String?
        var quote: Character?
        var rest = line[...]
        while let character = rest.popFirst() {
            if character == "\\", let next = rest.first, "\"'\\ ".contains(next) {
                word = (word ?? "") + String(next)
                rest = rest.dropFirst()
            } else if let open = quote {
                if character == open { quote = nil } else { word = (word ?? "") + String(character) }
            } else if character == "\"" || character == "'" {
                quote = character
                word = word ?? ""
            } else if character == "#", word == nil {
                break
            } else if character.isWhitespace || (character == "=" && words.isEmpty) {
                if let done = word { words.append(done) }
                word = nil
            } else if character == "=", words.count == 1, word == nil {
                continue
            } else {
                word = (word ?? "") + String(character)
            }
        }
        if let word { words.append(word) }
        return words
    }
}
