import CLinux
import Glibc
import HostsModel

/// Watches the clocks for sleeps that nobody has announced; see `SuspendDetector`.
///
/// On a thread of its own, which compares them every 15 s, at the end of every sleep (its timer counts through it) and
/// when the wall clock is set.
package final class SuspendClock: Sendable {
    /// The longest time between two comparisons.
    package static let interval = Duration.seconds(15)
    /// How many findings wait for the listener; of more, the newest are kept.
    package static let backlog = 16

    /// What the thread has found, until `close`; for one listener.
    package let findings: AsyncStream<SuspendDetector.Finding>

    private let readings: @Sendable () -> ClockReadings
    private let detector: Locked<SuspendDetector>
    private let state: Locked<State>

    private struct State: Sendable {
        /// Ends the thread; nil once it has ended.
        var stop: Int32?
        var isClosed = false
    }

    /// The descriptors of the thread.
    private struct Descriptors: Sendable {
        let stop: Int32
        /// Counts through a sleep, so that it is due at its end.
        let tick: Int32
        let wallWatch: Int32

        init() throws(SystemFailure) {
            stop = hosts_eventfd_create()
            tick = hosts_timerfd_create()
            wallWatch = hosts_wall_watch_create()
            guard stop >= 0, tick >= 0, wallWatch >= 0 else {
                let code = errno
                close()
                throw .call("timerfd_create", code: code)
            }
        }

        func close() {
            for descriptor in [stop, tick, wallWatch] where descriptor >= 0 { Glibc.close(descriptor) }
        }
    }

    /// Begins to watch.
    ///
    /// - Parameter readings: What the clocks show; those of the system if none are given.
    /// - Throws: When the system gives no descriptor or no thread.
    package init(
        readings: @escaping @Sendable () -> ClockReadings = SuspendClock.systemReadings
    ) throws(SystemFailure) {
        let (findings, continuation) = AsyncStream<SuspendDetector.Finding>.makeStream(
            bufferingPolicy: .bufferingNewest(Self.backlog))
        self.findings = findings
        self.readings = readings
        let detector = Locked(SuspendDetector(readings()))
        self.detector = detector
        let descriptors = try Descriptors()
        let state = Locked(State(stop: descriptors.stop))
        self.state = state
        do throws(SystemFailure) {
            try SystemFailure.startThread {
                while Self.wait(descriptors), !state.withLock({ $0.isClosed }) {
                    // Read under the lock, so that readings are compared in the order in which they were taken.
                    guard let finding = detector.withLock({ $0.compare(readings()) }) else { continue }
                    continuation.yield(finding)
                }
                state.withLock { $0.stop = nil }
                descriptors.close()
                continuation.finish()
            }
        } catch {
            state.withLock { $0.stop = nil }
            descriptors.close()
            throw error
        }
    }

    deinit { close() }

    /// Compares the clocks now, for somebody who must know before the thread does.
    ///
    /// - Returns: What was found, which `findings` then does not tell.
    package func compare() -> SuspendDetector.Finding? {
        detector.withLock { $0.compare(readings()) }
    }

    /// Ends the thread and `findings`.
    package func close() {
        state.withLock { state in
            state.isClosed = true
            if let stop = state.stop { hosts_eventfd_signal(stop) }
        }
    }

    /// What the clocks of the system show.
    @Sendable package static func systemReadings() -> ClockReadings {
        // BOOTTIME first: what passes before the next is read can only look like too little growth.
        ClockReadings(
            boot: Double(hosts_clock_boot()) / 1e6, monotonic: Double(hosts_clock_monotonic()) / 1e6,
            wall: Double(hosts_clock_wall()) / 1e6)
    }

    /// Waits for a reason to compare; false when the thread is to end.
    private static func wait(_ descriptors: Descriptors) -> Bool {
        // Both can only fail for a descriptor that is none; the time limit of poll(2) is there in any case.
        _ = hosts_wall_watch_arm(descriptors.wallWatch)
        hosts_timerfd_clear(descriptors.tick)
        _ = hosts_timerfd_arm(descriptors.tick, Int64(interval.microseconds) * 1000)
        var entries = [descriptors.stop, descriptors.tick, descriptors.wallWatch].map {
            pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
        }
        _ = unsafe poll(&entries, nfds_t(entries.count), Int32(interval.microseconds / 1000))
        return entries[0].revents == 0
    }
}
