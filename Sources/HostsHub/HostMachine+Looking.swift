import HostsModel
import HostsPolicy

/// Looks, and the timer that is behind every wait.
extension HostMachine {
    mutating func look(_ context: Context) -> [Effect] {
        switch state {
        case .online(.resting): startLook(timeout: settings.probeTimeout, context)
        case .returning(isLooking: false): verify(context)
        case .online(.running), .returning(isLooking: true), .dialing, .verifying, .disabled: []
        // Whoever asks is told that the machine sleeps.
        case .asleep: [.lookEnded]
        case .waiting, .awaitingRoute, .limited, .stopped, .dormant: dialOrSleep(.start, context)
        }
    }

    mutating func startLook(timeout: Duration, _ context: Context) -> [Effect] {
        if case .online = state { state = .online(.running(isLate: false)) }
        return [
            request(timeout: timeout, context),
            startTimer(at: settings.schedule.nextTick(of: record.id, after: context.now)),
        ]
    }

    func request(_ request: ProbeRequest, timeout: Duration, _ context: Context) -> Effect {
        guard let link else { preconditionFailure("a look needs a link") }
        return .probe(
            request, link: link, token: generation, deadline: context.now.advanced(by: timeout))
    }

    mutating func request(timeout: Duration, _ context: Context) -> Effect {
        guard let next = interpreter?.nextRequest() else {
            preconditionFailure("a dialled host has an interpreter")
        }
        return request(next, timeout: timeout, context)
    }

    mutating func read(_ reply: ProbeReply, _ context: Context) -> [Effect] {
        do {
            switch try interpreter?.interpret(reply, at: context.wall) {
            case .followUp(let next): return [request(next, timeout: settings.probeTimeout, context)]
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
        var effects: [Effect] = []
        if case .returning = state {
            _ = reconnect.established(generation)
            effects.append(.note("the link has outlived the suspension"))
        }
        observation = new
        lastObserved = context.now
        lastError = nil
        isStale = false
        isNetworkCheck = false
        penalty = PenaltyBackoff()
        resumePolicy.sessionBecameLive(at: seconds(context))
        state = .online(.resting)
        var next = nextTick(context)
        if new.wantsConfirmation { next = min(next, context.now.advanced(by: Self.confirmationDelay)) }
        return effects + [.emit(.observed(new, gap: gap)), .lookEnded, startTimer(at: next)]
    }

    /// The host's place in the interval, or sooner while somebody watches.
    func nextTick(_ context: Context) -> ContinuousClock.Instant {
        let tick = settings.schedule.nextTick(of: record.id, after: context.now)
        guard windows.watched > 0, BackgroundActivityPolicy.permitsWatching(in: surroundings.phase) else {
            return tick
        }
        return min(tick, context.now.advanced(by: Self.watchInterval))
    }

    mutating func fire(_ context: Context) -> [Effect] {
        switch state {
        case .waiting(let purpose, _): return dialOrSleep(purpose, context)
        case .awaitingRoute: return context.hasRoute ? repair(context) : dialOrSleep(.blind, context)
        // In the background it stays what it is; the return looks at the clock.
        case .limited: return mayDial ? dial(.start, context) : []
        case .returning(isLooking: false): return verify(context)
        case .online(.resting): return startLook(timeout: settings.probeTimeout, context)
        case .online(.running):
            // The look is not doubled; what is shown can no longer be known to be true.
            state = .online(.running(isLate: true))
            isStale = observation != nil
            return [startTimer(at: settings.schedule.nextTick(of: record.id, after: context.now))]
        case .verifying:
            return [startTimer(at: settings.schedule.nextTick(of: record.id, after: context.now))]
        case .disabled, .dialing, .returning(isLooking: true), .asleep, .stopped, .dormant: return []
        }
    }
}
