import HostsModel
import HostsPolicy

/// What the login manager's own properties say.
struct LoginProperties: Hashable, Sendable {
    var isPreparingForSleep: Bool
    /// `InhibitDelayMaxUSec` as it came; 0 if it is missing.
    var delayMicroseconds: UInt64

    /// How long a delay lock can hold a sleep up.
    ///
    /// The number is checked for its range: 0, "infinity" (all bits set) and what no machine means are the default
    /// of logind.conf(5).
    var delayLimit: Duration {
        let range: ClosedRange<UInt64> = 100_000...600_000_000
        guard range.contains(delayMicroseconds) else { return LoginManager.defaultDelayLimit }
        return .microseconds(Int64(delayMicroseconds))
    }
}

/// What is known of the login manager, decided without any bus.
///
/// Every method answers what to do next, in this order.
struct LoginState: Sendable {
    enum Step: Hashable, Sendable {
        case readManager
        case listSessions
        case readSession(path: String)
        case tell(LoginEvent)
        case limitDelay(Duration)
    }

    /// The unique name of the login manager; nil when there is none, or no bus.
    private(set) var owner: String?
    private var sessions: [String: LoginSession] = [:]
    /// Sessions that are being read, and whether they have changed meanwhile.
    private var reading: [String: Bool] = [:]
    private var isListing = false
    private var mustListAgain = false
    private var isTold: Bool?
    private var toldPresence: Presence?
    private var isPreparing = false

    /// The sessions as they were read last, for the log.
    var known: [LoginSession] { Array(sessions.values) }

    /// Takes who is the login manager now; nil for nobody, also when the bus is lost.
    mutating func ownerChanged(_ owner: String?) -> [Step] {
        guard owner != self.owner || isTold == nil else { return [] }
        self.owner = owner
        sessions = [:]
        reading = [:]
        mustListAgain = false
        isListing = owner != nil
        let wasTold = isTold
        isTold = owner != nil
        guard owner != nil else {
            var steps: [Step] = wasTold == false ? [] : [.tell(.managerChanged(isPresent: false))]
            steps += presenceSteps(.unknown)
            return steps
        }
        return [.readManager, .listSessions, .tell(.managerChanged(isPresent: true))]
    }

    /// Takes a signal `PrepareForSleep`; told as often as it comes.
    mutating func sleepAnnounced(isBeginning: Bool) -> [Step] {
        isPreparing = isBeginning
        return [.tell(.preparingForSleep(isBeginning))]
    }

    /// Takes the properties of the manager, which tell a signal that was missed.
    mutating func managerRead(_ properties: LoginProperties) -> [Step] {
        var steps: [Step] = [.limitDelay(properties.delayLimit)]
        if properties.isPreparingForSleep != isPreparing {
            steps += sleepAnnounced(isBeginning: properties.isPreparingForSleep)
        }
        return steps
    }

    /// Takes that a session came or went.
    mutating func sessionsChanged() -> [Step] {
        guard !isListing else {
            mustListAgain = true
            return []
        }
        isListing = true
        return [.listSessions]
    }

    /// Takes the sessions of the user.
    mutating func sessionsListed(_ paths: [String]) -> [Step] {
        isListing = mustListAgain
        if mustListAgain {
            mustListAgain = false
            return [.listSessions]
        }
        let present = Set(paths)
        sessions = sessions.filter { present.contains($0.key) }
        reading = reading.filter { present.contains($0.key) }
        let steps: [Step] = paths.flatMap { sessions[$0] == nil ? sessionChanged($0, isListed: true) : [] }
        return steps.isEmpty ? settled() : steps
    }

    /// Takes that a session has changed.
    mutating func sessionChanged(_ path: String) -> [Step] {
        sessionChanged(path, isListed: sessions[path] != nil || reading[path] != nil)
    }

    private mutating func sessionChanged(_ path: String, isListed: Bool) -> [Step] {
        guard isListed else { return [] }
        let isRead = reading[path] != nil
        reading[path] = isRead
        return isRead ? [] : [.readSession(path: path)]
    }

    /// Takes what a session is now; nil when it has gone.
    mutating func sessionRead(_ path: String, _ session: LoginSession?) -> [Step] {
        guard let hasChanged = reading.removeValue(forKey: path) else { return [] }
        sessions[path] = session
        if hasChanged, session != nil { return sessionChanged(path, isListed: true) }
        return settled()
    }

    /// Tells the presence once nothing is being read: no state in between is told.
    private mutating func settled() -> [Step] {
        guard owner != nil, !isListing, reading.isEmpty else { return [] }
        return presenceSteps(LoginSession.presence(sessions.values))
    }

    private mutating func presenceSteps(_ presence: Presence) -> [Step] {
        guard presence != toldPresence else { return [] }
        toldPresence = presence
        return [.tell(.presence(presence))]
    }
}
