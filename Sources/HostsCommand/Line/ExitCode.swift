/// What `hostsctl` tells a script (design: interface); the numbers never change their meaning.
///
/// A number that is not in `allCases` is the status of the program that `hostsctl attach` has run.
package struct ExitCode: RawRepresentable, Hashable, Sendable, CaseIterable {
    package let rawValue: Int32

    package init(rawValue: Int32) {
        self.rawValue = rawValue
    }

    package static let success = ExitCode(rawValue: 0)
    package static let failure = ExitCode(rawValue: 1)
    package static let usage = ExitCode(rawValue: 2)
    package static let predicateFalse = ExitCode(rawValue: 3)
    package static let notFound = ExitCode(rawValue: 4)
    package static let attentionPending = ExitCode(rawValue: 5)
    package static let badConfiguration = ExitCode(rawValue: 6)
    package static let notPermitted = ExitCode(rawValue: 7)
    package static let notRunning = ExitCode(rawValue: 8)
    package static let timedOut = ExitCode(rawValue: 124)
    package static let interrupted = ExitCode(rawValue: 130)

    package static var allCases: [ExitCode] { meanings.map(\.code) }

    /// One line for `hostsctl help exit-codes`.
    var meaning: String {
        Self.meanings.first { $0.code == self }?.meaning ?? "what the program of \"attach\" has ended with"
    }

    private static let meanings: [(code: ExitCode, meaning: String)] = [
        (.success, "done; an empty list is success"),
        (.failure, "the operation failed"),
        (.usage, "the command line is wrong"),
        (.predicateFalse, "the answer is no: the host of \"status HOST\" is not online"),
        (.notFound, "no such host or session"),
        (.attentionPending, "somebody waits for you (reserved for predicates about attention)"),
        (.badConfiguration, "the configuration has errors"),
        (
            .notPermitted,
            "not permitted: a disabled host, a key or passphrase that is wrong, another's hostsd"
        ),
        (.notRunning, "hostsd is not running, or its socket cannot be reached"),
        (.timedOut, "no answer within --timeout"),
        (.interrupted, "interrupted (Ctrl-C)"),
    ]
}
