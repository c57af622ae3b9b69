import HostsModel

/// One agent from its first look to its end.
struct WatchedAgent: Sendable {
    let id: SessionID
    let agent: AgentName
    private(set) var place: Place
    private let pid: Int32
    private var version: String?
    private var tracker: SessionTracker?

    /// The last screen that was read: its digest, and what it said.
    private var digest: Int?
    private var reading: ScreenReading?
    private var isNewlyUnmatched = false
    private var hasShownBusyTitle = false
    /// When something was last written to its window, in seconds since 1970 on the host.
    private var activity: Int64 = 0
    /// The screen was drawn long enough after that to hold it.
    private var isSettled = false
    private var json: [UInt8] = []
    private var fileReading: StateFileReading?
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
    }

    /// The stamp with which its pane is asked for; 0: draw it in any case.
    var stamp: Int64 { isSettled && reading != nil ? activity : 0 }

    var wantsConfirmation: Bool { tracker?.wantsConfirmation ?? false }

    /// Whether the last look has read a screen that no rule matched; asked once per screen.
    mutating func takeUnmatched() -> Bool {
        defer { isNewlyUnmatched = false }
        return isNewlyUnmatched
    }

    /// Reads everything again at the next look, for which its pane is drawn in any case.
    mutating func forgetReadings() {
        digest = nil
        reading = nil
        json = []
        fileReading = nil
    }

    mutating func exit(at time: WallTime) {
        tracker?.exit(at: time)
    }

    /// What is worth telling of this agent.
    func warnings(rules: CompiledRules) -> [String] {
        var result = (reading?.failedRules ?? []).map {
            "the rule \($0) could not be decided: a pattern met its limit"
        }
        if let version, !rules.rules.versions.contains(version) {
            result.append("\(agent) \(version) is not of the versions that its rules were made for")
        }
        return result
    }

    func session(host: HostID, at time: WallTime) -> AgentSession {
        AgentSession(
            id: id, host: host, agent: agent, version: version, place: place, pid: pid,
            state: tracker?.state ?? .unknown, flags: tracker?.flags ?? [], evidence: tracker?.evidence ?? [],
            since: tracker?.since ?? time, lastSeen: time)
    }

    // MARK: A look

    mutating func observe(
        _ found: FoundAgent, rules: CompiledRules, capture: TmuxServer.Capture?, files: [StateFileRecord],
        at time: WallTime
    ) {
        if found.pane != nil { place = found.place }
        let before = activity
        activity = found.pane?.activity ?? activity
        let sample = sample(found, rules: rules, capture: capture, files: files, at: time)
        if tracker == nil {
            tracker = SessionTracker(first: sample, at: time, keepPrevious: rules.rules.keepPrevious)
        } else {
            let isStill = found.pane != nil && activity == before && activity != 0
            tracker?.observe(sample, isStill: isStill, at: time)
        }
    }

    private mutating func sample(
        _ found: FoundAgent, rules: CompiledRules, capture: TmuxServer.Capture?, files: [StateFileRecord],
        at time: WallTime
    ) -> AgentSample {
        if found.process.isStopped { return .stopped }
        readFile(found, rules: rules, files: files)
        let isOwnScreen = found.process.isForeground
        let screen = isOwnScreen ? readScreen(found, rules: rules, capture: capture, at: time) : nil
        if fileReading == nil, screen == nil {
            if !isOwnScreen { return .unseen("process.background") }
            return .unseen(place.pane == nil ? "screen.none" : "screen.not-drawn")
        }
        var sample = AgentSample(file: fileReading, screen: screen)
        if screen?.hasBusyTitle == true { hasShownBusyTitle = true }
        if rules.rules.idleTitleIsStrong, hasShownBusyTitle, sample.finding == .idle, sample.strength == .weak
        {
            sample.strength = .strong
            sample.evidence.append(Evidence(kind: .title, strength: .strong, rule: "\(agent).idle-title"))
        }
        return sample
    }

    private mutating func readFile(_ found: FoundAgent, rules: CompiledRules, files: [StateFileRecord]) {
        for process in [found.process] + found.helpers {
            guard let record = files.first(where: { $0.agent == found.agent && $0.pid == process.pid }) else {
                continue
            }
            guard record.json != json else { return }
            json = record.json
            fileReading = StateFileReading(json: json, startTime: process.startTime, rules: rules)
            version = fileReading?.version ?? version
            return
        }
        json = []
        fileReading = nil
    }

    private mutating func readScreen(
        _ found: FoundAgent, rules: CompiledRules, capture: TmuxServer.Capture?, at time: WallTime
    ) -> ScreenReading? {
        guard let pane = found.pane else { return nil }
        switch capture {
        case nil: return nil
        case .same: return reading
        case .screen(let bytes):
            lastDrawn = time
            isSettled = found.serverNow >= pane.activity + Self.settleSeconds
            var hasher = Hasher()
            unsafe bytes.withUnsafeBytes { unsafe hasher.combine(bytes: $0) }
            hasher.combine(pane.title)
            let digest = hasher.finalize()
            if digest == self.digest, let reading { return reading }
            self.digest = digest
            let reading = ScreenClassifier(rules).read(Screen(capture: bytes, title: pane.title))
            isNewlyUnmatched = reading.meaning == nil && reading.failedRules.isEmpty
            self.reading = reading
            return reading
        }
    }
}
