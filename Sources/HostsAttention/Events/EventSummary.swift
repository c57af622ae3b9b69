import HostsModel

/// The one line for people that an event carries; everything of remote origin in it is bounded and visible.
enum EventSummary {
    static func needsYou(_ agent: AgentLabel, _ reason: NeedsYouReason, gap: Duration?) -> String {
        let request =
            switch reason {
            case .permission: "asks for permission"
            case .question: "asks a question"
            case .plan: "has a plan to approve"
            case .trust: "asks whether to trust its folder"
            case .login: "needs you to log in"
            case .rateLimit: "has hit its rate limit"
            case .apiError: "stopped on an API error"
            case .update: "offers an update"
            case .other: "needs you"
            }
        return "\(agent) \(request)\(late(gap))"
    }

    static func turnEnded(_ agent: AgentLabel, hasBackgroundWork: Bool, gap: Duration?) -> String {
        let background = hasBackgroundWork ? ", background work goes on" : ""
        return "\(agent) finished its turn\(background)\(late(gap))"
    }

    /// A turn that was cut off by the end of its agent.
    static func turnCutOff(_ agent: AgentLabel, gap: Duration?) -> String {
        "\(agent) exited during its turn\(late(gap))"
    }

    static func needsCleared(_ agent: AgentLabel, gap: Duration?) -> String {
        "\(agent) no longer needs you\(late(gap))"
    }

    static func started(_ agent: AgentLabel, gap: Duration?) -> String {
        "\(agent) started\(late(gap))"
    }

    static func exited(_ agent: AgentLabel, gap: Duration?) -> String {
        "\(agent) exited\(late(gap))"
    }

    static func hostNeedsYou(_ host: HostID, _ error: LinkError) -> String {
        "\(host) needs you: \(SafeText.visible(error.message))"
    }

    static func hostLost(_ host: HostID, _ error: LinkError?) -> String {
        "\(host) is lost" + (error.map { ": \(SafeText.visible($0.message))" } ?? "")
    }

    static func hostRecovered(_ host: HostID, after outage: Duration) -> String {
        "\(host) is back after \(length(outage))"
    }

    static func hostOutOfSync(_ host: HostID) -> String {
        "\(host) is out of sight; what is shown of it may be old"
    }

    static func rulesStale(_ stale: StaleRules, on host: HostID) -> String {
        let version = stale.version.map { " " + SafeText.visible($0, limit: 40) } ?? ""
        let agent = "\(SafeText.visible(stale.agent.rawValue, limit: 60))\(version)"
        return switch stale.cause {
        case .version:
            "\(agent) on \(host) is no version that its rules were made for: its state may be wrong"
        case .unreadWork:
            "the rules of \(agent) see no work on \(host) though its screen moves: its state may be wrong"
        }
    }

    /// A length for people: the two largest units that say something.
    static func length(_ duration: Duration) -> String {
        let seconds = max(duration.components.seconds, 0)
        let parts = [
            (seconds / 86_400, "d"), (seconds / 3600 % 24, "h"), (seconds / 60 % 60, "min"),
            (seconds % 60, "s"),
        ]
        let shown = parts.drop { $0.0 == 0 }.prefix(2).filter { $0.0 != 0 }
        return shown.isEmpty ? "0 s" : shown.map { "\($0.0) \($0.1)" }.joined(separator: " ")
    }

    private static func late(_ gap: Duration?) -> String {
        gap.map { " (after \(length($0)) out of sight)" } ?? ""
    }
}

/// How an agent is called in a summary: `claude in main:0.1 on devbox`.
struct AgentLabel: CustomStringConvertible {
    /// Longest name of an agent or place, in characters.
    private static let nameLimit = 60
    /// What a place without a name is called.
    private static let nowhere = "-"

    let agent: AgentName
    let place: String
    let host: HostID

    init(_ session: AgentSession) {
        agent = session.agent
        place = session.place.label
        host = session.host
    }

    /// The agent that an event is about, if it is about one.
    init?(_ event: AttentionEvent) {
        guard let agent = event.agent, let host = event.host else { return nil }
        self.agent = agent
        place = event.place ?? Self.nowhere
        self.host = host
    }

    var description: String {
        let name = SafeText.visible(agent.rawValue, limit: Self.nameLimit)
        guard place != Self.nowhere else { return "\(name) on \(host)" }
        return "\(name) in \(SafeText.visible(place, limit: Self.nameLimit)) on \(host)"
    }
}
