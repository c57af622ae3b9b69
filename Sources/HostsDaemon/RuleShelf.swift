import HostsConfig
import HostsDetection
import HostsLog
import HostsModel

/// The rules of the agents, as they were read last.
///
/// Every host takes them when its next look begins.
struct RuleShelf: Sendable {
    /// Rules, and how often they have changed.
    fileprivate struct Edition: Sendable {
        var number = 0
        var book = RuleBook([])
    }

    private let edition = Locked(Edition())
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
        self.shipped = shipped
        self.own = own
        self.log = log
    }

    /// Reads both folders.
    ///
    /// - Returns: What is wrong with the rules.
    func read() async -> [Diagnostic] {
        let loaded = await AgentRulesFolder.read(shipped: shipped, own: own)
        let number = edition.withLock { edition in
            // The folder is read at every change of the configuration; the same rules are no news to a detector.
            if !edition.book.isSame(as: loaded.book) {
                edition = Edition(number: edition.number + 1, book: loaded.book)
            }
            return edition.number
        }
        log.debug(
            "rules.read", "read the rules of the agents", .count("edition", number),
            .count("faults", loaded.diagnostics.count))
        return loaded.diagnostics
    }

    /// Makes what reads the replies of one host, now and after every change of the rules.
    func makeDetector(for host: HostID) -> any ProbeInterpreter {
        ShelvedDetector(host: host, shelf: self)
    }

    fileprivate var current: Edition { edition.withLock { $0 } }
}

/// A detector that takes the rules of the shelf when a look begins.
private struct ShelvedDetector: ProbeInterpreter {
    private let shelf: RuleShelf
    private var detector: HostDetector
    private var edition: Int

    init(host: HostID, shelf: RuleShelf) {
        let current = shelf.current
        self.shelf = shelf
        edition = current.number
        detector = HostDetector(host: host, rules: current.book)
    }

    mutating func nextRequest() -> ProbeRequest {
        let current = shelf.current
        if current.number != edition {
            edition = current.number
            detector.replaceRules(current.book)
        }
        return detector.nextRequest()
    }

    mutating func interpret(_ reply: ProbeReply, at time: WallTime) throws(LinkError) -> ProbeStep {
        try detector.interpret(reply, at: time)
    }

    func explain(_ session: SessionID) -> SessionExplanation? { detector.explain(session) }
}
