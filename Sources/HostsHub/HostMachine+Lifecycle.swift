import HostsModel
import HostsPolicy

/// Sleep, wake, refresh windows and changes of the network.
extension HostMachine {
    /// Whether the host's loops may run in the present phase.
    var mayLook: Bool {
        BackgroundActivityPolicy.permitsLooking(
            in: surroundings.phase, isOptedIn: record.backgroundKeepAlive,
            hasBackgroundGrant: surroundings.hasBackgroundGrant)
    }

    /// Whether a look at the host has begun and not ended.
    var isLooking: Bool {
        switch state {
        case .online(.running), .returning(isLooking: true), .verifying: true
        case .online(.resting), .returning(isLooking: false), .disabled, .waiting, .awaitingRoute, .limited,
            .dialing, .asleep, .stopped, .dormant:
            false
        }
    }

    /// Whether a refresh window is for this host: it has opted in, or has used up its schedule.
    var isRefreshed: Bool {
        guard record.isEnabled else { return false }
        if record.backgroundKeepAlive { return true }
        if case .dormant(let error) = state { return error != .cancelled }
        return false
    }

    // MARK: Phases

    mutating func take(_ new: Surroundings, _ context: Context) -> [Effect] {
        let old = surroundings
        surroundings = new
        guard new != old else { return [] }
        if old.phase != .background, new.phase == .background {
            resumePolicy.leftForeground(at: seconds(context))
        }
        if old.phase == .background, new.phase != .background {
            resumePolicy.returnedToForeground(at: seconds(context))
            return wake(context)
        }
        guard mayLook else { return fallAsleep(context) }
        return old.phase == new.phase ? [] : restartFeed(context)
    }

    /// A change of the phase restarts the feed, and that is where a host's backoff begins anew (seed 002).
    private mutating func restartFeed(_ context: Context) -> [Effect] {
        switch state {
        case .online(.resting): [startTimer(at: nextTick(context))]
        case .waiting(.schedule, _): mayDial ? wait(.start, for: context.stagger, context) : []
        case .disabled, .dialing, .verifying, .returning, .online(.running), .waiting, .awaitingRoute,
            .asleep,
            .limited, .stopped, .dormant:
            []
        }
    }

    /// From here on a link is no connection until it is verified; a look that runs cannot be waited for.
    private mutating func fallAsleep(_ context: Context) -> [Effect] {
        switch state {
        case .online(.resting), .returning(isLooking: false):
            setAside()
            return []
        case .dialing, .verifying, .online(.running), .returning(isLooking: true), .waiting, .awaitingRoute:
            return giveUpLink(context)
        case .disabled, .asleep, .limited, .stopped, .dormant: return []
        }
    }

    /// Keeps a link that nobody looks through at present; it is no connection until it is verified.
    private mutating func setAside() {
        reconnect.suspend()
        timer += 1
        isStale = observation != nil
        state = .asleep(hasLink: true)
    }

    /// Closes a link that a look is under way on: its reply would be of the time before.
    private mutating func giveUpLink(_ context: Context) -> [Effect] {
        let hadLink = link != nil
        let effects = release(.suspended)
        // Our own close: it is repaired as what the suspension would have made of it.
        if hadLink { resumePolicy.transportDied(at: seconds(context)) }
        state = .asleep(hasLink: false)
        return effects
    }

    private mutating func wake(_ context: Context) -> [Effect] {
        switch state {
        case .asleep(hasLink: true): return reviveLink(context)
        case .asleep(hasLink: false): return repair(context)
        case .dormant(let error):
            return error == .cancelled ? [] : repair(context)
        case .limited(_, let due, _):
            return due <= context.now ? dial(.start, context) : [startTimer(at: due)]
        case .waiting(.schedule, _): return wait(.start, for: context.stagger, context)
        // It kept its link under a grant that was not given back in time, so the suspension went over it.
        case .online(.resting):
            setAside()
            return reviveLink(context)
        case .online(.running), .returning(isLooking: true): return giveUpLink(context) + repair(context)
        case .disabled, .dialing, .verifying, .returning(isLooking: false), .waiting, .awaitingRoute,
            .stopped:
            return []
        }
    }

    /// Verifies a link of the time before, in its turn, and not before there is a way: it may well live still.
    private mutating func reviveLink(_ context: Context) -> [Effect] {
        _ = reconnect.begin()
        state = .returning(isLooking: false)
        guard context.hasRoute else { return [startTimer(at: context.now.advanced(by: Self.routePatience))] }
        return verifyInTurn(context)
    }

    private mutating func verifyInTurn(_ context: Context) -> [Effect] {
        guard context.stagger > .zero else { return verify(context) }
        return [startTimer(at: context.now.advanced(by: context.stagger))]
    }

    /// Has a link of the time before prove that it works, within its short deadline.
    mutating func verify(_ context: Context) -> [Effect] {
        state = .returning(isLooking: true)
        timer += 1
        return [request(timeout: Self.verificationTimeout, context)]
    }

    /// Decides about a host without a link after a return.
    mutating func repair(_ context: Context) -> [Effect] {
        let decision = resumePolicy.decision(
            at: seconds(context), hasRoute: context.hasRoute, awaitsPassphrase: false)
        let facts = "attempts \(resumePolicy.attempts), route \(context.hasRoute ? "yes" : "no")"
        let note = Effect.note("\(decision) (\(facts))")
        switch decision {
        case .repair(let attempt, let delay):
            return [note] + wait(.repair(attempt), for: max(.seconds(delay), context.stagger), context)
        case .leave where context.hasRoute: return [note] + wait(.start, for: context.stagger, context)
        case .awaitRoute, .leave: return [note] + awaitRoute(context)
        case .exhausted: return [note] + wait(attempt: 1, lastError ?? .noRoute, context)
        case .park, .deferToPerson:
            state = .asleep(hasLink: false)
            return [note]
        }
    }

    private mutating func awaitRoute(_ context: Context) -> [Effect] {
        lastError = .noRoute
        state = .awaitingRoute(until: context.wall.advanced(by: Self.routePatience))
        return [startTimer(at: context.now.advanced(by: Self.routePatience))]
    }

    // MARK: The network

    /// Looks at every link at once, and dials what waited for a network.
    mutating func checkNetwork(_ context: Context) -> [Effect] {
        switch state {
        case .online(.resting):
            guard mayLook else { return [] }
            isNetworkCheck = true
            return startLook(timeout: Self.networkCheckTimeout, context)
        case .online(.running):
            isNetworkCheck = true
            return []
        case .returning(isLooking: false): return context.hasRoute ? verifyInTurn(context) : []
        case .awaitingRoute: return context.hasRoute ? repair(context) : []
        case .waiting(let purpose, _):
            guard context.hasRoute, mayDial else { return [] }
            if case .schedule = purpose { return wait(.start, for: context.stagger, context) }
            return wait(purpose, for: context.stagger, context)
        case .dialing(let purpose):
            // It goes out by a way that may be gone.
            guard context.hasRoute, mayDial else { return [] }
            let abandoned = release(.superseded).filter { $0 != .lookEnded }
            return abandoned + dial(purpose == .blind ? .start : purpose, isCounted: false, context)
        case .dormant(let error):
            guard error != .cancelled, context.hasRoute, mayDial else { return [] }
            return wait(.start, for: context.stagger, context)
        case .disabled, .verifying, .returning(isLooking: true), .asleep, .limited, .stopped: return []
        }
    }

    // MARK: Refresh

    /// A refresh window is open.
    ///
    /// A server that asked to be left alone, and a person who is awaited, are not disturbed by it.
    mutating func refresh(_ context: Context) -> [Effect] {
        switch state {
        case .online(.resting): return startLook(timeout: settings.probeTimeout, context)
        case .returning(isLooking: false): return verify(context)
        case .online(.running), .returning(isLooking: true), .dialing, .verifying: return []
        case .asleep(hasLink: true): return reviveLink(context)
        case .waiting, .awaitingRoute, .asleep(hasLink: false): return dialOrSleep(.start, context)
        case .dormant(let error): return error == .cancelled ? [.lookEnded] : dialOrSleep(.start, context)
        case .disabled, .limited, .stopped: return [.lookEnded]
        }
    }
}
