import HostsModel

/// One agent from its first look to its end.
struct WatchedAgent: Sendable {
    let id: SessionID
    let agent: AgentName
    private(set) var place: Place
    private let pid: Int32
    private var version: String?
    private var tracker: SessionTracker?

    /// The last screen that was read: its digest, what it said, and since when it has been so.
    private var digest: Int?
    private var reading: ScreenReading?
    private var readingSince = WallTime(milliseconds: 0)
    private var fitness = RuleFitness()
    private var hasShownBusyTitle = false
    /// The screen of this look is another one than that of the look before.
    private var hasMoved = false
    /// When something was last written to its window, in seconds since 1970 on the host.
    private var activity: Int64 = 0
    /// The screen was drawn long enough after that to hold it.
    private var isSettled = false
    private var json: [UInt8] = []
    private var fileReading: StateFileReading?
    private var fileRefusal: StateFileReading.Refusal?
    private var fileSince = WallTime(milliseconds: 0)
    /// Of this process, and of those of its own below it.
    private(set) var pids: [Int32]
    private(set) var turnLog = TurnLog()
    /// The last looks, oldest first.
    private var looks: [SessionLook] = []
    /// When its screen was last drawn; those that wait longest come first.
    private(set) var lastDrawn = WallTime(milliseconds: 0)

    /// Seconds that must lie between the last writing and a drawing: tmux keeps whole seconds.
    private static let settleSeconds: Int64 = 2

    init(_ found: FoundAgent, host: HostID, bootID: String) {
        id = SessionID(
            host: host, bootID: bootID, place: found.place, pid: found.process.pid,
            startTime: found.process.startTime)
        agent = found.agent
        place = found.place
        pid = found.process.pid
        version = found.version
        pids = Self.pids(of: found)
    }

    private static func pids(of found: FoundAgent) -> [Int32] {
        ([found.process] + found.helpers).prefix(pidLimit).map(\.pid)
    }

    /// Most processes of one agent whose logs are asked for.
    private static let pidLimit = 4

    /// The stamp with which its pane is asked for; 0: draw it in any case.
    var stamp: Int64 { isSettled && reading != nil ? activity : 0 }

    var wantsConfirmation: Bool { tracker?.wantsConfirmation ?? false }

    /// Reads everything again at the next look, for which its pane is drawn in any case.
    mutating func forgetReadings() {
        digest = nil
        reading = nil
        json = []
        fileReading = nil
        fileRefusal = nil
        fitness = RuleFitness()
    }

    mutating func exit(at time: WallTime) {
        guard let look = tracker?.exit(at: time) else { return }
        remember(look)
    }

    /// Why it is thought to be in its state.
    var explanation: SessionExplanation { SessionExplanation(session: id, looks: looks) }

    /// What shows that the rules do not fit it.
    func staleRules(_ rules: CompiledRules) -> [StaleRules] {
        var result: [StaleRules] = []
        if let version = foreignVersion(rules) {
            result.append(StaleRules(agent: agent, version: version, cause: .version))
        }
        if fitness.areStale {
            result.append(
                StaleRules(agent: agent, version: version, cause: .unreadWork(looks: RuleFitness.looks)))
        }
        return result
    }

    /// Its version, if that is none of those that the rules were made for.
    private func foreignVersion(_ rules: CompiledRules) -> String? {
        version.flatMap { rules.rules.versions.contains($0) ? nil : $0 }
    }

    /// What is worth telling of this agent.
    func warnings(rules: CompiledRules) -> [String] {
        var result = (reading?.failedRules ?? []).map {
            "the rule \($0) could not be decided: a pattern met its limit"
        }
        if let version = foreignVersion(rules) {
            result.append("\(agent) \(version) is not of the versions that its rules were made for")
        }
        return result
    }

    func session(host: HostID, at time: WallTime) -> AgentSession {
        AgentSession(
            id: id, host: host, agent: agent, version: version, place: place, pid: pid,
            state: tracker?.state ?? .unknown, flags: flags, evidence: tracker?.evidence ?? [],
            since: tracker?.since ?? time, lastSeen: time)
    }

    private var flags: Set<SessionFlag> {
        var flags = tracker?.flags ?? []
        if fitness.areStale, tracker?.state != .exited { flags.insert(.rulesStale) }
        return flags
    }

    private mutating func remember(_ look: SessionLook) {
        if looks.count == SessionExplanation.limit { looks.removeFirst() }
        looks.append(look)
    }

    // MARK: A look

    mutating func observe(
        _ found: FoundAgent, rules: CompiledRules, capture: TmuxServer.Capture?, report: ProbeReport,
        at time: WallTime
    ) {
        if found.pane != nil { place = found.place }
        pids = Self.pids(of: found)
        turnLog.observe(report.turnLogs, of: pids, at: time)
        let before = activity
        activity = found.pane?.activity ?? activity
        let sample = sample(found, rules: rules, capture: capture, report: report, at: time)
        var effect = SessionLook.Effect.changed
        var tracker: SessionTracker
        if let known = self.tracker {
            tracker = known
            let isStill = found.pane != nil && activity == before && activity != 0
            effect = tracker.observe(sample, isStill: isStill, at: time)
        } else {
            tracker = SessionTracker(first: sample, at: time, keepPrevious: rules.rules.keepPrevious)
        }
        self.tracker = tracker
        remember(
            SessionLook(
                time: time, evidence: sample.signs, effect: effect, state: tracker.state, flags: flags))
    }

    private mutating func sample(
        _ found: FoundAgent, rules: CompiledRules, capture: TmuxServer.Capture?, report: ProbeReport,
        at time: WallTime
    ) -> AgentSample {
        if found.process.isStopped { return .stopped }
        readFile(found, rules: rules, files: report.stateFiles, at: time)
        let isOwnScreen = found.process.isForeground
        let screen = isOwnScreen ? readScreen(found, rules: rules, capture: capture, at: time) : nil
        var sample: AgentSample
        let log = turnLog.reading(rules.rules, at: time)
        if fileReading == nil, screen == nil, log == nil {
            sample = .unseen(
                !isOwnScreen ? "process.background" : place.pane == nil ? "screen.none" : "screen.not-drawn")
        } else {
            sample = AgentSample(
                file: fileReading.map { .init(reading: $0, age: time.duration(since: fileSince)) },
                screen: screen.map { .init(reading: $0, age: time.duration(since: readingSince)) }, log: log)
        }
        if let fileRefusal { sample.signs.append(.refused(fileRefusal, of: agent)) }
        if screen?.hasBusyTitle == true { hasShownBusyTitle = true }
        if rules.rules.idleTitleIsStrong, hasShownBusyTitle, sample.finding == .idle, sample.strength == .weak
        {
            sample.strength = .strong
            sample.signs.append(
                WeighedEvidence(
                    evidence: Evidence(kind: .title, strength: .strong, rule: "\(agent).idle-title"),
                    meaning: .state(.idle), outcome: .applied))
        }
        if sample.finding == .unknown, rules.rules.movingIsBusy, hasMoved {
            sample.finding = .busy
            sample.signs = [
                WeighedEvidence(
                    evidence: Evidence(kind: .statusRow, strength: .weak, rule: "\(agent).moving"),
                    meaning: .state(.busy), outcome: .applied)
            ]
        }
        return sample
    }

    private mutating func readFile(
        _ found: FoundAgent, rules: CompiledRules, files: [StateFileRecord], at time: WallTime
    ) {
        for process in [found.process] + found.helpers {
            guard let record = files.first(where: { $0.agent == found.agent && $0.pid == process.pid }) else {
                continue
            }
            guard record.json != json else { return }
            json = record.json
            fileSince = time
            do throws(StateFileReading.Refusal) {
                let reading = try StateFileReading(
                    json: json, startTime: process.startTime, rules: rules)
                fileReading = reading
                fileRefusal = nil
                version = reading.version ?? version
            } catch {
                fileReading = nil
                fileRefusal = error
            }
            return
        }
        json = []
        fileReading = nil
        fileRefusal = nil
    }

    private mutating func readScreen(
        _ found: FoundAgent, rules: CompiledRules, capture: TmuxServer.Capture?, at time: WallTime
    ) -> ScreenReading? {
        hasMoved = false
        guard let pane = found.pane else { return nil }
        switch capture {
        case nil: return nil
        case .same:
            fitness.observeStillness()
            return reading
        case .screen(let bytes):
            lastDrawn = time
            isSettled = found.serverNow >= pane.activity + Self.settleSeconds
            let digest = Screen.digest(of: bytes, title: pane.title)
            if digest == self.digest, let reading {
                fitness.observeStillness()
                return reading
            }
            hasMoved = self.digest != nil
            self.digest = digest
            let reading = ScreenClassifier(rules).read(Screen(capture: bytes, title: pane.title))
            fitness.observe(reading, isWork: rules.rules.movingIsBusy)
            readingSince = time
            self.reading = reading
            return reading
        }
    }
}

extension WeighedEvidence {
    /// A state file that is as good as none.
    fileprivate static func refused(
        _ refusal: StateFileReading.Refusal, of agent: AgentName
    ) -> WeighedEvidence {
        WeighedEvidence(
            evidence: Evidence(
                kind: .stateFile, strength: .weak, rule: "\(agent).state-file.\(refusal.rawValue)"),
            meaning: .nothing, outcome: .discarded)
    }
}
