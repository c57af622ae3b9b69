import HostsAPI
import HostsCommand

/// A terminal in virtual time: programs run as they are written down.
final class ScriptedTerminal: AttachTerminal {
    /// What one program does.
    struct Run {
        /// In this order, one each second.
        var uses: [TerminalUse] = []
        var end: JobEnd
        /// How long the machine sleeps before the end, in seconds.
        var sleep = 0.0
        /// What happens before the end.
        var before: () -> Void = {}
    }

    var runs: [Run] = []
    /// Why no program can be started.
    var problem: String?
    /// Whether the person presses Ctrl-C as soon as nothing runs.
    var isInterrupted = false
    /// What happens in each pause.
    var onPause: () -> Void = {}
    private(set) var started: [[String]] = []
    /// When each was started, in seconds.
    private(set) var starts: [Double] = []
    private(set) var discards = 0
    private var current: Run?
    private var step = 0
    var clocks = AttachClocks(boot: 1000, monotonic: 1000)
    var endingSignal: Int32?
    private(set) var use = TerminalUse.other

    func start(_ words: [String]) -> String? {
        started.append(words)
        starts.append(clocks.boot)
        current = runs.isEmpty ? nil : runs.removeFirst()
        step = 0
        return current == nil ? problem ?? "there is no such program" : nil
    }

    func wait(milliseconds: Int32) -> JobEnd? {
        guard let current else { return .exited(0) }
        pass(1)
        if step < current.uses.count {
            use = current.uses[step]
            step += 1
            return nil
        }
        use = .other
        clocks.boot += current.sleep
        current.before()
        return current.end
    }

    func pause(milliseconds: Int32) -> Bool {
        pass(Double(milliseconds) / 1000)
        onPause()
        return isInterrupted
    }

    func discardInput() { discards += 1 }

    /// Lets go of what a test has written down, which mostly holds this object.
    func forgetScript() {
        runs = []
        current = nil
        onPause = {}
    }

    private func pass(_ seconds: Double) {
        clocks.boot += seconds
        clocks.monotonic += seconds
    }
}

/// A window whose daemon says what a test wants.
final class ScriptedWindow: AttachWindow {
    var answer: Result<AttachDocument, ClientError> = .success(
        AttachDocument(
            host: "devbox", session: nil, transport: "ssh", destination: "devbox", restore: "tmux",
            arguments: ["ssh", "-t", "--", "devbox"], bootID: "boot-1"))
    var waiting: [WindowNews] = []
    private(set) var requests: [APIRequest] = []

    func open(_ request: APIRequest, within timeout: Duration) throws(ClientError) -> AttachDocument {
        requests.append(request)
        return try answer.get()
    }

    func news() -> [WindowNews] {
        defer { waiting = [] }
        return waiting
    }
}
