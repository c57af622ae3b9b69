import CSystemd
import Glibc
package import HostsModel

/// The line to the service manager that started the process (`Type=notify`); silent where there is none.
package struct ServiceManager: Sendable {
    /// Longest status line; it is shown in one line of `systemctl status`.
    package static let statusLimit = 200
    /// How long a message may wait for room in the manager's queue.
    private static let timeoutMilliseconds: Int32 = 1000
    /// What the manager gives to this process alone.
    private static let variables = [
        "NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID", "LISTEN_FDS", "LISTEN_PID", "LISTEN_FDNAMES",
    ]

    /// The socket of the manager, or nil if the process is not its service.
    private let address: String?
    /// How long the manager waits for a sign of life, or nil if it does not wait for one.
    package let watchdogTimeout: Duration?

    /// Makes the line to a known socket.
    ///
    /// - Parameters:
    ///   - address: A path, or an abstract name that begins with `@`; nil for none.
    ///   - watchdogTimeout: How long the manager waits for `ping`.
    package init(address: String?, watchdogTimeout: Duration? = nil) {
        self.address = address
        self.watchdogTimeout = watchdogTimeout
    }

    /// Takes what the manager has put into the environment, and removes it there, so that no child inherits it.
    ///
    /// To be called first thing in `main`: the environment must not change once other threads run.
    package static func adopt() -> ServiceManager {
        var microseconds: UInt64 = 0
        let isWatched = unsafe sd_watchdog_enabled(0, &microseconds) > 0
        let address = unsafe getenv("NOTIFY_SOCKET").map { unsafe String(cString: $0) }
        for variable in variables { unsafe unsetenv(variable) }
        let timeout = isWatched ? Duration.microseconds(Int64(clamping: microseconds)) : nil
        return ServiceManager(address: address, watchdogTimeout: timeout)
    }

    /// What became of a message.
    package enum Outcome: Hashable, Sendable {
        case sent
        /// No manager listens: started by hand, or by another supervisor.
        case notSupervised
        case failed(code: Int32)
    }

    /// Says that the configuration is read and the API answers; never waits for a host.
    @discardableResult
    package func ready(status: String) -> Outcome { send("READY=1", status: status) }

    /// Says that the configuration is being read again; `ready` must follow, also when that failed.
    @discardableResult
    package func reloading(status: String) -> Outcome {
        var time = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        let microseconds = Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000
        return send("RELOADING=1\nMONOTONIC_USEC=\(microseconds)", status: status)
    }

    /// Says what goes on, in one line for `systemctl status`.
    @discardableResult
    package func status(_ status: String) -> Outcome { send(nil, status: status) }

    /// Says that the process is about to end.
    @discardableResult
    package func stopping(status: String) -> Outcome { send("STOPPING=1", status: status) }

    /// Gives a sign of life.
    @discardableResult
    package func ping() -> Outcome { send("WATCHDOG=1", status: nil) }

    /// Gives signs of life until the task is cancelled, at half of the manager's interval.
    ///
    /// - Parameters:
    ///   - clock: Where the time comes from.
    ///   - isHealthy: Whether the process does its work; a sign is given only if so.
    /// - Throws: When the task is cancelled, and only then; returns at once if nobody waits for signs.
    package func keepAlive(
        clock: any MonotonicClock, isHealthy: @Sendable () async -> Bool
    ) async throws(CancellationError) {
        guard let watchdogTimeout else { return }
        while true {
            if await isHealthy() { ping() }
            do {
                try await clock.sleep(for: watchdogTimeout / 2)
            } catch {
                throw CancellationError()
            }
        }
    }

    private func send(_ state: String?, status: String?) -> Outcome {
        guard let address else { return .notSupervised }
        var lines: [String] = []
        if let state { lines.append(state) }
        // A line feed in the status would begin another variable.
        if let status { lines.append("STATUS=" + SafeText.visible(status, limit: Self.statusLimit)) }
        let code = unsafe hosts_notify(address, lines.joined(separator: "\n"), Self.timeoutMilliseconds)
        return code == 0 ? .sent : .failed(code: code)
    }
}
