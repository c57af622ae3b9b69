import Glibc
import HostsCommand

/// What signals mean to a command line program.
enum Signals {
    /// Ends with 130 on SIGINT.
    ///
    /// SIGPIPE keeps its meaning: the end, without a word.
    ///
    /// A parent that ignores SIGINT (a shell's background job) has the say.
    static func install() {
        // On a terminal the runtime takes SIGQUIT for a crash: it tells where the program is, and it goes on.
        signal(SIGQUIT, SIG_DFL)
        var current = sigaction()
        guard sigaction(SIGINT, nil, &current) == 0 else { return }
        guard unsafeBitCast(current.__sigaction_handler.sa_handler, to: Int.self) != 1 else { return }
        signal(SIGINT) { _ in _exit(130) }
    }
}

/// Ends the process with a code.
func exitProcess(_ code: ExitCode) -> Never {
    exit(code.rawValue)
}
