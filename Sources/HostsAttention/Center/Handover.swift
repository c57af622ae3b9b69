import FoundationEssentials
import HostsLog
import HostsModel
import HostsPolicy

/// What a run of the daemon that ends on purpose leaves to the next one, as JSON in the store.
///
/// It is used once, within two minutes and in the same boot of this machine; otherwise the start is a cold one (seed
/// 002: an old turn end is never announced as new).
struct Handover: Codable, Hashable {
    /// How old it may be.
    static let lifetime = Duration.seconds(120)
    /// Of the document; another one is not read.
    static let currentVersion = 1

    struct Agent: Codable, Hashable {
        /// `busy idle needsYou`; nil before the first evidence.
        var state: String?
        var reason: String?
        var turn: Int
        var isTurnOpen: Bool
        var absences: Int
    }

    struct Clock: Codable, Hashable {
        var agentSeconds: Double
        var personSeconds: Double
        var outOfSyncSeconds: Double
        /// `white black`; nil for a clock that stands.
        var side: String?
    }

    struct Host: Codable, Hashable {
        /// From the last look to the end of the run, in seconds.
        var unseenSeconds: Double
        var agents: [String: Agent]
    }

    var version = Self.currentVersion
    /// The boot of this machine.
    var boot: String
    /// When it was made, on the clock that counts through suspension.
    var stamp: ContinuousClock.Instant
    /// Tells the turns of that run from those of others; they go on.
    var run: String
    var hosts: [String: Host]
    var clocks: [String: Clock]

    /// The document.
    ///
    /// - Throws: Nothing that can happen with values of these types.
    func encoded() throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        return String(decoding: try encoder.encode(self), as: UTF8.self)
    }

    /// Reads a document.
    ///
    /// - Returns: Nil for what is no document of this version.
    static func decoded(_ text: String) -> Handover? {
        guard let found = try? JSONDecoder().decode(Handover.self, from: Data(text.utf8)) else { return nil }
        return found.version == currentVersion ? found : nil
    }

    /// Why it must not be used; nil if it may.
    func objection(boot: String, now: ContinuousClock.Instant) -> String? {
        if boot.isEmpty || self.boot != boot { return "it is of another boot of this machine" }
        let age = now - stamp
        guard age >= .zero, age <= Self.lifetime else { return "it is older than two minutes" }
        return nil
    }
}

extension Handover.Agent {
    init(_ baseline: AttentionBaseline) {
        switch baseline.state {
        case .busy: state = "busy"
        case .idle: state = "idle"
        case .needsYou(let word):
            state = "needsYou"
            reason = word
        case .exited, .stopped, .unknown, nil: state = nil
        }
        turn = baseline.turn
        isTurnOpen = baseline.isTurnOpen
        absences = baseline.absences
    }

    var baseline: AttentionBaseline {
        let state: AttentionState? =
            switch self.state {
            case "busy": .busy
            case "idle": .idle
            case "needsYou": reason.map { .needsYou(reason: $0) }
            default: nil
            }
        return AttentionBaseline(state: state, turn: turn, isTurnOpen: isTurnOpen, absences: absences)
    }
}

/// A planned restart.
extension AttentionCenter {
    /// Leaves what is known to the next run, and takes no more news: what comes now is for that run to find.
    ///
    /// - Parameter boot: The boot id of this machine; empty where it is not known, which leaves nothing.
    package func handOver(boot: String) async {
        guard !hasHandedOver, !boot.isEmpty else { return }
        hasHandedOver = true
        let now = environment.clock.now
        var hosts: [String: Handover.Host] = [:]
        for (host, tracker) in trackers {
            guard let baselines = tracker.baselines, let seen = lastSeen[host] else { continue }
            hosts[host.rawValue] = Handover.Host(
                unseenSeconds: (now - seen).seconds,
                agents: Dictionary(
                    baselines.map { ($0.key.rawValue, Handover.Agent($0.value)) },
                    uniquingKeysWith: { first, _ in first }))
        }
        var shown: [String: Handover.Clock] = [:]
        for (session, clock) in clocks {
            let totals = clock.totals(at: seconds)
            shown[session.rawValue] = Handover.Clock(
                agentSeconds: totals.agentSeconds, personSeconds: totals.personSeconds,
                outOfSyncSeconds: totals.outOfSyncSeconds, side: clock.side?.rawValue)
        }
        let handover = Handover(boot: boot, stamp: now, run: run, hosts: hosts, clocks: shown)
        do {
            journal.leave(handover: try handover.encoded())
            log.debug("handover.left", "left the baselines to the next run", .count("hosts", hosts.count))
        } catch {
            log.error("handover.failed", "the baselines cannot be written: \(error)")
        }
    }

    /// Goes on from what the last run has left, if that was a moment ago; to be called before the first news.
    ///
    /// - Parameter boot: The boot id of this machine.
    package func takeOver(boot: String) async {
        begin()
        guard let text = journal.takeHandover() else { return }
        guard let handover = Handover.decoded(text) else {
            return log.notice(
                "handover.unreadable", "what the last run has left cannot be read: a cold start")
        }
        let now = environment.clock.now
        if let objection = handover.objection(boot: boot, now: now) {
            return log.info("handover.refused", "what the last run has left is not used: \(objection)")
        }
        run = handover.run
        for (name, left) in handover.hosts {
            guard let host = HostID(rawValue: name), left.unseenSeconds.isFinite else { continue }
            let agents = Dictionary(
                left.agents.map { (SessionID(rawValue: $0.key), $0.value.baseline) },
                uniquingKeysWith: { first, _ in first })
            trackers[host] = AttentionTracker(continuing: agents)
            let unseen = Duration.seconds(min(max(left.unseenSeconds, 0), 1_000_000))
            lastSeen[host] = handover.stamp - unseen
            unseenSinceStart.insert(host)
            watches[host] = HostWatch(wasOnline: true)
        }
        let between = (now - handover.stamp).seconds
        for (id, left) in handover.clocks {
            var totals = TurnClock.Totals()
            totals.agentSeconds = left.agentSeconds
            totals.personSeconds = left.personSeconds
            totals.outOfSyncSeconds = left.outOfSyncSeconds + between
            clocks[SessionID(rawValue: id)] = TurnClock(
                continuing: totals, side: left.side.flatMap(PieceColor.init), at: seconds)
        }
        log.info(
            "handover.taken", "goes on from what the last run has left",
            .count("hosts", handover.hosts.count), .took(now - handover.stamp))
    }
}
