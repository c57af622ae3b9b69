import HostsAPI
import HostsModel
import HostsPolicy

/// `hostsctl attach`: a shell on a host, or the tmux pane of an agent, on the person's own terminal.
struct AttachCommand {
    /// What ssh exits with when it was the connection that ended, and not what ran on the host (ssh(1)).
    private static let transportStatus: Int32 = 255
    /// Between two looks at a program that has not logged in, and at facts that are waited for.
    private static let shortPause: Int32 = 200
    /// Between two looks at a session.
    private static let longPause: Int32 = 1000

    let terminal: any AttachTerminal
    let window: any AttachWindow
    let output: Output
    /// What a login shell on this machine is.
    let shell: String
    let timeout: Duration

    /// Attaches until the person has left, or the connection is gone for good.
    ///
    /// - Parameter target: What to attach to.
    /// - Returns: What ssh, or what ran on the host, has exited with.
    /// - Throws: Why the daemon opens no window.
    func run(_ target: AttachTarget) throws(ClientError) -> ExitCode {
        let document = try window.open(
            .attach(target.host, session: target.session), within: timeout)
        let words = document.arguments.isEmpty ? [shell, "-l"] : document.arguments
        var watch = AttachWatch(bootID: document.bootID, clocks: terminal.clocks)
        while true {
            watch.began()
            if let problem = terminal.start(words) {
                output.report(
                    "\(words[0]) cannot be started: \(problem)", hint: "[ssh] program in hostsd.toml names it"
                )
                return .failure
            }
            let end = follow(&watch)
            // Before the end is taken: a sleep that it belongs to began earlier.
            hear(&watch)
            guard case .exited(Self.transportStatus) = end, document.transport == "ssh" else {
                return finish(end, document, &watch, nil)
            }
            watch.connectionDied(at: terminal.clocks.boot)
            guard document.restore == HostRecord.SessionRestore.tmux.rawValue, terminal.endingSignal == nil
            else { return finish(end, document, &watch, "the connection has ended") }
            if let reason = awaitAttempt(&watch, document.host) {
                return finish(end, document, &watch, reason)
            }
            // Typed for a session that was not there: it must not reach the next one.
            terminal.discardInput()
        }
    }

    /// Waits for the end of the program, and watches meanwhile.
    private func follow(_ watch: inout AttachWatch) -> JobEnd {
        while true {
            let pause = watch.hasLoggedIn ? Self.longPause : Self.shortPause
            if let end = terminal.wait(milliseconds: pause) { return end }
            hear(&watch)
            watch.take(terminal.use, at: terminal.clocks.boot)
        }
    }

    private func hear(_ watch: inout AttachWatch) {
        watch.take(terminal.clocks)
        for news in window.news() { watch.take(news) }
    }

    /// Waits until the next attempt is due.
    ///
    /// - Returns: Why there is none; nil when it begins now.
    private func awaitAttempt(_ watch: inout AttachWatch, _ host: String) -> String? {
        let died = terminal.clocks.boot
        var said: String?
        while true {
            hear(&watch)
            let now = terminal.clocks.boot
            let word: String
            switch watch.decision(at: now) {
            case .leave: return "the connection has ended"
            case .deferToPerson:
                return "the connection has ended, and a key waits for its passphrase: hostsctl unlock \(host)"
            case .exhausted:
                return
                    "the connection did not survive the sleep; \(SessionResumePolicy.delays.count) attempts failed"
            case .park: word = "the machine is about to sleep"
            case .awaitRoute: word = "waiting for a network; Ctrl-C ends it"
            case .repair(let attempt, let delay) where now - died >= delay:
                output.notice(
                    "\(host): the connection did not survive the sleep; attaching again (\(attempt) of "
                        + "\(SessionResumePolicy.delays.count))")
                tellRestart(&watch, host)
                watch.attemptBegan()
                return nil
            case .repair(_, let delay): word = "attaching again in \(Int(delay)) s; Ctrl-C ends it"
            }
            if word != said { output.notice("\(host): \(word)") }
            said = word
            if terminal.pause(milliseconds: Self.shortPause) { return "stopped" }
        }
    }

    private func finish(
        _ end: JobEnd, _ document: AttachDocument, _ watch: inout AttachWatch, _ reason: String?
    ) -> ExitCode {
        tellRestart(&watch, document.host)
        if let reason { output.notice("\(document.host): \(reason)") }
        switch end {
        case .exited(let status): return ExitCode(rawValue: status)
        case .signalled(let number):
            output.notice("\(document.host): ended by signal \(number)")
            // As a shell tells it.
            return ExitCode(rawValue: 128 + number)
        }
    }

    private func tellRestart(_ watch: inout AttachWatch, _ host: String) {
        guard watch.hasRestarted else { return }
        output.notice("\(host) has restarted since; what ran there is gone")
        watch.restartWasTold()
    }
}
