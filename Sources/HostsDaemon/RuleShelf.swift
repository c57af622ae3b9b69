import Glibc
import HostsConfig
import HostsDetection
import HostsLog
import HostsModel

/// The rules of the agents, as they were read last.
///
/// A host takes them when its first look begins; a host that is known already keeps what it has until the daemon starts
/// again.
struct RuleShelf: Sendable {
    private let book: Locked<RuleBook>
    private let shipped: String
    private let own: String
    private let log: Log

    /// Makes a shelf without rules; `read` fills it.
    ///
    /// - Parameters:
    ///   - shipped: The folder that came with the program.
    ///   - own: The person's folder; it need not exist.
    ///   - log: Of the category `config`.
    init(shipped: String, own: String, log: Log) {
        book = Locked(RuleBook([]))
        self.shipped = shipped
        self.own = own
        self.log = log
    }

    /// Reads both folders.
    ///
    /// - Returns: What is wrong with the rules.
    func read() async -> [Diagnostic] {
        let loaded = await AgentRulesFolder.read(shipped: shipped, own: own)
        book.withLock { $0 = loaded.book }
        log.debug("rules.read", "read the rules of the agents", .count("faults", loaded.diagnostics.count))
        return loaded.diagnostics
    }

    func makeDetector(for host: HostID) -> HostDetector {
        HostDetector(host: host, rules: book.withLock { $0 })
    }

    /// The folder of shipped rules: beside the program where it is installed, else the source tree it was built in.
    ///
    /// - Returns: The first of these that exists; the installed place if none does, so that its absence is reported.
    static func shippedFolder(program: String) -> String {
        var folder = folder(of: program)
        let installed = Self.folder(of: folder) + "/share/hostsd/agents.d"
        if access(installed, R_OK) == 0 { return installed }
        while folder != "/", !folder.isEmpty {
            let inTree = folder + "/Config/agents.d"
            if access(inTree, R_OK) == 0 { return inTree }
            folder = Self.folder(of: folder)
        }
        return installed
    }

    private static func folder(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/"), slash != path.startIndex else { return "/" }
        return String(path[..<slash])
    }
}
