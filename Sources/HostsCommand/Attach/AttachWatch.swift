import HostsAPI
import HostsPolicy

/// What is known of a running attach, and what follows for it; pure.
///
/// Two sources tell of a sleep: the daemon, and the growth of CLOCK_BOOTTIME minus CLOCK_MONOTONIC, which needs nobody.
/// Both may tell of the same one.
struct AttachWatch: Hashable, Sendable {
    private var policy = SessionResumePolicy()
    /// CLOCK_BOOTTIME minus CLOCK_MONOTONIC when it was last looked at.
    private var offset: Double
    private var hasRoute = true
    private var isKeyLocked = false
    /// The program asked a hidden question when it was last looked at, and has not been live since it began.
    private var isAsking = false
    private var isLive = false
    private var bootID: String?

    /// Whether the host runs under another boot id than when the session was live last.
    private(set) var hasRestarted = false

    /// Makes the watch of a session that has not begun.
    init(bootID: String?, clocks: AttachClocks) {
        self.bootID = bootID
        offset = clocks.boot - clocks.monotonic
    }

    /// Takes what the clocks show.
    mutating func take(_ clocks: AttachClocks) {
        let new = clocks.boot - clocks.monotonic
        guard new - offset >= PhaseTracker.shortestSleep else { return }
        offset = new
        // After the fact: the machine is awake, or nobody could have looked.
        policy.leftForeground(at: clocks.boot)
        policy.returnedToForeground(at: clocks.boot)
    }

    /// Takes what the daemon tells.
    mutating func take(_ news: WindowNews) {
        switch news {
        case .phase(let document, let time):
            hasRoute = document.hasRoute
            isKeyLocked = document.awaitsPassphrase
            if document.phase == ActivityPhase.background.rawValue {
                policy.leftForeground(at: time)
            } else {
                policy.returnedToForeground(at: time)
            }
            guard let new = document.bootID else { return }
            if let bootID, bootID != new { hasRestarted = true }
            bootID = new
        case .lost(let time):
            // Nothing is held back for want of a daemon: what runs here is awake.
            hasRoute = true
            isKeyLocked = false
            policy.returnedToForeground(at: time)
        }
    }

    /// Takes note that the program was started.
    mutating func began() {
        isLive = false
        isAsking = false
    }

    /// Takes what the program makes of the terminal: ssh makes it raw once it has logged in, and not before.
    mutating func take(_ use: TerminalUse, at now: Double) {
        isAsking = use == .hiddenQuestion && !isLive
        guard use == .raw, !isLive else { return }
        isLive = true
        policy.sessionBecameLive(at: now)
    }

    /// Whether the program is known to have logged in.
    var hasLoggedIn: Bool { isLive }

    /// Takes note that the connection is gone.
    mutating func connectionDied(at now: Double) { policy.transportDied(at: now) }

    /// Takes note that another attempt begins.
    mutating func attemptBegan() { policy.attemptBegan() }

    /// Takes note that the person was told of the restart.
    mutating func restartWasTold() { hasRestarted = false }

    /// What is to be done about a connection that has died.
    func decision(at now: Double) -> SessionResumePolicy.Decision {
        policy.decision(at: now, hasRoute: hasRoute, awaitsPassphrase: isKeyLocked || isAsking)
    }
}
