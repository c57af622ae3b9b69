import HostsModel
import HostsPolicy

@testable import HostsHub

/// One machine with a world that is moved by hand.
struct Bench {
    var record: HostRecord
    var machine: HostMachine
    var jitter = 0.5
    private(set) var now: ContinuousClock.Instant
    private var lastLook: ContinuousClock.Instant
    /// How many models the hub was asked for.
    let models: Locked<Int>
    /// The events of the last `apply`, which come after its other effects.
    private(set) var news: [HostMachine.Effect] = []

    init(wantsConfirmation: Bool = false, isOptedIn: Bool = false) {
        let origin = ContinuousClock.now
        // Past the host's own place in the first interval, so that the next tick is almost one interval away.
        now = origin.advanced(by: FeedSchedule.spacing)
        lastLook = now
        record = HostRecord(id: .fake, destination: "devbox", backgroundKeepAlive: isOptedIn)
        let models = Locked(0)
        self.models = models
        let settings = HostMachine.Settings(
            schedule: FeedSchedule(interval: .seconds(5), origin: origin, hosts: 1),
            policy: BoardReconnectPolicy(),
            probeTimeout: .seconds(10), firstProbeTimeout: .seconds(20))
        machine = HostMachine(record: record, settings: settings, origin: origin) { host in
            models.withLock { $0 += 1 }
            return FakeInterpreter(host: host, wantsConfirmation: wantsConfirmation)
        }
    }

    var wall: WallTime { WallTime(milliseconds: 1_000_000) }
    var sinceLastLook: Duration { now - lastLook }

    mutating func advance(by duration: Duration) { now = now.advanced(by: duration) }

    @discardableResult
    mutating func apply(
        _ event: HostMachine.Event, hasRoute: Bool = true, stagger: Duration = .zero
    ) -> [HostMachine.Effect] {
        let effects = machine.apply(
            event, .init(now: now, wall: wall, jitter: jitter, hasRoute: hasRoute, stagger: stagger))
        news = effects.filter { if case .emit = $0 { true } else { false } }
        if news.contains(where: { if case .emit(.observed) = $0 { true } else { false } }),
            !news.contains(where: { if case .emit(.observed(_, gap: .some)) = $0 { true } else { false } })
        {
            lastLook = now
        }
        return effects
    }

    /// Starts the machine; the change of condition that comes with it is left out of the answer.
    @discardableResult
    mutating func start() -> [HostMachine.Effect] {
        apply(.recordChanged(record)).filter { if case .emit = $0 { false } else { true } }
    }

    @discardableResult
    mutating func edit(_ change: (inout HostRecord) -> Void) -> [HostMachine.Effect] {
        change(&record)
        return apply(.recordChanged(record))
    }

    @discardableResult
    mutating func goOnline() -> [HostMachine.Effect] {
        start()
        apply(.dialed(token: 1, .fake))
        let effects = apply(.replied(token: 1, .fake))
        online = effects
        return effects
    }

    private var online: [HostMachine.Effect] = []

    /// Fires the tick that `goOnline` has set.
    @discardableResult
    mutating func fireTick() -> [HostMachine.Effect] { fireTimer(in: online) }

    /// The wait that the last timer among the effects stands for.
    func pause(in effects: [HostMachine.Effect]) -> Duration? {
        timer(in: effects).map { $0.at - now }
    }

    /// Moves time to the last timer among the effects and fires it.
    @discardableResult
    mutating func fireTimer(in effects: [HostMachine.Effect]) -> [HostMachine.Effect] {
        guard let timer = timer(in: effects) else { return [] }
        now = max(now, timer.at)
        return apply(.timerFired(id: timer.id))
    }

    private func timer(in effects: [HostMachine.Effect]) -> (id: Int, at: ContinuousClock.Instant)? {
        for case .startTimer(let id, let instant) in effects.reversed() { return (id, instant) }
        return nil
    }
}

/// Reads an empty body as a look without sessions, and anything else as a reply that cannot be used.
struct FakeInterpreter: ProbeInterpreter {
    let host: HostID
    let wantsConfirmation: Bool

    func explain(_ session: SessionID) -> SessionExplanation? { nil }

    func nextRequest() -> ProbeRequest { ProbeRequest(function: "look") }

    func interpret(_ reply: ProbeReply, at time: WallTime) throws(LinkError) -> ProbeStep {
        guard reply.body.isEmpty else { throw .badReply(detail: "a fake reply with a body") }
        return .observation(
            HostObservation(
                host: host, bootID: "boot", time: time, sessions: [], wantsConfirmation: wantsConfirmation))
    }
}

extension HostID {
    static var fake: HostID {
        guard let id = HostID(rawValue: "devbox") else { preconditionFailure("devbox is a good name") }
        return id
    }
}

extension LinkSummary {
    static let fake = LinkSummary(kind: .local, mode: .persistent, detail: "fake")
}

extension ProbeReply {
    static let fake = ProbeReply(nonce: "n", body: [], status: 0)
}

extension LinkError {
    static let reset = LinkError.closedByPeer(.probe, detail: "reset")
}
