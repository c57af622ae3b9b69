/// What `hostsctl` tells a script (design: interface); the numbers never change their meaning.
package enum ExitCode: Int32, Hashable, Sendable, CaseIterable {
    case success = 0
    case failure = 1
    case usage = 2
    case predicateFalse = 3
    case notFound = 4
    case attentionPending = 5
    case badConfiguration = 6
    case notPermitted = 7
    case notRunning = 8
    case timedOut = 124
    case interrupted = 130

    /// One line for `hostsctl help exit-codes`.
    var meaning: String {
        switch self {
        case .success: "done; an empty list is success"
        case .failure: "the operation failed"
        case .usage: "the command line is wrong"
        case .predicateFalse: "the answer is no: the host of \"status HOST\" is not online"
        case .notFound: "no such host or session"
        case .attentionPending: "somebody waits for you (reserved for predicates about attention)"
        case .badConfiguration: "the configuration has errors"
        case .notPermitted:
            "not permitted: a disabled host, a key or passphrase that is wrong, another's hostsd"
        case .notRunning: "hostsd is not running, or its socket cannot be reached"
        case .timedOut: "no answer within --timeout"
        case .interrupted: "interrupted (Ctrl-C)"
        }
    }
}
