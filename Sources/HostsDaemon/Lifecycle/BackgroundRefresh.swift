import HostsHub
import HostsLog
import HostsModel

/// Opens refresh windows: looks at the hosts that have opted in and at dormant ones, and has their news posted.
///
/// The person, a timer of the service manager and the daemon's own timer open them. The interval is a floor: who opens
/// a window moves the daemon's own next one. Nothing is opened when there is nothing to deliver, or nobody who may be
/// told.
actor BackgroundRefresh {
    /// How long the looks of a window are waited for: a dial and its first look.
    static let lookTimeout = Duration.seconds(30)
    /// How long its news may take to be delivered.
    static let deliveryTimeout = Duration.seconds(10)

    /// What came of a wish for a window.
    enum Outcome: Hashable, Sendable {
        /// The hosts that it was for.
        case refreshed([HostID])
        case notWanted(Reason)

        /// Why nothing was opened.
        enum Reason: Hashable, Sendable {
            /// No host has opted in, and none is dormant.
            case nothingToDo
            /// Alerts are switched off.
            case attentionOff
        }
    }

    private let hub: ConnectionHub
    private let clock: any MonotonicClock
    private let log: Log
    private let isAttentionActive: @Sendable () async -> Bool
    private let deliver: @Sendable (ContinuousClock.Instant) async -> Void
    private var interval: Duration
    private var last: ContinuousClock.Instant
    private var next: AsyncStream<Void>.Continuation?

    /// Makes one whose first window comes one interval from now.
    ///
    /// - Parameters:
    ///   - hub: Who looks.
    ///   - interval: The least time from one window of the daemon's own to the next.
    ///   - clock: Counts through suspension, so a window that fell into one is opened after it.
    ///   - log: Of category `background`.
    ///   - isAttentionActive: Whether alerts are switched on.
    ///   - deliver: Has what was found delivered, at most until a deadline.
    init(
        hub: ConnectionHub, interval: Duration, clock: any MonotonicClock, log: Log,
        isAttentionActive: @escaping @Sendable () async -> Bool,
        deliver: @escaping @Sendable (ContinuousClock.Instant) async -> Void
    ) {
        self.hub = hub
        self.interval = interval
        self.clock = clock
        self.log = log
        self.isAttentionActive = isAttentionActive
        self.deliver = deliver
        last = clock.now
    }

    /// Takes another interval; a window that is overdue by it comes at once.
    func setInterval(_ new: Duration) {
        guard new != interval else { return }
        interval = new
        next?.yield()
    }

    /// Opens a window at each interval until the task is cancelled.
    func run() async {
        while !Task.isCancelled {
            let due = last.advanced(by: interval)
            if clock.now >= due {
                _ = await refresh(because: "timer")
            } else {
                await wait(until: due)
            }
        }
    }

    /// Opens a window, unless there is nothing to deliver.
    ///
    /// - Parameter reason: For the log.
    /// - Returns: The hosts that it was for, or why there was none.
    func refresh(because reason: String) async -> Outcome {
        // Before anything else: whatever becomes of this window, the next one comes.
        last = clock.now
        let isActive = await isAttentionActive()
        guard await hub.wantsRefresh(isAttentionActive: isActive) else {
            log.debug(
                "background.no-refresh", "no refresh window: nothing to deliver", .text("reason", reason))
            return .notWanted(isActive ? .nothingToDo : .attentionOff)
        }
        log.debug("background.refresh", "a refresh window is open", .text("reason", reason))
        let (clock, deliver) = (clock, deliver)
        let start = clock.now
        let hosts = await hub.refresh(until: start.advanced(by: Self.lookTimeout)) {
            await deliver(clock.now.advanced(by: Self.deliveryTimeout))
        }
        log.debug(
            "background.refreshed", "the refresh window is closed", .text("reason", reason),
            .count("hosts", hosts.count), .took(clock.now - start))
        return .refreshed(hosts)
    }

    private func wait(until due: ContinuousClock.Instant) async {
        let (changes, continuation) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        next = continuation
        _ = await clock.value(until: due) { for await _ in changes { return } }
        next = nil
    }
}
