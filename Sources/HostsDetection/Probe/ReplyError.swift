/// Why a reply is no observation: nothing may be concluded from it.
package enum ReplyError: Error, Hashable, Sendable {
    /// It does not begin with the header of this request.
    case unmarked
    /// Its last section is missing.
    case cut
    /// It speaks another version of the protocol.
    case otherVersion(Int)
    /// The function failed on the host.
    case failed(status: Int32)
    /// The host is not what the probe can look at: it has neither `/proc` nor ps(1).
    case unsupportedHost
    /// A section is missing, or says what cannot be.
    case malformed(section: String)
    /// A section has another number of rows than the host says: somebody else writes into the reply.
    case disturbed(section: String)
    /// More processes have a terminal than one reply can list.
    case tooManyProcesses
    /// It answers another request than the last one.
    case unexpected
}

extension ReplyError {
    /// A stable word for the API, the log and tests.
    package var code: String {
        switch self {
        case .unmarked: "reply.unmarked"
        case .cut: "reply.cut"
        case .otherVersion: "reply.other-version"
        case .failed: "reply.failed"
        case .unsupportedHost: "reply.unsupported-host"
        case .malformed: "reply.malformed"
        case .disturbed: "reply.disturbed"
        case .tooManyProcesses: "reply.too-many-processes"
        case .unexpected: "reply.unexpected"
        }
    }
}

extension ReplyError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .unmarked: "the reply does not begin with our mark"
        case .cut: "the reply was cut"
        case .otherVersion(let version): "the reply has version \(version) of the protocol"
        case .failed(let status): "the probe ended with status \(status)"
        case .unsupportedHost: "the host has neither /proc nor ps: its processes cannot be listed"
        case .malformed(let section): "the section \(section) of the reply cannot be used"
        case .disturbed(let section):
            "something else writes into the reply (section \(section)): a program that the login files of the account "
                + "leave running?"
        case .tooManyProcesses: "more processes have a terminal than one look can list (about 600)"
        case .unexpected: "the reply answers another request"
        }
    }
}
