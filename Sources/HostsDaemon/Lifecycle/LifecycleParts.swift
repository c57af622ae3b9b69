import HostsAttention
import HostsConfig
import HostsHub
import HostsLog
import HostsModel
import HostsSystem

/// What watches the machine itself, put together: the signals, and who acts on them.
struct LifecycleParts: Sendable {
    let observer: LifecycleObserver
    let background: BackgroundActivity
    let refresh: BackgroundRefresh
    let conductor: LifecycleConductor
    let marks: EventMarks

    /// Opens the sources; one that cannot be had is done without.
    ///
    /// - Parameters:
    ///   - hub: Who looks.
    ///   - center: Who delivers.
    ///   - service: Who waits for signs of life.
    ///   - busAddress: Of the system's bus.
    ///   - clock: For deadlines.
    ///   - logs: Where everything is told.
    init(
        hub: ConnectionHub, center: AttentionCenter, service: ServiceManager, busAddress: String,
        clock: any MonotonicClock, logs: LogCenter
    ) {
        let log = logs.log(.background)
        let login = Self.open("the login manager", log) { () throws(SystemFailure) in
            try LoginManager(address: busAddress, log: log)
        }
        let suspend = Self.open("the clocks", log) { () throws(SystemFailure) in try SuspendClock() }
        let routes = Self.open("the network", log) { () throws(SystemFailure) in try RouteMonitor(log: log) }
        let marks = EventMarks()
        let deliver: @Sendable (ContinuousClock.Instant) async -> Void = { deadline in
            await marks.untilHandled(by: hub, clock: clock, until: deadline)
            await center.drain(until: deadline)
        }
        self.marks = marks
        observer = LifecycleObserver(login: login, suspend: suspend, routes: routes, clock: clock, log: log)
        background = BackgroundActivity(hub: hub, login: login, clock: clock, log: log, deliver: deliver)
        refresh = BackgroundRefresh(
            hub: hub, interval: Settings().refresh.interval, clock: clock, log: log,
            isAttentionActive: { await center.isActive }, deliver: deliver)
        conductor = LifecycleConductor(
            observer: observer, hub: hub, background: background, service: service)
    }

    /// What runs until it is cancelled.
    var parts: [@Sendable () async -> Void] {
        [
            { await observer.run() }, { await conductor.run() }, { await background.run() },
            { await refresh.run() },
        ]
    }

    private static func open<Source>(
        _ name: String, _ log: Log, _ body: () throws(SystemFailure) -> Source
    ) -> Source? {
        do throws(SystemFailure) {
            return try body()
        } catch {
            log.warning("background.source", "\(name) cannot be watched: \(error.description)")
            return nil
        }
    }
}
