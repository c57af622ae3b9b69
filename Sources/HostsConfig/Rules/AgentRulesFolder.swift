import Dispatch
import Glibc
package import HostsDetection
import HostsModel

/// The rules of every agent: the shipped ones, with the person's own laid over them.
package enum AgentRulesFolder {
    /// Rules that can be used, and everything worth saying about the files.
    package struct Loaded: Sendable {
        package let book: RuleBook
        package let diagnostics: [Diagnostic]
    }

    private static let queue = DispatchQueue(label: "hostsd.rules.read")

    /// Reads the folders off the cooperative pool; see `load`.
    package static func read(shipped: String, own: String?) async -> Loaded {
        await withCheckedContinuation { continuation in
            queue.async { continuation.resume(returning: load(shipped: shipped, own: own)) }
        }
    }

    /// Reads `*.toml` of the folders; blocks, so not for the cooperative pool.
    ///
    /// - Parameters:
    ///   - shipped: The folder that came with the program.
    ///   - own: The person's folder, whose `AGENT.toml` takes the place of the shipped one; nil or missing:
    ///     none.
    /// - Returns: The rules. A file that cannot be used disables its own agent only, and says so.
    package static func load(shipped: String, own: String?) -> Loaded {
        var diagnostics: [Diagnostic] = []
        let ownFiles = own.map { readFiles(in: $0, mustExist: false, &diagnostics) } ?? []
        let shippedFiles = readFiles(in: shipped, mustExist: true, &diagnostics)
        let loaded = load(shipped: shippedFiles, own: ownFiles)
        return Loaded(book: loaded.book, diagnostics: (diagnostics + loaded.diagnostics).sorted())
    }

    /// The same for files that were read already.
    package static func load(shipped: [ConfigurationFile], own: [ConfigurationFile]) -> Loaded {
        var diagnostics: [Diagnostic] = []
        var compiled: [CompiledRules] = []
        let replaced = Set(own.map(\.name))
        for file in own + shipped.filter({ !replaced.contains($0.name) }) {
            if let concern = file.concern { diagnostics.append(.warning(at: .whole(file.path), concern)) }
            guard let rules = compile(file, &diagnostics) else { continue }
            guard !compiled.contains(where: { $0.rules.name == rules.rules.name }) else {
                diagnostics.append(
                    .error(at: .whole(file.path), "there are rules for \"\(rules.rules.name)\" already"))
                continue
            }
            compiled.append(rules)
        }
        return Loaded(book: RuleBook(compiled), diagnostics: diagnostics.sorted())
    }

    /// The folder of shipped rules: beside the program where it is installed, else the source tree it was built in.
    ///
    /// - Parameter program: The absolute path of the program.
    /// - Returns: The first of these that exists; the installed place if none does, so that its absence is reported.
    package static func shipped(with program: String) -> String {
        var folder = parent(of: program)
        let installed = parent(of: folder) + "/share/hostsd/agents.d"
        if unsafe access(installed, R_OK) == 0 { return installed }
        while folder != "/", !folder.isEmpty {
            let inTree = folder + "/Config/agents.d"
            if unsafe access(inTree, R_OK) == 0 { return inTree }
            folder = parent(of: folder)
        }
        return installed
    }

    private static func parent(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/"), slash != path.startIndex else { return "/" }
        return String(path[..<slash])
    }

    private static func compile(_ file: ConfigurationFile, _ diagnostics: inout [Diagnostic])
        -> CompiledRules?
    {
        switch file.content {
        case .unreadable(let reason):
            diagnostics.append(.error(at: .whole(file.path), reason))
            return nil
        case .bytes(let bytes):
            let (rules, found) = AgentRulesFile.compile(bytes: bytes, file: file.path)
            diagnostics += found
            guard let rules else { return nil }
            let name = String(file.name.dropLast(5))
            guard rules.rules.name.rawValue == name else {
                diagnostics.append(
                    .error(
                        at: .whole(file.path),
                        "the file is for \"\(rules.rules.name)\": call it \(rules.rules.name).toml"))
                return nil
            }
            return rules
        }
    }

    private static func readFiles(
        in folder: String, mustExist: Bool, _ diagnostics: inout [Diagnostic]
    ) -> [ConfigurationFile] {
        let reader = ConfigurationReader(directory: folder)
        switch reader.list(folder) {
        case .names(let names):
            return names.sorted().filter { $0.hasSuffix(".toml") && !$0.hasPrefix(".") }.compactMap {
                reader.read(name: $0, path: folder + "/" + $0)
            }
        case .missing:
            if mustExist {
                diagnostics.append(.error(at: .whole(folder), "the folder of shipped rules is missing"))
            }
            return []
        case .failed(let reason):
            diagnostics.append(.error(at: .whole(folder), reason))
            return []
        }
    }
}
