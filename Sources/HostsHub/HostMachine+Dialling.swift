import HostsModel
import HostsPolicy

/// Attempts, and what follows from their failures.
extension HostMachine {
    var isDialing: Bool {
        guard case .dialing = state else { return false }
        return true
    }

    /// Dials, or in the background waits for the return: nothing is dialled into a suspension.
    mutating func dialOrSleep(_ purpose: Purpose, _ context: Context) -> [Effect] {
        guard mayDial else {
            _ = release(.suspended)
            state = .asleep(hasLink: false)
            return [.lookEnded]
        }
        return dial(purpose, context)
    }

    /// Whether the phase allows an attempt; within a refresh window those hosts are dialled that it is for.
    var mayDial: Bool {
        BackgroundActivityPolicy.permitsDialling(
            in: surroundings.phase,
            isRunningBackgroundRefresh: surroundings.isRunningBackgroundRefresh && isRefreshed)
    }

    /// Begins an attempt; `isCounted` is false where it takes the place of one that is counted already.
    mutating func dial(_ purpose: Purpose, isCounted: Bool = true, _ context: Context) -> [Effect] {
        prepareInterpreter()
        let token = reconnect.begin()
        timer += 1
        dialTime = context.wall
        state = .dialing(purpose)
        if case .repair = purpose, isCounted { resumePolicy.attemptBegan() }
        return [.dial(record, token: token)]
    }

    mutating func adopt(_ token: Int, _ summary: LinkSummary, _ context: Context) -> [Effect] {
        guard case .dialing(let purpose) = state, reconnect.established(token) else {
            return [.close(token: token, .superseded)]
        }
        self.summary = summary
        link = token
        state = .verifying(purpose)
        return startLook(timeout: settings.firstProbeTimeout, context)
    }

    mutating func resume(_ context: Context) -> [Effect] {
        switch state {
        case .disabled, .dialing, .verifying, .returning(isLooking: true): []
        case .online, .returning(isLooking: false), .asleep: look(context)
        case .waiting, .awaitingRoute, .limited, .stopped, .dormant: dialOrSleep(.start, context)
        }
    }

    /// Whether the host is on its way to a link, or dials again on its own.
    var hasRetries: Bool {
        switch state {
        case .dialing, .verifying, .waiting, .awaitingRoute, .limited: true
        case .disabled, .returning, .online, .asleep, .stopped, .dormant: false
        }
    }

    /// Gives up the attempt under way and all that would follow; why the last one failed stays known.
    mutating func cancelRetries() -> [Effect] {
        guard hasRetries else { return [] }
        let effects = release(.cancelled)
        state = .dormant(.cancelled)
        return effects
    }

    /// The current attempt or link has failed; decides what follows.
    mutating func lose(_ error: LinkError, _ context: Context) -> [Effect] {
        let before = state
        let hadLink = link != nil
        let wasNetworkCheck = isNetworkCheck
        var effects: [Effect] = []
        if let link { effects = [.close(token: link, error)] }
        _ = release(error)
        effects.append(.lookEnded)
        if hadLink { resumePolicy.transportDied(at: seconds(context)) }
        if case .asleep = before {
            // It is found missing on the return, and repaired then.
            state = .asleep(hasLink: false)
            return effects
        }
        lastError = error
        switch error.disposition {
        case .retry: effects += recover(from: before, error, isNetworkCheck: wasNetworkCheck, context)
        case .limited: effects.append(leaveAlone(error, context))
        case .needsYou, .unsupported: state = .stopped(error)
        case .ours: state = .dormant(error)
        }
        return effects
    }

    private mutating func recover(
        from before: State, _ error: LinkError, isNetworkCheck: Bool, _ context: Context
    ) -> [Effect] {
        guard mayDial else {
            state = .asleep(hasLink: false)
            return []
        }
        switch before {
        case .dialing(.schedule(let number)), .verifying(.schedule(let number)):
            return wait(attempt: number + 1, error, context)
        case .dialing(.repair), .verifying(.repair), .dialing(.blind), .verifying(.blind), .returning:
            return repair(context)
        case .online where isNetworkCheck:
            // The loss is found already; what is there now is another network.
            return dial(.start, context)
        case .online:
            let decision = resumePolicy.decision(
                at: seconds(context), hasRoute: context.hasRoute, awaitsPassphrase: false)
            return decision == .leave ? wait(attempt: 1, error, context) : repair(context)
        case .dialing(.start), .verifying(.start): return wait(attempt: 1, error, context)
        case .disabled, .waiting, .awaitingRoute, .asleep, .limited, .stopped, .dormant:
            preconditionFailure("only an attempt or a link can be lost")
        }
    }

    /// Waits for an attempt of the schedule, or gives up where it is used up.
    mutating func wait(attempt: Int, _ error: LinkError, _ context: Context) -> [Effect] {
        guard let delay = settings.policy.nextDelay(attempt: attempt) else {
            state = .dormant(error)
            return []
        }
        // ±20 %, so that the hosts behind one lost network do not come back in step.
        return wait(.schedule(attempt), for: .seconds(delay) * (0.8 + 0.4 * context.jitter), context)
    }

    mutating func wait(_ purpose: Purpose, for pause: Duration, _ context: Context) -> [Effect] {
        guard pause > .zero else { return dialOrSleep(purpose, context) }
        state = .waiting(purpose, until: context.wall.advanced(by: pause))
        return [startTimer(at: context.now.advanced(by: pause))]
    }

    private mutating func leaveAlone(_ error: LinkError, _ context: Context) -> Effect {
        let pause = penalty.refused()
        let due = context.now.advanced(by: pause)
        state = .limited(until: context.wall.advanced(by: pause), due: due, error)
        return startTimer(at: due)
    }
}
