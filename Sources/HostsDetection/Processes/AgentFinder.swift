package import HostsModel

/// An agent that runs on a host: its process and where it shows itself.
package struct FoundAgent: Hashable, Sendable {
    package let agent: AgentName
    package let process: ProcessRecord
    /// Its own processes below it, such as the native program that a node script has started.
    package let helpers: [ProcessRecord]
    package let place: Place
    /// The pane that shows it; nil outside tmux.
    package let pane: TmuxPane?
    /// When its tmux server was asked, in seconds since 1970 on the host; 0 outside tmux.
    package let serverNow: Int64
    /// The version, where a path names it.
    package let version: String?

    package init(
        agent: AgentName, process: ProcessRecord, helpers: [ProcessRecord], place: Place, pane: TmuxPane?,
        serverNow: Int64,
        version: String?
    ) {
        self.agent = agent
        self.process = process
        self.helpers = helpers
        self.place = place
        self.pane = pane
        self.serverNow = serverNow
        self.version = version
    }
}

/// Finds agents among the processes of a report.
///
/// The process decides, never a screen or a title: those outlive it.
package struct AgentFinder {
    private let book: RuleBook
    private let table: ProcessTable
    private let servers: [TmuxServer]

    package init(book: RuleBook, report: ProbeReport) {
        self.init(book: book, table: ProcessTable(report.processes), servers: report.servers)
    }

    init(book: RuleBook, table: ProcessTable, servers: [TmuxServer]) {
        self.book = book
        self.table = table
        self.servers = servers
    }

    /// Every agent that shows itself now, with nothing known from earlier looks.
    package func agents() -> [FoundAgent] { agents(known: [:]) }

    /// Every agent that has a terminal and its foreground, or is stopped there; in the order of the report.
    ///
    /// - Parameter known: Agents of earlier looks: they stay agents while their process lives, in the
    ///   foreground or not, since a tool of theirs may own the terminal for a moment.
    /// - Returns: The agents, each once.
    func agents(known: [ProcessKey: AgentName]) -> [FoundAgent] {
        var matches: [Int32: Match] = [:]
        for process in table.processes where process.terminal != 0 && !process.isDead {
            guard let match = match(process) else { continue }
            matches[process.pid] = match
        }
        var result: [FoundAgent] = []
        for process in table.processes where process.terminal != 0 && !process.isDead {
            let key = ProcessKey(process)
            let match = matches[process.pid]
            guard let agent = known[key] ?? match?.agent else { continue }
            if known[key] == nil {
                guard process.isForeground || process.isStopped else { continue }
                guard let match, !match.isWrapper || !hasAgentChild(process, agent: agent, matches) else {
                    continue
                }
            }
            let parents = table.ancestors(of: process)
            guard !parents.contains(where: { isAgent($0, known: known, matches) }) else { continue }
            result.append(
                found(
                    agent, process, helpers: helpers(of: process, agent: agent, matches), parents: parents,
                    version: match?.version))
        }
        return result
    }

    /// Sockets that running tmux servers were given by `-S` or `-L`, sorted.
    func namedSockets(user: Int) -> [String] {
        var result: Set<String> = []
        for process in table.processes where process.name.hasPrefix("tmux") {
            var words = process.arguments.dropFirst().makeIterator()
            while let word = words.next() {
                if word.hasPrefix("-S"), let path = word.count > 2 ? String(word.dropFirst(2)) : words.next()
                {
                    if path.hasPrefix("/") { result.insert(path) }
                } else if word.hasPrefix("-L"),
                    let name = word.count > 2 ? String(word.dropFirst(2)) : words.next()
                {
                    if !name.contains("/") { result.insert("/tmp/tmux-\(user)/\(name)") }
                } else if ["-f", "-c", "-T"].contains(word) {
                    // These take a value (tmux(1)), which must not be taken for the command.
                    _ = words.next()
                } else if !word.hasPrefix("-") {
                    break
                }
            }
        }
        return result.filter { path in path.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7f }
        }
        .sorted()
    }

    // MARK: Matching

    private struct Match {
        let agent: AgentName
        let isWrapper: Bool
        let version: String?
    }

    private func match(_ process: ProcessRecord) -> Match? {
        guard let line = CommandLine(of: process) else { return nil }
        for compiled in book.agents {
            let identity = compiled.rules.process
            let isNamed = identity.names.contains(line.name)
            guard isNamed || compiled.paths.contains(where: { $0.find(in: line.path) == .match }) else {
                continue
            }
            guard !line.arguments.contains(where: { identity.excludedArguments.contains($0) }) else {
                continue
            }
            if let command = line.command, identity.excludedCommands.contains(command) { continue }
            return Match(
                agent: compiled.rules.name, isWrapper: line.isWrapper, version: Self.version(in: line.path))
        }
        return nil
    }

    /// `…/versions/2.1.220` and `2.1.220` name a version.
    private static func version(in path: String) -> String? {
        guard let last = path.split(separator: "/").last, last.contains(".") else { return nil }
        let isVersion = last.split(separator: ".", omittingEmptySubsequences: false).allSatisfy { part in
            !part.isEmpty && part.allSatisfy { $0.isASCII && $0.isNumber }
        }
        return isVersion ? String(last) : nil
    }

    // What an agent starts is its tool, its worker or its helper, whatever it is called; but a script of a
    // shell only waits for the agent proper.
    private func isAgent(_ process: ProcessRecord, known: [ProcessKey: AgentName], _ matches: [Int32: Match])
        -> Bool
    {
        if known[ProcessKey(process)] != nil { return true }
        guard let match = matches[process.pid], process.terminal != 0 else { return false }
        return !match.isWrapper || !hasAgentChild(process, agent: match.agent, matches)
    }

    private func hasAgentChild(_ process: ProcessRecord, agent: AgentName, _ matches: [Int32: Match]) -> Bool
    {
        table.processes.contains { $0.parent == process.pid && matches[$0.pid]?.agent == agent }
    }

    private func helpers(of process: ProcessRecord, agent: AgentName, _ matches: [Int32: Match])
        -> [ProcessRecord]
    {
        table.processes.filter { other in
            other.pid != process.pid && other.group == process.group && matches[other.pid]?.agent == agent
                && table.ancestors(of: other).contains { $0.pid == process.pid }
        }
    }

    // MARK: Places

    private func found(
        _ agent: AgentName, _ process: ProcessRecord, helpers: [ProcessRecord], parents: [ProcessRecord],
        version: String?
    ) -> FoundAgent {
        let tty = process.terminalName
        for server in servers {
            // Device numbers repeat between containers; the leader of the terminal's session does not.
            let pane = server.panes.first { pane in
                process.terminalFile.map { pane.tty == "/dev/" + $0 } ?? false || pane.pid == process.session
                    || pane.pid == process.pid
                    || parents.contains { $0.pid == pane.pid }
            }
            guard let pane else { continue }
            let place = Place(
                label: SafeText.visible(pane.label), socket: server.socket, pane: pane.id, tty: tty)
            return FoundAgent(
                agent: agent, process: process, helpers: helpers, place: place, pane: pane,
                serverNow: server.now, version: version)
        }
        return FoundAgent(
            agent: agent, process: process, helpers: helpers, place: Place(label: tty ?? "-", tty: tty),
            pane: nil,
            serverNow: 0, version: version)
    }
}
