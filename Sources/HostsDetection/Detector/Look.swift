import HostsModel

/// One look at a host: the reply to the probe, and what further requests in the same tick have added.
struct Look: Sendable {
    private(set) var report: ProbeReport
    private var askedPlaces: Set<Place> = []
    private var askedSockets: Set<String> = []
    private var followUps = 0

    init(_ report: ProbeReport) {
        self.report = report
    }

    /// Adds what servers answered to a further request.
    mutating func merge(_ servers: [TmuxServer]) {
        for server in servers {
            guard let index = report.servers.firstIndex(where: { $0.socket == server.socket }) else {
                report.servers.append(server)
                continue
            }
            let captures = report.servers[index].captures.merging(server.captures) { _, new in new }
            if server.isListed { report.servers[index] = server }
            report.servers[index].captures = captures
        }
    }

    /// What must be asked before the look is whole: named sockets that were not looked at, panes that were
    /// not drawn.
    ///
    /// - Parameters:
    ///   - agents: Every agent found so far.
    ///   - sockets: Paths that the arguments of running tmux servers name.
    ///   - isWatched: Whether the probe has asked for an agent's pane: where it drew none, asking again is
    ///     idle.
    /// - Returns: Nil when the look is whole, or as good as it gets in this tick.
    mutating func followUp(
        _ agents: [FoundAgent], sockets: [String], isWatched: (FoundAgent) -> Bool
    ) -> ProbeRequest? {
        guard followUps < HostDetector.followUpLimit else { return nil }
        var request = RequestBuilder(function: ProbeProgram.lookFunction)
        for socket in sockets where !report.servers.contains(where: { $0.socket == socket }) {
            guard askedSockets.insert(socket).inserted else { continue }
            request.addSocket(socket)
        }
        for agent in agents where agent.pane != nil && !isWatched(agent) {
            // "Same" is no answer about an agent that was never seen.
            if case .screen = capture(of: agent.place) { continue }
            guard askedPlaces.insert(agent.place).inserted else { continue }
            guard let socket = agent.place.socket else { continue }
            request.addSocket(socket)
            request.addCapture(agent.place, stamp: 0)
        }
        guard !request.isEmpty else { return nil }
        followUps += 1
        return request.request
    }

    /// What was drawn of a place.
    func capture(of place: Place) -> TmuxServer.Capture? {
        guard let pane = place.pane, let server = server(of: place) else { return nil }
        return server.captures[pane]
    }

    private func server(of place: Place) -> TmuxServer? {
        report.servers.first { $0.socket == place.socket }
    }

    /// Some server has not told its panes, though it may be running.
    var hasSilentServer: Bool { report.servers.contains { $0.isSilent } }

    /// What is worth telling of the servers.
    var warnings: [String] {
        report.servers.filter(\.isSilent).map { server in
            "the tmux server at \(SafeText.visible(server.socket)) \(server.answer.words)"
        }
    }

    var focusedPanes: [FocusedPane] {
        report.servers.flatMap { server in
            server.clients.filter { !$0.pane.isEmpty }.map { client in
                let idle = max(0, server.now.subtractingReportingOverflow(client.activity).partialValue)
                return FocusedPane(socket: server.socket, pane: client.pane, idle: .seconds(idle))
            }
        }
    }
}

extension TmuxServer {
    fileprivate var isSilent: Bool { !isListed && answer != .notRunning }
}

extension TmuxServer.Answer {
    fileprivate var words: String {
        switch self {
        case .served: "told no panes"
        case .notRunning: "is not running"
        case .timedOut: "did not answer within 2 s"
        case .skipped: "was not asked: too many servers, or others did not answer"
        case .cut: "was left out: the reply was full"
        case .failed(let status): "failed with status \(status)"
        }
    }
}

/// Puts the words of a request together, within its limits.
struct RequestBuilder {
    private let function: String
    private var words: [String] = []
    private var sockets: [String] = []
    private var captures = 0
    private var logs = 0

    init(function: String) {
        self.function = function
    }

    var request: ProbeRequest { ProbeRequest(function: function, arguments: words) }
    var isEmpty: Bool { words.isEmpty }

    /// Programs whose arguments are wanted.
    mutating func addNames(_ book: RuleBook) {
        let names = book.agents.flatMap(\.rules.process.names)
        guard !names.isEmpty else { return }
        words.append("names:" + names.joined(separator: ","))
    }

    mutating func addStateFiles(_ book: RuleBook) {
        for agent in book.agents {
            guard let file = agent.rules.stateFile else { continue }
            words.append("state:\(agent.rules.name):\(file.variable):\(file.home):\(file.folder)")
        }
    }

    /// Asks for the log of a process's turns, unless it is as it was at `stamp`.
    mutating func addTurnLog(_ rules: TurnLogRules, pid: Int32, stamp: TurnLogRecord.Stamp?) {
        guard logs < ProbeProgram.logLimit else { return }
        logs += 1
        words.append("log:\(pid):\(stamp?.text ?? "-"):\(rules.words)")
    }

    mutating func addSocket(_ socket: String) {
        guard sockets.count < ProbeProgram.socketLimit, !sockets.contains(socket), Self.isPlain(socket) else {
            return
        }
        sockets.append(socket)
        words.append("socket:\(socket)")
    }

    /// Asks for a pane, unless it was last written to at `stamp` (seconds since 1970; 0: draw it anyway).
    mutating func addCapture(_ place: Place, stamp: Int64) {
        guard captures < ProbeProgram.captureLimit, let socket = place.socket, Self.isPlain(socket),
            let pane = place.pane, pane.hasPrefix("%"), UInt32(pane.dropFirst()) != nil
        else { return }
        captures += 1
        words.append("capture:\(pane):\(max(0, stamp)):\(socket)")
    }

    // A request holds no control characters.
    private static func isPlain(_ text: String) -> Bool {
        text.hasPrefix("/") && text.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7f }
    }
}
