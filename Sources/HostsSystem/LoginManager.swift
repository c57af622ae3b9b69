import CLinux
import Glibc
package import HostsLog
import HostsModel
package import HostsPolicy

/// What the login manager has told.
package enum LoginEvent: Hashable, Sendable {
    /// A sleep begins (true) or is over; comes as often as logind says it, which may be twice or not at all.
    case preparingForSleep(Bool)
    /// Whether the person is at a local session; told when it changes, once everything is read.
    case presence(Presence)
    /// The login manager came, or went with or without its bus; told first thing, too.
    ///
    /// A delay lock does not outlive logind: whoever needs one takes it again when it came.
    case managerChanged(isPresent: Bool)
}

/// Why a delay lock could not be had.
package enum InhibitFailure: Error, Hashable, Sendable {
    /// There is no login manager, or it is not known yet; `.managerChanged` tells when to try again.
    case noManager
    /// It refused, with the name of the D-Bus error: a sleep that has begun, or a policy.
    case refused(String)
    /// It did not answer in time, or the bus was lost before it did.
    case noAnswer
    /// The process has no descriptor left for it, or the answer held none.
    case system(SystemFailure)
    /// This object was closed.
    case closed
}

extension InhibitFailure: CustomStringConvertible {
    package var description: String {
        switch self {
        case .noManager: "there is no login manager (org.freedesktop.login1)"
        case .refused(let name): "the login manager refused: \(name)"
        case .noAnswer: "the login manager does not answer"
        case .system(let failure): failure.description
        case .closed: "the connection to the login manager was closed"
        }
    }
}

/// The line to systemd-logind: sleep and wake, whether the person is there, and delay locks.
///
/// It works on a thread of its own, which owns the connection: sd-bus is not thread-safe, and nothing here blocks
/// anybody. The subscription comes before anything is asked, so that no sleep falls between. No bus, a bus that
/// vanishes, no logind, a logind that is restarted: all of that is told by `events`, and it goes on by itself with the
/// next one.
package final class LoginManager: Sendable {
    /// The default of logind.conf(5), for a limit that makes no sense.
    package static let defaultDelayLimit = Duration.seconds(5)
    /// How long a call may take; a logind that takes longer counts as lost.
    package static let callTimeout = Duration.seconds(2)
    /// How many events wait for the listener; of more, the newest are kept, which tell how things are.
    package static let backlog = 64

    /// What happens, until `close`; for one listener.
    package let events: AsyncStream<LoginEvent>

    private let mailbox: LoginMailbox

    /// Where the system's bus listens, unless `DBUS_SYSTEM_BUS_ADDRESS` says otherwise.
    package static let usualBusAddress = "unix:path=/run/dbus/system_bus_socket"

    /// Begins to connect; what happens from now on is kept for the listener.
    ///
    /// - Parameters:
    ///   - address: Of the bus, as D-Bus writes it.
    ///   - user: Whose sessions count; nil for the user of this process.
    ///   - firstPause: How long to wait after the first failure to reach the bus; doubled with each one.
    ///   - longestPause: The limit of that.
    ///   - log: Of category `background`; told at `debug` when the bus or logind comes and goes.
    /// - Throws: When the system gives no descriptor or no thread.
    package init(
        address: String, user: UInt32? = nil, firstPause: Duration = .seconds(1),
        longestPause: Duration = .seconds(60), log: Log
    ) throws(SystemFailure) {
        let (events, continuation) = AsyncStream<LoginEvent>.makeStream(
            bufferingPolicy: .bufferingNewest(Self.backlog))
        self.events = events
        let mailbox = try LoginMailbox()
        self.mailbox = mailbox
        let user = user ?? geteuid()
        do throws(SystemFailure) {
            try SystemFailure.startThread {
                let loop = LoginLoop(
                    address: address, user: user,
                    pause: ReconnectPause(first: firstPause, longest: longestPause), mailbox: mailbox,
                    events: continuation, log: log)
                loop.run()
            }
        } catch {
            mailbox.end()
            throw error
        }
    }

    deinit { close() }

    /// How long logind waits for a delay lock (`InhibitDelayMaxUSec`), checked for its range.
    ///
    /// `defaultDelayLimit` as long as it is not known, or says 0, infinity, under 100 ms or over 10 min.
    package var delayLimit: Duration { mailbox.delayLimit }

    /// Takes a delay lock on sleep.
    ///
    /// Takes two seconds at most, also when the task is cancelled; a lock that comes later is given back at once.
    ///
    /// - Parameter reason: Shown by `systemd-inhibit --list`.
    /// - Returns: The lock, which is held until it is released or nobody holds the object any more.
    /// - Throws: When there is no lock to be had now.
    package func inhibitSleep(why reason: String) async throws(InhibitFailure) -> SleepInhibitor {
        let result = await withCheckedContinuation { continuation in
            let request = InhibitRequest(
                reason: SafeText.visible(reason, limit: InhibitRequest.reasonLimit), answer: continuation)
            if let refusal = mailbox.post(request) { continuation.resume(returning: .failure(refusal)) }
        }
        return SleepInhibitor(descriptor: try result.get())
    }

    /// Ends the connection and `events`; locks stay with whoever holds them.
    package func close() {
        mailbox.close()
    }
}

/// Somebody waits for a delay lock.
struct InhibitRequest: Sendable {
    /// Longest reason, in characters.
    static let reasonLimit = 200

    let reason: String
    /// Takes the descriptor of the lock, which is then the caller's.
    let answer: CheckedContinuation<Result<Int32, InhibitFailure>, Never>
}

/// What goes between callers and the thread of the login manager.
final class LoginMailbox: Sendable {
    /// Requests that may wait for the thread; it takes them at once.
    private static let requestLimit = 16

    private struct State: Sendable {
        var requests: [InhibitRequest] = []
        var isClosed = false
        /// Nil once the thread has ended.
        var wakeup: Int32?
        var delayLimit = LoginManager.defaultDelayLimit
    }

    private let state: Locked<State>
    /// Becomes readable when there is something to do; for the thread only.
    let wakeup: Int32

    init() throws(SystemFailure) {
        wakeup = hosts_eventfd_create()
        guard wakeup >= 0 else { throw .call("eventfd", code: errno) }
        state = Locked(State(wakeup: wakeup))
    }

    var delayLimit: Duration { state.withLock { $0.delayLimit } }

    func limitDelay(_ limit: Duration) { state.withLock { $0.delayLimit = limit } }

    /// Hands a request to the thread.
    ///
    /// - Returns: Why it is not taken; nil when it is.
    func post(_ request: InhibitRequest) -> InhibitFailure? {
        state.withLock { state in
            guard !state.isClosed, let wakeup = state.wakeup else { return .closed }
            guard state.requests.count < Self.requestLimit else { return .noAnswer }
            state.requests.append(request)
            hosts_eventfd_signal(wakeup)
            return nil
        }
    }

    func close() {
        state.withLock { state in
            state.isClosed = true
            if let wakeup = state.wakeup { hosts_eventfd_signal(wakeup) }
        }
    }

    /// What there is to do, on the thread; nil when it is to end.
    func take() -> [InhibitRequest]? {
        hosts_eventfd_clear(wakeup)
        return state.withLock { state in
            guard !state.isClosed else { return nil }
            defer { state.requests = [] }
            return state.requests
        }
    }

    /// Gives the descriptor up, when the thread has ended or never began.
    func end() {
        let (requests, wakeup) = state.withLock { state in
            defer {
                state.requests = []
                state.wakeup = nil
                state.isClosed = true
            }
            return (state.requests, state.wakeup)
        }
        if let wakeup { Glibc.close(wakeup) }
        for request in requests { request.answer.resume(returning: .failure(.closed)) }
    }
}
