import HostsModel

/// Decides what the person is told about the conditions of one host.
///
/// A host is lost when it was online in this run and then either has used up its reconnect schedule or is away for
/// 90 s and three attempts. While it is lost nothing is observed there, so its agents raise no alerts. What is our
/// own doing (asleep, disabled, cancelled) is no loss.
struct HostWatch {
    /// How long a host may be away before that is worth telling.
    static let patience = Duration.seconds(90)
    /// How many attempts must have failed by then.
    static let patientAttempts = 3

    enum Alert: Equatable {
        case needsYou(LinkError)
        case lost(LinkError?)
        case recovered(outage: Duration)
    }

    private enum Told: Equatable {
        case nothing, lost
        case needsYou(code: String)
    }

    private struct Outage {
        let since: ContinuousClock.Instant
        var attempts = 0
        var told = Told.nothing
    }

    private var wasOnline: Bool
    private var outage: Outage?

    /// Makes the watch of a host.
    ///
    /// - Parameter wasOnline: Whether it was online in a run that this one goes on from.
    init(wasOnline: Bool = false) {
        self.wasOnline = wasOnline
    }

    /// Takes a new condition.
    mutating func change(to condition: HostCondition, now: ContinuousClock.Instant) -> Alert? {
        switch condition {
        case .online: return recover(now)
        case .checking, .badRecord: return nil
        case .connecting: begin(now)
        case .reconnecting(let attempt, _):
            begin(now)
            outage?.attempts = attempt
        case .limited: begin(now, attempts: Self.patientAttempts)
        case .asleep, .dormant(.cancelled):
            if outage?.told == .nothing { outage = nil }
            return nil
        case .dormant(let error):
            begin(now)
            return lose(error)
        case .needsYou(let error), .unsupported(let error):
            begin(now)
            return needPerson(error)
        case .disabled:
            self = HostWatch()
            return nil
        }
        return advance(to: now)
    }

    /// Takes the passing of time.
    mutating func advance(to now: ContinuousClock.Instant) -> Alert? {
        guard let nextDue, now >= nextDue else { return nil }
        return lose(nil)
    }

    /// When `advance` has something to tell, if nothing else happens.
    var nextDue: ContinuousClock.Instant? {
        guard wasOnline, let outage, outage.told == .nothing, outage.attempts >= Self.patientAttempts else {
            return nil
        }
        return outage.since + Self.patience
    }

    private mutating func begin(_ now: ContinuousClock.Instant, attempts: Int = 0) {
        var current = outage ?? Outage(since: now)
        current.attempts = max(current.attempts, attempts)
        outage = current
    }

    private mutating func recover(_ now: ContinuousClock.Instant) -> Alert? {
        let ended = outage
        wasOnline = true
        outage = nil
        guard let ended, ended.told != .nothing else { return nil }
        return .recovered(outage: now - ended.since)
    }

    private mutating func lose(_ error: LinkError?) -> Alert? {
        guard wasOnline, outage?.told == .nothing else { return nil }
        outage?.told = .lost
        return .lost(error)
    }

    private mutating func needPerson(_ error: LinkError) -> Alert? {
        guard outage?.told != .needsYou(code: error.code) else { return nil }
        outage?.told = .needsYou(code: error.code)
        return .needsYou(error)
    }
}
