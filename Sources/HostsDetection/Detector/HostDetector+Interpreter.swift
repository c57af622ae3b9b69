package import HostsModel

extension HostDetector: ProbeInterpreter {
    /// Reads a reply for the hub; see `report`.
    package mutating func interpret(_ reply: ProbeReply, at time: WallTime) throws(LinkError) -> ProbeStep {
        do throws(ReplyError) {
            return try report(reply, at: time)
        } catch {
            throw error.linkError
        }
    }
}

extension ReplyError {
    /// What it means for the link that brought the reply.
    fileprivate var linkError: LinkError {
        switch self {
        case .unsupportedHost: .unsupported(detail: description)
        case .unmarked, .cut, .otherVersion, .failed, .malformed, .disturbed, .tooManyProcesses, .unexpected:
            .badReply(detail: description)
        }
    }
}
