import HostsModel
import HostsPolicy

/// Everything the hub knows and decides about one host, as a value: events in, effects out.
///
/// It performs nothing. Every attempt, timer and reply carries the token of its generation; what is stale changes nothing,
/// and a link that comes with a stale token is closed.
struct HostMachine: Sendable {
    /// A turn end that waits for a second sample is looked at again after this.
    static let confirmationDelay: Duration = .seconds(1)

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
    }

    enum Event: Sendable {
        case recordChanged(HostRecord)
        case settingsChanged(Settings)
        /// Links are made in another way from now on: what failed before may work.
        case linkSettingsChanged
        case dialed(token: Int, LinkSummary)
        case dialFailed(token: Int, LinkError)
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
        /// The feed ends: the host was disabled from here, removed, or the daemon stops.
        case suspend(LinkError)
    }

    enum Effect: Hashable, Sendable {
        case dial(HostRecord, token: Int)
        case abandonDial(token: Int)
        case close(token: Int, LinkError)
        case probe(ProbeRequest, token: Int, deadline: ContinuousClock.Instant)
        case startTimer(id: Int, at: ContinuousClock.Instant)
        case emit(FleetEvent)
        /// A look has ended, well or badly: whoever waits for it may go on.
        case lookEnded
    }

    private enum Look: Sendable {
        case resting
        case running(isLate: Bool)
    }

    private enum State: Sendable {
        /// Never dialled on our own. Leaves by: a record that says enabled.
        case disabled
        /// Waits for the connector. Can become: `verifying`, or what its failure says.
        case dialing(attempt: Int)
        /// The link is there, its first look runs. Can become: `online`, or what its failure says.
        case verifying(attempt: Int)
        /// Looked at on every tick. Can become: what the loss of its link says.
        case online(Look)
        /// Waits for an attempt of the schedule. Can become: `dialing` (timer, resume, link settings).
        case waiting(attempt: Int, until: WallTime)
        /// Left alone for a while. Can become: `dialing` (timer, resume).
        case limited(until: WallTime, LinkError)
        /// Stop and ask. Can become: `dialing` (resume, record, link settings).
        case stopped(LinkError)
        /// The schedule is used up. Can become: `dialing` (resume, record, link settings).
        ///
        /// With `.cancelled` the person has ended it: other link settings do not dial then.
        case dormant(LinkError)
    }

    private(set) var record: HostRecord
    private(set) var observation: HostObservation?
    private(set) var summary: LinkSummary?
    private(set) var lastError: LinkError?
    /// What is shown was not seen on the present link, or a look is overdue.
    private(set) var isStale = false

    private var state: State
    private var reconnect: ReconnectState
    private var penalty = PenaltyBackoff()
    private var interpreter: (any ProbeInterpreter)?
    private var lastObserved: ContinuousClock.Instant?
    private var timer: Int
    private var settings: Settings
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
        record: HostRecord, settings: Settings, after lineage: Lineage = Lineage(),
        makeInterpreter: @escaping @Sendable (HostID) -> any ProbeInterpreter
    ) {
        self.record = record
        self.settings = settings
        self.makeInterpreter = makeInterpreter
        state = .disabled
        reconnect = ReconnectState(after: lineage.generation)
        timer = lineage.timer
    }

    var generation: Int { reconnect.generation }

    var condition: HostCondition {
        switch state {
        case .disabled: .disabled
        case .dialing(let attempt): attempt == 0 ? .connecting : .reconnecting(attempt: attempt, at: dialTime)
        case .verifying: .connecting
        case .online(.running(isLate: true)): .checking
        case .online: .online
        case .waiting(let attempt, let until): .reconnecting(attempt: attempt, at: until)
        case .limited(let until, let error): .limited(until: until, error)
        case .stopped(let error): error.disposition == .needsYou ? .needsYou(error) : .unsupported(error)
        case .dormant(let error): .dormant(error)
        }
    }

    private var dialTime = WallTime(milliseconds: 0)

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
        case .closed(let token, let error), .probeFailed(let token, let error):
            token == generation && hasLink ? lose(error, context) : []
        case .replied(let token, let reply): token == generation && hasLink ? read(reply, context) : []
        case .timerFired(let id): id == timer ? fire(context) : []
        case .resume: resume(context)
        case .cancelRetries: cancelRetries()
        case .look: look(context)
        case .suspend(let error): tearDown(error)
        }
    }
}

// MARK: - Records

extension HostMachine {
    private mutating func take(_ new: HostRecord, _ context: Context) -> [Effect] {
        let isChanged = new.connectionModelConfiguration != record.connectionModelConfiguration
        record = new
        guard isChanged else {
            // It is new; or it was suspended, but the record says otherwise, for instance as it was disabled and
            // enabled within one reading of the files: the record counts.
            guard case .disabled = state, new.isEnabled else { return [] }
            return dial(attempt: 0, context)
        }
        var effects = tearDown(new.isEnabled ? .recordChanged : .hostDisabled)
        if new.isEnabled { effects += dial(attempt: 0, context) }
        return effects
    }

    private mutating func take(_ new: Settings, _ context: Context) -> [Effect] {
        settings = new
        guard case .online(.resting) = state else { return [] }
        return [startTimer(at: settings.schedule.nextTick(of: record.id, after: context.now))]
    }

    /// Dials where nothing is left to lose; a link that works goes on as it was made.
    ///
    /// A server that asked to be left alone did not mean our settings, and neither did a person who did.
    private mutating func tryAgain(_ context: Context) -> [Effect] {
        switch state {
        case .waiting, .stopped: dial(attempt: 0, context)
        case .dormant(let error): error == .cancelled ? [] : dial(attempt: 0, context)
        case .disabled, .dialing, .verifying, .online, .limited: []
        }
    }

    /// Ends the link and the feed; the observation and the interpreter stay.
    private mutating func tearDown(_ error: LinkError) -> [Effect] {
        let effects = release(error)
        state = .disabled
        lastError = nil
        return effects
    }

    /// Gives up whatever transport there is, or is being made, and makes its token obsolete.
    private mutating func release(_ error: LinkError) -> [Effect] {
        var effects: [Effect] = []
        switch state {
        case .dialing: effects = [.abandonDial(token: generation), .lookEnded]
        case .verifying, .online: effects = [.close(token: generation, error), .lookEnded]
        case .disabled, .waiting, .limited, .stopped, .dormant: effects = []
        }
        reconnect.disconnect()
        timer += 1
        summary = nil
        isStale = observation != nil
        return effects
    }
}

// MARK: - Dialling

extension HostMachine {
    private var isDialing: Bool {
        guard case .dialing = state else { return false }
        return true
    }

    private var hasLink: Bool {
        switch state {
        case .verifying, .online: true
        case .disabled, .dialing, .waiting, .limited, .stopped, .dormant: false
        }
    }

    private mutating func dial(attempt: Int, _ context: Context) -> [Effect] {
        if interpreter == nil { interpreter = makeInterpreter(record.id) }
        let token = reconnect.begin()
        timer += 1
        dialTime = context.wall
        state = .dialing(attempt: attempt)
        return [.dial(record, token: token)]
    }

    private mutating func adopt(_ token: Int, _ summary: LinkSummary, _ context: Context) -> [Effect] {
        guard case .dialing(let attempt) = state, reconnect.established(token) else {
            return [.close(token: token, .superseded)]
        }
        self.summary = summary
        state = .verifying(attempt: attempt)
        return startLook(timeout: settings.firstProbeTimeout, context)
    }

    private mutating func resume(_ context: Context) -> [Effect] {
        switch state {
        case .disabled, .dialing, .verifying: []
        case .online: look(context)
        case .waiting, .limited, .stopped, .dormant: dial(attempt: 0, context)
        }
    }

    /// Whether the host is on its way to a link, or dials again on its own.
    var hasRetries: Bool {
        switch state {
        case .dialing, .verifying, .waiting, .limited: true
        case .disabled, .online, .stopped, .dormant: false
        }
    }

    /// Gives up the attempt under way and all that would follow; why the last one failed stays known.
    private mutating func cancelRetries() -> [Effect] {
        guard hasRetries else { return [] }
        let effects = release(.cancelled)
        state = .dormant(.cancelled)
        return effects
    }

    /// The current attempt or link has failed; decides what follows.
    private mutating func lose(_ error: LinkError, _ context: Context) -> [Effect] {
        let attempt =
            switch state {
            case .dialing(let attempt), .verifying(let attempt): attempt
            case .online: 0
            case .disabled, .waiting, .limited, .stopped, .dormant:
                preconditionFailure("only an attempt or a link can be lost")
            }
        let hadLink = hasLink
        let token = generation
        _ = release(error)
        var effects: [Effect] = hadLink ? [.close(token: token, error)] : []
        effects.append(.lookEnded)
        lastError = error
        switch error.disposition {
        case .retry: effects += wait(attempt: attempt + 1, error, context)
        case .limited: effects.append(leaveAlone(error, context))
        case .needsYou, .unsupported: state = .stopped(error)
        case .ours: state = .dormant(error)
        }
        return effects
    }

    private mutating func wait(attempt: Int, _ error: LinkError, _ context: Context) -> [Effect] {
        guard let delay = settings.policy.nextDelay(attempt: attempt) else {
            state = .dormant(error)
            return []
        }
        // ±20 %, so that the hosts behind one lost network do not come back in step.
        let pause = Duration.seconds(delay) * (0.8 + 0.4 * context.jitter)
        state = .waiting(attempt: attempt, until: context.wall.advanced(by: pause))
        return [startTimer(at: context.now.advanced(by: pause))]
    }

    private mutating func leaveAlone(_ error: LinkError, _ context: Context) -> Effect {
        let pause = penalty.refused()
        state = .limited(until: context.wall.advanced(by: pause), error)
        return startTimer(at: context.now.advanced(by: pause))
    }
}

// MARK: - Looking

extension HostMachine {
    private mutating func look(_ context: Context) -> [Effect] {
        switch state {
        case .online(.resting): startLook(timeout: settings.probeTimeout, context)
        case .online(.running), .dialing, .verifying, .disabled: []
        case .waiting, .limited, .stopped, .dormant: dial(attempt: 0, context)
        }
    }

    private mutating func startLook(timeout: Duration, _ context: Context) -> [Effect] {
        guard let request = interpreter?.nextRequest() else {
            preconditionFailure("a dialled host has an interpreter")
        }
        if case .online = state { state = .online(.running(isLate: false)) }
        return [
            .probe(request, token: generation, deadline: context.now.advanced(by: timeout)),
            startTimer(at: settings.schedule.nextTick(of: record.id, after: context.now)),
        ]
    }

    private mutating func read(_ reply: ProbeReply, _ context: Context) -> [Effect] {
        do {
            switch try interpreter?.interpret(reply, at: context.wall) {
            case .followUp(let request):
                let deadline = context.now.advanced(by: settings.probeTimeout)
                return [.probe(request, token: generation, deadline: deadline)]
            case .observation(let observation): return take(observation, context)
            case nil: preconditionFailure("a dialled host has an interpreter")
            }
        } catch {
            return lose(error, context)
        }
    }

    private mutating func take(_ new: HostObservation, _ context: Context) -> [Effect] {
        var gap: Duration?
        if isStale, let lastObserved { gap = context.now - lastObserved }
        observation = new
        lastObserved = context.now
        lastError = nil
        isStale = false
        penalty = PenaltyBackoff()
        state = .online(.resting)
        var next = settings.schedule.nextTick(of: record.id, after: context.now)
        if new.wantsConfirmation { next = min(next, context.now.advanced(by: Self.confirmationDelay)) }
        return [.emit(.observed(new, gap: gap)), .lookEnded, startTimer(at: next)]
    }

    private mutating func fire(_ context: Context) -> [Effect] {
        switch state {
        case .waiting(let attempt, _): return dial(attempt: attempt, context)
        case .limited: return dial(attempt: 0, context)
        case .online(.resting): return startLook(timeout: settings.probeTimeout, context)
        case .online(.running):
            // The look is not doubled; what is shown can no longer be known to be true.
            state = .online(.running(isLate: true))
            isStale = observation != nil
            return [startTimer(at: settings.schedule.nextTick(of: record.id, after: context.now))]
        case .verifying:
            return [startTimer(at: settings.schedule.nextTick(of: record.id, after: context.now))]
        case .disabled, .dialing, .stopped, .dormant: return []
        }
    }

    private mutating func startTimer(at instant: ContinuousClock.Instant) -> Effect {
        timer += 1
        return .startTimer(id: timer, at: instant)
    }
}
