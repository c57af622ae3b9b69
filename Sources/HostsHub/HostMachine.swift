import HostsModel
import HostsPolicy

/// Everything the hub knows and decides about one host, as a value: events in, effects out.
///
/// It performs nothing. Every attempt, timer and reply carries the token of its generation; what is stale changes
/// nothing, and a link that comes with a stale token is closed.
///
/// A link is named by the token it was dialled with. It may outlive that generation: a link that has lived through a
/// suspension is looked at under a new token before it counts as one again (seed 001).
struct HostMachine: Sendable {
    /// A turn end that waits for a second sample is looked at again after this.
    static let confirmationDelay: Duration = .seconds(1)
    /// How long a link that has lived through a suspension may take to prove that it still works.
    static let verificationTimeout: Duration = .seconds(2)
    /// The same for a link while the network changes around it.
    static let networkCheckTimeout: Duration = .seconds(5)
    /// How long a route is waited for; then one attempt is made without it, which does not count.
    static let routePatience: Duration = .seconds(20)
    /// From one look to the next while somebody watches a pane.
    static let watchInterval: Duration = .seconds(1)

    /// The parts of the configuration that decide.
    struct Settings: Sendable {
        var schedule: FeedSchedule
        var policy: BoardReconnectPolicy
        /// How long one request of a look may take.
        var probeTimeout: Duration
        /// The same for the first look on a fresh link.
        var firstProbeTimeout: Duration
    }

    /// What the machine is told about the world with each event.
    struct Context: Sendable {
        let now: ContinuousClock.Instant
        let wall: WallTime
        /// A number in `0..<1`.
        let jitter: Double
        /// Whether packets to the host would leave this machine, as far as that is known.
        var hasRoute = true
        /// How long the host waits for others that come first, when many are woken at once.
        var stagger: Duration = .zero
    }

    enum Event: Sendable {
        case recordChanged(HostRecord)
        case settingsChanged(Settings)
        /// Links are made in another way from now on: what failed before may work.
        case linkSettingsChanged
        case dialed(token: Int, LinkSummary)
        case dialFailed(token: Int, LinkError)
        /// The link that was dialled with this token has ended.
        case closed(token: Int, LinkError)
        case replied(token: Int, ProbeReply)
        case probeFailed(token: Int, LinkError)
        case timerFired(id: Int)
        /// The person wants the host now: leave every waiting state.
        case resume
        /// The person wants no more attempts of our own.
        case cancelRetries
        /// The person wants a look now.
        case look
        /// A refresh window is open: look, or dial where the person is not awaited.
        case refresh
        /// The machine goes to sleep, wakes, is locked or unlocked, or its grant begins or ends.
        case surroundingsChanged(Surroundings)
        /// Addresses or routes of this machine have changed.
        case networkChanged
        case windowsChanged(OpenWindows)
        /// The feed ends: the host was disabled from here, removed, or the daemon stops.
        case suspend(LinkError)
    }

    enum Effect: Hashable, Sendable {
        case dial(HostRecord, token: Int)
        case abandonDial(token: Int)
        case close(token: Int, LinkError)
        /// Looks through the link that was dialled with `link`; the reply carries `token`.
        case probe(ProbeRequest, link: Int, token: Int, deadline: ContinuousClock.Instant)
        case startTimer(id: Int, at: ContinuousClock.Instant)
        case emit(FleetEvent)
        /// A look has ended, well or badly: whoever waits for it may go on.
        case lookEnded
        /// Something about a resume was decided; the text has the inputs, for the log.
        case note(String)
    }

    /// Why the host is dialled, which decides what a failure leads to.
    enum Purpose: Hashable, Sendable {
        /// The first attempt of a series: a new record, the person's wish, an occasion. Not counted.
        case start
        /// An attempt of `BoardReconnectPolicy`, from 1.
        case schedule(Int)
        /// An attempt of `SessionResumePolicy`, from 1.
        case repair(Int)
        /// There is no route as far as is known, and it was waited for long enough. Not counted.
        case blind

        /// The number shown to people.
        var number: Int {
            switch self {
            case .start: 0
            case .schedule(let number), .repair(let number): number
            case .blind: 1
            }
        }
    }

    enum Look: Sendable {
        case resting
        case running(isLate: Bool)
    }

    enum State: Sendable {
        /// Never dialled on our own. Leaves by: a record that says enabled, a window that opens.
        case disabled
        /// Waits for the connector. Can become: `verifying`, or what its failure says; `asleep`.
        case dialing(Purpose)
        /// The link is there, its first look runs. Can become: `online`, or what its failure says; `asleep`.
        case verifying(Purpose)
        /// A link of a time before a suspension, which waits for its place among the others, or is looked at. Can
        /// become: `online`, or what the loss of its link says; `asleep`.
        case returning(isLooking: Bool)
        /// Looked at on every tick. Can become: what the loss of its link says; `asleep`.
        case online(Look)
        /// Waits for an attempt. Can become: `dialing` (timer, resume, link settings, network); `asleep`.
        case waiting(Purpose, until: WallTime)
        /// Waits for a route. Can become: `dialing` (a route, timer, resume); `asleep`.
        case awaitingRoute(until: WallTime)
        /// The machine sleeps; there may be a link of the time before. Can become: `returning`, `waiting`,
        /// `awaitingRoute`, `dialing`.
        case asleep(hasLink: Bool)
        /// Left alone for a while. Can become: `dialing` (timer, resume).
        case limited(until: WallTime, due: ContinuousClock.Instant, LinkError)
        /// Stop and ask. Can become: `dialing` (resume, record, link settings).
        case stopped(LinkError)
        /// The schedule is used up. Can become: `dialing` (wake, network, record, link settings, refresh, resume).
        ///
        /// With `.cancelled` the person has ended it: only resume and another record dial then.
        case dormant(LinkError)
    }

    var record: HostRecord
    var observation: HostObservation?
    var summary: LinkSummary?
    var lastError: LinkError?
    /// What is shown was not seen on the present link, or a look is overdue.
    var isStale = false

    var state: State
    var reconnect: ReconnectState
    /// The token that the present link was dialled with.
    var link: Int?
    var resumePolicy = SessionResumePolicy()
    var surroundings = Surroundings()
    var windows = OpenWindows()
    var penalty = PenaltyBackoff()
    var interpreter: (any ProbeInterpreter)?
    var lastObserved: ContinuousClock.Instant?
    /// The running look was caused by a change of the network: its failure leads to a dial at once.
    var isNetworkCheck = false
    var timer: Int
    var settings: Settings
    var dialTime = WallTime(milliseconds: 0)
    /// Where the seconds of the policies are counted from.
    let origin: ContinuousClock.Instant
    private let makeInterpreter: @Sendable (HostID) -> any ProbeInterpreter

    /// The numbers that the machine of a host has used so far.
    ///
    /// A host that is removed and comes back gets a new machine, which goes on behind them: what is still under way
    /// of the earlier life stays obsolete.
    struct Lineage: Sendable {
        var generation = 0
        var timer = 0
    }

    var lineage: Lineage { Lineage(generation: reconnect.generation, timer: timer) }

    /// Makes the machine of a host that has not been dialled; `.recordChanged` starts it.
    init(
        record: HostRecord, settings: Settings, origin: ContinuousClock.Instant,
        after lineage: Lineage = Lineage(),
        makeInterpreter: @escaping @Sendable (HostID) -> any ProbeInterpreter
    ) {
        self.record = record
        self.settings = settings
        self.origin = origin
        self.makeInterpreter = makeInterpreter
        state = .disabled
        reconnect = ReconnectState(after: lineage.generation)
        timer = lineage.timer
    }

    /// Takes what is so when the machine is made.
    mutating func begin(in surroundings: Surroundings, windows: OpenWindows) {
        self.surroundings = surroundings
        self.windows = windows
        if surroundings.phase == .background { resumePolicy.leftForeground(at: 0) }
    }

    var generation: Int { reconnect.generation }

    var condition: HostCondition {
        switch state {
        case .disabled: .disabled
        case .dialing(.start): .connecting
        case .dialing(let purpose): .reconnecting(attempt: purpose.number, at: dialTime)
        case .verifying: .connecting
        case .returning, .online(.running(isLate: true)): .checking
        case .online: .online
        case .waiting(let purpose, let until): .reconnecting(attempt: purpose.number, at: until)
        case .awaitingRoute(let until): .reconnecting(attempt: 1, at: until)
        case .asleep: .asleep
        case .limited(let until, _, let error): .limited(until: until, error)
        case .stopped(let error): error.disposition == .needsYou ? .needsYou(error) : .unsupported(error)
        case .dormant(let error): .dormant(error)
        }
    }

    /// Takes an event and says what must be done; the only way the machine changes.
    mutating func apply(_ event: Event, _ context: Context) -> [Effect] {
        let before = condition
        let wasStale = isStale
        var effects = transition(event, context)
        // A host that is looked at no more by the person's own decision is not out of sync.
        if isStale, !wasStale, condition != .disabled {
            effects.append(.emit(.outOfSync(record.id, at: context.wall)))
        }
        if condition != before {
            effects.append(.emit(.condition(record.id, from: before, to: condition, at: context.wall)))
        }
        return effects
    }

    private mutating func transition(_ event: Event, _ context: Context) -> [Effect] {
        switch event {
        case .recordChanged(let new): take(new, context)
        case .settingsChanged(let new): take(new, context)
        case .linkSettingsChanged: tryAgain(context)
        case .dialed(let token, let summary): adopt(token, summary, context)
        case .dialFailed(let token, let error): token == generation && isDialing ? lose(error, context) : []
        case .closed(let token, let error): token == link ? lose(error, context) : []
        case .probeFailed(let token, let error):
            token == generation && link != nil ? lose(error, context) : []
        case .replied(let token, let reply): token == generation && link != nil ? read(reply, context) : []
        case .timerFired(let id): id == timer ? fire(context) : []
        case .resume: resume(context)
        case .cancelRetries: cancelRetries()
        case .look: look(context)
        case .refresh: refresh(context)
        case .surroundingsChanged(let new): take(new, context)
        case .networkChanged: checkNetwork(context)
        case .windowsChanged(let new): take(new, context)
        case .suspend(let error): tearDown(error)
        }
    }

    /// Makes the interpreter with the first dial: a disabled host is never asked for its model (seed 002).
    mutating func prepareInterpreter() {
        if interpreter == nil { interpreter = makeInterpreter(record.id) }
    }
}

// MARK: - Records

extension HostMachine {
    /// Whether there is a reason to have a link: the record, or a window of the person's.
    var isWanted: Bool { record.isEnabled || windows.attached > 0 }

    private mutating func take(_ new: HostRecord, _ context: Context) -> [Effect] {
        let isChanged = new.connectionModelConfiguration != record.connectionModelConfiguration
        record = new
        guard isChanged else {
            // It is new; or it was suspended, but the record says otherwise, for instance as it was disabled and
            // enabled within one reading of the files: the record counts.
            guard case .disabled = state, isWanted else { return [] }
            return dialOrSleep(.start, context)
        }
        var effects = tearDown(new.isEnabled ? .recordChanged : .hostDisabled)
        if isWanted { effects += dialOrSleep(.start, context) }
        return effects
    }

    private mutating func take(_ new: OpenWindows, _ context: Context) -> [Effect] {
        let old = windows
        windows = new
        if !isWanted {
            guard case .disabled = state else { return tearDown(.hostDisabled) }
            return []
        }
        if case .disabled = state { return dialOrSleep(.start, context) }
        guard case .online(.resting) = state, old.watched != new.watched else { return [] }
        return [startTimer(at: nextTick(context))]
    }

    private mutating func take(_ new: Settings, _ context: Context) -> [Effect] {
        settings = new
        guard case .online(.resting) = state else { return [] }
        return [startTimer(at: nextTick(context))]
    }

    /// Dials where nothing is left to lose; a link that works goes on as it was made.
    ///
    /// A server that asked to be left alone did not mean our settings, and neither did a person who did.
    private mutating func tryAgain(_ context: Context) -> [Effect] {
        switch state {
        case .waiting, .awaitingRoute, .stopped: dialOrSleep(.start, context)
        case .dormant(let error): error == .cancelled ? [] : dialOrSleep(.start, context)
        case .disabled, .dialing, .verifying, .returning, .online, .asleep, .limited: []
        }
    }

    /// Ends the link and the feed; the observation and the interpreter stay.
    private mutating func tearDown(_ error: LinkError) -> [Effect] {
        let effects = release(error)
        state = .disabled
        lastError = nil
        resumePolicy = SessionResumePolicy()
        if surroundings.phase == .background { resumePolicy.leftForeground(at: 0) }
        return effects
    }

    /// Gives up whatever transport there is, or is being made, and makes its token obsolete.
    mutating func release(_ error: LinkError) -> [Effect] {
        var effects: [Effect] = []
        if case .dialing = state { effects = [.abandonDial(token: generation), .lookEnded] }
        if let link { effects = [.close(token: link, error), .lookEnded] }
        reconnect.disconnect()
        link = nil
        timer += 1
        summary = nil
        isNetworkCheck = false
        isStale = observation != nil
        return effects
    }

    mutating func startTimer(at instant: ContinuousClock.Instant) -> Effect {
        timer += 1
        return .startTimer(id: timer, at: instant)
    }

    /// The time of the policies: seconds since the hub was made, suspension included.
    func seconds(_ context: Context) -> Double { (context.now - origin).seconds }
}
