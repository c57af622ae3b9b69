import CLinux
import Glibc
import HostsModel
package import HostsPOSIX
import Synchronization

/// The one thread that waits for all descriptors and timers, and the serial executor of all links.
///
/// An actor that names the loop as its executor runs on that thread, and so do the handlers of its
/// descriptors and timers: they reach the actor with `assumeIsolated`, without a hop. The loop lives as long
/// as the process.
@safe package final class EventLoop: SerialExecutor, @unchecked Sendable {
    /// Descriptors that are asked for in one system call.
    private static let eventBatch: Int32 = 64
    /// Rounds of jobs between two looks at the descriptors, so that jobs that beget jobs do not starve them.
    private static let jobRounds = 16

    /// A descriptor under watch.
    ///
    /// The serial tells it from an older one with the same number.
    struct Registration: Hashable, Sendable {
        let descriptor: Int32
        fileprivate let serial: UInt32

        fileprivate var token: UInt64 { UInt64(serial) << 32 | UInt64(UInt32(bitPattern: descriptor)) }
    }

    typealias TimerID = TimerQueue<Handler>.ID
    typealias Handler = @Sendable () -> Void
    typealias ReadyHandler = @Sendable (Readiness) -> Void

    private enum Work {
        case job(UnownedJob)
        case preferred(UnownedJob)
        case call(Handler)
    }

    private struct Inbox: Sendable {
        var work: [Work] = []
        var isSignalled = false
    }

    private struct Watch {
        let serial: UInt32
        let handler: ReadyHandler
    }

    private let epoll: Int32
    private let wakeup: Int32
    private let alarm: Int32
    private let thread = Atomic<UInt>(0)
    private let inbox = Locked(Inbox())
    // Touched on the loop's own thread only (`requireLoop`), hence `@unchecked Sendable`.
    private var watches: [Int32: Watch] = [:]
    private var timers = TimerQueue<Handler>()
    private var armedFor: ContinuousClock.Instant?
    private var nextSerial: UInt32 = 1

    /// Starts the thread.
    ///
    /// - Throws: When the process has no descriptor or thread left.
    package init() throws(SystemError) {
        epoll = hosts_epoll_create()
        wakeup = hosts_eventfd_create()
        alarm = hosts_timerfd_create()
        let read = UInt32(HOSTS_READY_READ)
        guard epoll >= 0, wakeup >= 0, alarm >= 0,
            hosts_epoll_add(epoll, wakeup, read, Self.token(of: wakeup)) == 0,
            hosts_epoll_add(epoll, alarm, read, Self.token(of: alarm)) == 0
        else {
            let code = errno
            for descriptor in [epoll, wakeup, alarm] where descriptor >= 0 { Glibc.close(descriptor) }
            throw SystemError(code: code)
        }
        unsafe preference.loop = self
        do throws(SystemError) {
            try DedicatedThread.start { [self] in run() }
        } catch {
            for descriptor in [epoll, wakeup, alarm] { Glibc.close(descriptor) }
            throw error
        }
    }

    /// Serial 0 belongs to the loop's own descriptors.
    private static func token(of descriptor: Int32) -> UInt64 { UInt64(UInt32(bitPattern: descriptor)) }

    // MARK: Executor

    /// Whether the caller runs on the loop's thread.
    package var isCurrent: Bool { thread.load(ordering: .acquiring) == UInt(pthread_self()) }

    /// Takes a job of an actor or task that runs here.
    package func enqueue(_ job: consuming ExecutorJob) {
        submit(.job(UnownedJob(job)))
    }

    /// Makes a task go on here after it has waited for a continuation.
    ///
    /// Such a task goes on at its preferred executor, and only then comes back to its actor (Swift 6.3): without
    /// a preference each wait wakes a thread of the global pool. It is an object of its own because the runtime
    /// takes a job that runs with a preference for out of place in a task that has none, and sends it through
    /// the queue at every call.
    let preference = LoopPreference()

    fileprivate func enqueuePreferred(_ job: consuming ExecutorJob) {
        submit(.preferred(UnownedJob(job)))
    }

    /// Traps when the caller does not run on the loop's thread.
    package func checkIsolated() {
        precondition(
            isCurrent, "this code belongs on the event loop's thread, as does everything that is pinned to it"
        )
    }

    /// Answers whether the caller runs on the loop's thread.
    package func isIsolatingCurrentContext() -> Bool? { isCurrent }

    /// Runs `body` on the loop's thread, after what was submitted before it.
    ///
    /// Callable from any thread.
    func execute(_ body: @escaping Handler) {
        submit(.call(body))
    }

    private func submit(_ work: Work) {
        let mustSignal = inbox.withLock { inbox in
            inbox.work.append(work)
            guard !inbox.isSignalled else { return false }
            inbox.isSignalled = true
            return true
        }
        if mustSignal, !isCurrent { hosts_eventfd_signal(wakeup) }
    }

    // MARK: Descriptors and timers, on the loop's thread

    /// Watches a descriptor until `deregister`, which must come before it is closed.
    ///
    /// - Returns: Nil when the kernel refuses.
    func register(_ descriptor: Int32, for interest: Readiness, _ handler: @escaping ReadyHandler)
        -> Registration?
    {
        checkIsolated()
        let registration = Registration(descriptor: descriptor, serial: nextSerial)
        nextSerial = nextSerial == .max ? 1 : nextSerial + 1
        guard hosts_epoll_add(epoll, descriptor, interest.rawValue, registration.token) == 0 else {
            return nil
        }
        watches[descriptor] = Watch(serial: registration.serial, handler: handler)
        return registration
    }

    /// Changes what a registration waits for.
    func change(_ registration: Registration, to interest: Readiness) {
        checkIsolated()
        guard watches[registration.descriptor]?.serial == registration.serial else { return }
        let code = hosts_epoll_change(epoll, registration.descriptor, interest.rawValue, registration.token)
        precondition(code == 0, "a watched descriptor is open: it is deregistered before it is closed")
    }

    func deregister(_ registration: Registration) {
        checkIsolated()
        guard watches[registration.descriptor]?.serial == registration.serial else { return }
        watches[registration.descriptor] = nil
        let code = hosts_epoll_remove(epoll, registration.descriptor)
        precondition(code == 0, "a watched descriptor is open: it is deregistered before it is closed")
    }

    /// Calls `handler` once, when `deadline` has come.
    func schedule(at deadline: ContinuousClock.Instant, _ handler: @escaping Handler) -> TimerID {
        checkIsolated()
        return timers.insert(handler, at: deadline)
    }

    func cancel(_ timer: TimerID) {
        checkIsolated()
        timers.remove(timer)
    }

    // MARK: The thread

    private func run() {
        thread.store(UInt(pthread_self()), ordering: .releasing)
        var events = [hosts_event](repeating: hosts_event(), count: Int(Self.eventBatch))
        while true {
            runJobs()
            arm()
            let count = unsafe hosts_epoll_wait(epoll, &events, Self.eventBatch)
            precondition(count >= 0, "epoll_wait fails only on a wrong descriptor, and ours is never closed")
            for event in events.prefix(Int(count)) { deliver(event) }
            fireTimers()
        }
    }

    private func deliver(_ event: hosts_event) {
        let descriptor = Int32(truncatingIfNeeded: event.token)
        let serial = UInt32(truncatingIfNeeded: event.token >> 32)
        guard serial != 0 else {
            if descriptor == wakeup { return hosts_eventfd_clear(wakeup) }
            hosts_timerfd_clear(alarm)
            armedFor = nil
            return
        }
        // An earlier handler of this batch may have deregistered it, and the number may be in use again.
        guard let watch = watches[descriptor], watch.serial == serial else { return }
        watch.handler(Readiness(rawValue: event.ready))
    }

    private func fireTimers() {
        let now = ContinuousClock.now
        while let handler = timers.takeDue(now: now) { handler() }
    }

    private func runJobs() {
        for _ in 0..<Self.jobRounds {
            let work = inbox.withLock { inbox in
                let work = inbox.work
                inbox.work = []
                inbox.isSignalled = !work.isEmpty
                return work
            }
            guard !work.isEmpty else { return }
            for item in work {
                switch item {
                case .job(let job): unsafe job.runSynchronously(on: asUnownedSerialExecutor())
                case .preferred(let job):
                    unsafe job.runSynchronously(
                        isolatedTo: asUnownedSerialExecutor(),
                        taskExecutor: preference.asUnownedTaskExecutor())
                case .call(let handler): handler()
                }
            }
        }
        hosts_eventfd_signal(wakeup)
    }

    private func arm() {
        let earliest = timers.earliest()
        guard earliest != armedFor else { return }
        armedFor = earliest
        // Relative, and at least 1 ns where a timer is wanted, since 0 disarms.
        let wait = earliest.map { max(1, ($0 - ContinuousClock.now).nanoseconds) } ?? 0
        let code = hosts_timerfd_arm(alarm, wait)
        precondition(code == 0, "a timer takes every positive time")
    }
}

/// The loop as the executor that a task prefers.
final class LoopPreference: TaskExecutor, @unchecked Sendable {
    // Set once, before anybody else knows of it; the loop lives as long as the process.
    fileprivate unowned(unsafe) var loop: EventLoop?

    func enqueue(_ job: consuming ExecutorJob) { unsafe loop?.enqueuePreferred(job) }
}

/// What a descriptor is ready for, or what is waited for.
struct Readiness: OptionSet, Sendable {
    let rawValue: UInt32

    static let read = Readiness(rawValue: UInt32(HOSTS_READY_READ))
    static let write = Readiness(rawValue: UInt32(HOSTS_READY_WRITE))
    static let peerClosed = Readiness(rawValue: UInt32(HOSTS_READY_PEER_CLOSED))
    static let failed = Readiness(rawValue: UInt32(HOSTS_READY_FAILED))
    static let closed = Readiness(rawValue: UInt32(HOSTS_READY_CLOSED))
}

extension Duration {
    /// Whole nanoseconds; lengths beyond 292 years are cut to that.
    var nanoseconds: Int64 {
        let parts = components
        let (whole, overflow) = parts.seconds.multipliedReportingOverflow(by: 1_000_000_000)
        guard !overflow else { return parts.seconds < 0 ? .min : .max }
        return whole.addingReportingOverflow(parts.attoseconds / 1_000_000_000).partialValue
    }
}
