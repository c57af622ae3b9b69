package import HostsAPI

/// How a program in the foreground has ended.
package enum JobEnd: Hashable, Sendable {
    case exited(Int32)
    case signalled(Int32)
}

/// What a program has made of the terminal.
package enum TerminalUse: Hashable, Sendable {
    /// As a remote session has it: every byte goes to the host.
    case raw
    /// A line without echo: a passphrase, a password, a code.
    case hiddenQuestion
    /// Neither, or there is no terminal.
    case other
}

/// What two clocks show, in seconds; only differences count.
package struct AttachClocks: Hashable, Sendable {
    /// CLOCK_BOOTTIME: counts while the machine sleeps.
    package var boot: Double
    /// CLOCK_MONOTONIC: does not.
    package var monotonic: Double

    package init(boot: Double, monotonic: Double) {
        self.boot = boot
        self.monotonic = monotonic
    }
}

/// The terminal that a program is given, and this machine's clocks.
package protocol AttachTerminal: AnyObject {
    /// Starts a program in the foreground; its first word is looked up in PATH.
    ///
    /// - Returns: Why it cannot be started; nil if it runs.
    func start(_ words: [String]) -> String?

    /// Waits for the end of the program; nil when the time has passed first.
    func wait(milliseconds: Int32) -> JobEnd?

    /// Waits without a program; true when a signal says that it is over.
    func pause(milliseconds: Int32) -> Bool

    /// A signal that was sent to end us or the program, SIGHUP for a terminal that is gone; nil for none.
    var endingSignal: Int32? { get }

    var use: TerminalUse { get }

    /// Throws away what was typed and not read.
    func discardInput()

    var clocks: AttachClocks { get }
}

/// What is heard of the daemon while a window is open.
package enum WindowNews: Hashable, Sendable {
    /// At this time on CLOCK_BOOTTIME, in seconds.
    case phase(PhaseDocument, at: Double)
    /// The daemon has gone; it is tried again without a word.
    case lost(at: Double)
}

/// A window that the daemon knows of for as long as this lives.
package protocol AttachWindow: AnyObject {
    /// Opens it and waits for what to start.
    ///
    /// - Parameters:
    ///   - request: From `APIRequest.attach`.
    ///   - timeout: How long to wait.
    /// - Returns: What to start.
    /// - Throws: Why the daemon opens none.
    func open(_ request: APIRequest, within timeout: Duration) throws(ClientError) -> AttachDocument

    /// What was heard since the last call, oldest first.
    func news() -> [WindowNews]
}

/// What `hostsctl attach` works with; the executable brings the real one.
package struct AttachParts {
    package var terminal: any AttachTerminal
    /// Makes a window that is not open, by way of the daemon at a socket.
    package var makeWindow: (String) -> any AttachWindow

    package init(terminal: any AttachTerminal, makeWindow: @escaping (String) -> any AttachWindow) {
        self.terminal = terminal
        self.makeWindow = makeWindow
    }
}
