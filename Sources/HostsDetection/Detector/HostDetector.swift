package import HostsModel

/// Turns the replies of one host into observations.
///
/// A value: the hub keeps one per host, also across a lost link.
///
/// Ask `nextRequest` at each tick and hand every reply to `report`, until it gives an observation. A reply
/// that is not handed over, or is an error, changes nothing: no state, no exit and no edge comes from it.
package struct HostDetector: Sendable {
    /// Most further requests in one tick: one for servers in unusual places, one for the agents in them.
    package static let followUpLimit = 2

    /// What a link sends to a fresh shell.
    package static var program: ShellProgram { ProbeProgram.program }

    package let host: HostID
    /// The panes that somebody looks at in an attached terminal, at the last observation.
    package private(set) var focusedPanes: [FocusedPane] = []

    private var book: RuleBook
    private var watched: [ProcessKey: WatchedAgent] = [:]
    private var bootID: String?
    private var look: Look?
    /// Of the agents that went last, oldest first: people ask why an agent is called gone.
    private var ended: [SessionExplanation] = []

    /// Most agents that are gone and can still be explained.
    private static let endedLimit = 8

    package init(host: HostID, rules: RuleBook) {
        self.host = host
        book = rules
    }

    /// The request of the next tick.
    ///
    /// An unfinished look of an earlier one is given up.
    package mutating func nextRequest() -> ProbeRequest {
        look = nil
        var request = RequestBuilder(function: ProbeProgram.probeFunction)
        request.addNames(book)
        request.addStateFiles(book)
        let panes = watched.values.filter { $0.place.pane != nil }.sorted { $0.lastDrawn < $1.lastDrawn }
        for agent in panes { request.addCapture(agent.place, stamp: agent.stamp) }
        let sockets = watched.values.compactMap(\.place.socket)
        for socket in Set(sockets).sorted() { request.addSocket(socket) }
        return request.request
    }

    /// Goes on with other rules; every screen and state file is read again by them, at the next look.
    package mutating func replaceRules(_ rules: RuleBook) {
        book = rules
        for key in watched.keys { watched[key]?.forgetReadings() }
    }

    /// Takes a reply into account.
    ///
    /// - Throws: When the reply is no observation; nothing has changed then.
    package mutating func report(_ reply: ProbeReply, at time: WallTime) throws(ReplyError) -> ProbeStep {
        let pending = look
        look = nil
        let report = try ReplyParser.parse(reply)
        var look: Look
        switch report.kind {
        case .probe: look = Look(report)
        case .look:
            guard let pending else { throw .unexpected }
            look = pending
            look.merge(report.servers)
        }
        // After a start of the host a pid is somebody else's.
        let isSameBoot = bootID == nil || bootID == look.report.bootID
        let known = isSameBoot ? watched.mapValues(\.agent) : [:]
        let finder = AgentFinder(book: book, report: look.report)
        let agents = finder.agents(known: known)
        let sockets = finder.namedSockets(user: look.report.user)
        let request = look.followUp(agents, sockets: sockets) { known[ProcessKey($0.process)] != nil }
        if let request {
            self.look = look
            return .followUp(request)
        }
        return .observation(observe(agents, in: look, at: time))
    }

    /// The last looks at an agent.
    ///
    /// - Parameter session: Of this host.
    /// - Returns: Nil for an agent that is not known, or was gone before the last few that are remembered.
    package func explain(_ session: SessionID) -> SessionExplanation? {
        watched.values.first { $0.id == session }?.explanation ?? ended.last { $0.session == session }
    }

    // MARK: Observing

    private mutating func observe(_ agents: [FoundAgent], in look: Look, at time: WallTime) -> HostObservation
    {
        let report = look.report
        var warnings = look.warnings
        var sessions: [AgentSession] = []
        var staleRules: [StaleRules] = []
        if let bootID, bootID != report.bootID { sessions += exitAll(at: time) }
        bootID = report.bootID
        var seen: Set<ProcessKey> = []
        for found in agents {
            let key = ProcessKey(found.process)
            guard let rules = book[found.agent], seen.insert(key).inserted else { continue }
            // Its place is part of its name: it waits until every server has told its panes.
            if watched[key] == nil, found.pane == nil, look.hasSilentServer { continue }
            // Taken out, so that its list of looks is not copied.
            var agent =
                watched.removeValue(forKey: key)
                ?? WatchedAgent(found, host: host, bootID: report.bootID)
            let capture = look.capture(of: agent.place)
            agent.observe(found, rules: rules, capture: capture, files: report.stateFiles, at: time)
            warnings += agent.warnings(rules: rules)
            staleRules += agent.staleRules(rules)
            watched[key] = agent
            sessions.append(agent.session(host: host, at: time))
        }
        for (key, agent) in watched where !seen.contains(key) {
            sessions.append(exit(agent, key, at: time))
        }
        focusedPanes = look.focusedPanes
        return HostObservation(
            host: host, bootID: report.bootID, time: time, sessions: sessions.sorted { $0.id < $1.id },
            warnings: Set(warnings).sorted(), staleRules: Set(staleRules).sorted(),
            wantsConfirmation: watched.values.contains { $0.wantsConfirmation })
    }

    private mutating func exitAll(at time: WallTime) -> [AgentSession] {
        watched.map { exit($0.value, $0.key, at: time) }
    }

    private mutating func exit(_ agent: WatchedAgent, _ key: ProcessKey, at time: WallTime) -> AgentSession {
        watched[key] = nil
        var agent = agent
        agent.exit(at: time)
        if ended.count == Self.endedLimit { ended.removeFirst() }
        ended.append(agent.explanation)
        return agent.session(host: host, at: time)
    }
}

/// A pane that an attached terminal shows with its focus.
package struct FocusedPane: Hashable, Sendable {
    /// The path of the tmux server's socket.
    package let socket: String
    package let pane: String
    /// How long ago a key was pressed in that terminal, by the host's clock, in whole seconds.
    package let idle: Duration

    package init(socket: String, pane: String, idle: Duration) {
        self.socket = socket
        self.pane = pane
        self.idle = idle
    }
}
