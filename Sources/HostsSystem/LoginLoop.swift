import CLinux
import Glibc
import HostsLog
import HostsModel

/// The thread of the login manager: owns the connection, carries out what `LoginState` wants, watches the deadlines.
final class LoginLoop {
    /// Sessions of one user that are looked at.
    private static let sessionLimit = 64
    /// Messages taken before the mailbox is looked at again.
    private static let batch = 256

    private static let manager = "org.freedesktop.login1"
    private static let managerPath = "/org/freedesktop/login1"
    private static let bus = "org.freedesktop.DBus"
    private static let rules = [
        "type='signal',sender='org.freedesktop.DBus',interface='org.freedesktop.DBus',"
            + "member='NameOwnerChanged',arg0='org.freedesktop.login1'",
        "type='signal',sender='org.freedesktop.login1',interface='org.freedesktop.login1.Manager',"
            + "member='PrepareForSleep'",
        "type='signal',sender='org.freedesktop.login1',interface='org.freedesktop.login1.Manager',"
            + "member='SessionNew'",
        "type='signal',sender='org.freedesktop.login1',interface='org.freedesktop.login1.Manager',"
            + "member='SessionRemoved'",
        "type='signal',sender='org.freedesktop.login1',interface='org.freedesktop.DBus.Properties',"
            + "member='PropertiesChanged',arg0='org.freedesktop.login1.Session'",
    ]

    /// What a reply is for.
    private enum Purpose {
        case subscribe
        case findOwner
        case readManager
        case listSessions
        case readSession(path: String)
        case inhibit(InhibitRequest)
    }

    private struct Pending {
        let purpose: Purpose
        /// On CLOCK_MONOTONIC, in microseconds.
        let deadline: UInt64
    }

    private let address: String
    private let user: UInt32
    private let mailbox: LoginMailbox
    private let events: AsyncStream<LoginEvent>.Continuation
    private let log: Log
    private var pause: ReconnectPause
    private var connection: BusConnection?
    private var reconnectAt: UInt64 = 0
    private var pending: [UInt64: Pending] = [:]
    private var state = LoginState()
    /// What was said last about the bus, so that it is said once.
    private var saidReachable: Bool?

    init(
        address: String, user: UInt32, pause: ReconnectPause, mailbox: LoginMailbox,
        events: AsyncStream<LoginEvent>.Continuation, log: Log
    ) {
        self.address = address
        self.user = user
        self.pause = pause
        self.mailbox = mailbox
        self.events = events
        self.log = log
    }

    /// Works until the mailbox is closed.
    func run() {
        while let requests = mailbox.take() {
            for request in requests { inhibit(request) }
            connectIfDue()
            exchange()
            waitForWork()
        }
        connection = nil
        for entry in pending.values { giveUp(entry.purpose, .closed) }
        mailbox.end()
        events.finish()
    }

    // MARK: The connection

    private func connectIfDue() {
        guard connection == nil, SystemTime.monotonic >= reconnectAt else { return }
        do throws(SystemFailure) {
            connection = try BusConnection(address: address)
            for rule in Self.rules {
                try send(.subscribe, Self.bus, "/org/freedesktop/DBus", Self.bus, "AddMatch", [rule])
            }
            try send(
                .findOwner, Self.bus, "/org/freedesktop/DBus", Self.bus, "GetNameOwner", [Self.manager])
        } catch {
            lose(error.description)
        }
    }

    private func lose(_ reason: String) {
        connection = nil
        let lost = pending.values
        pending = [:]
        for entry in lost { giveUp(entry.purpose, .noAnswer) }
        let wait = pause.next()
        reconnectAt = SystemTime.monotonic &+ wait.microseconds
        if saidReachable != false {
            saidReachable = false
            log.debug(
                "login.bus.unreachable",
                "no line to the login manager: sleep is known by the clocks only; tried again and again",
                .text("reason", reason))
        }
        perform(state.ownerChanged(nil))
    }

    /// Waits for the mailbox, the bus or the next deadline.
    private func waitForWork() {
        var entries = [pollfd(fd: mailbox.wakeup, events: Int16(POLLIN), revents: 0)]
        var until: UInt64?
        do throws(SystemFailure) {
            if let wait = try connection?.wait() {
                entries.append(pollfd(fd: wait.descriptor, events: wait.events, revents: 0))
                until = min(wait.until, pending.values.map(\.deadline).min() ?? .max)
            } else {
                until = reconnectAt
            }
        } catch {
            lose(error.description)
            return
        }
        // An error but EINTR cannot be: the array is ours; either way the loop looks again.
        _ = unsafe poll(&entries, nfds_t(entries.count), SystemTime.pollLimit(until: until))
    }

    /// Takes what has come, and gives up what has not come in time.
    private func exchange() {
        guard connection != nil else { return }
        do throws(SystemFailure) {
            for _ in 0..<Self.batch {
                guard let message = try connection?.take() else { break }
                try handle(message)
            }
        } catch {
            lose(error.description)
            return
        }
        let now = SystemTime.monotonic
        for (cookie, entry) in pending where entry.deadline <= now {
            pending[cookie] = nil
            giveUp(entry.purpose, .noAnswer)
            if case .inhibit = entry.purpose { continue }
            lose("no answer within \(LoginManager.callTimeout.seconds) s")
            return
        }
    }

    private func send(
        _ purpose: Purpose, _ destination: String, _ path: String, _ interface: String, _ member: String,
        _ arguments: [String]
    ) throws(SystemFailure) {
        let call = BusCall(
            destination: destination, path: path, interface: interface, member: member,
            arguments: arguments)
        guard let cookie = try connection?.call(call) else { return }
        let deadline = SystemTime.monotonic &+ LoginManager.callTimeout.microseconds
        pending[cookie] = Pending(purpose: purpose, deadline: deadline)
    }

    // MARK: Messages

    private func handle(_ message: BusMessage) throws(SystemFailure) {
        switch message.kind {
        case .reply(let cookie):
            guard let entry = pending.removeValue(forKey: cookie) else { return }
            try take(entry.purpose)
        case .error(let cookie, let name):
            guard let entry = pending.removeValue(forKey: cookie) else { return }
            try refused(entry.purpose, name)
        case .signal: try signalled(message)
        case .other: break
        }
    }

    private func take(_ purpose: Purpose) throws(SystemFailure) {
        switch purpose {
        case .subscribe: break
        case .findOwner: found(try connection?.readString())
        case .readManager:
            guard let properties = try connection?.readManager() else { return }
            perform(state.managerRead(properties))
        case .listSessions:
            guard let paths = try connection?.readSessions(of: user, limit: Self.sessionLimit) else { return }
            perform(state.sessionsListed(paths))
        case .readSession(let path):
            guard let session = try connection?.readSession() else { return }
            perform(state.sessionRead(path, session))
        case .inhibit(let request): request.answer.resume(returning: lock())
        }
    }

    private func refused(_ purpose: Purpose, _ name: String) throws(SystemFailure) {
        switch purpose {
        case .findOwner: found(nil)
        // It has gone between the list and the question.
        case .readSession(let path): perform(state.sessionRead(path, nil))
        case .inhibit(let request):
            request.answer.resume(returning: .failure(.refused(SafeText.visible(name, limit: 255))))
        case .subscribe, .readManager, .listSessions:
            lose("\(purpose) was refused: \(SafeText.visible(name, limit: 255))")
        }
    }

    private func giveUp(_ purpose: Purpose, _ failure: InhibitFailure) {
        if case .inhibit(let request) = purpose { request.answer.resume(returning: .failure(failure)) }
    }

    private func signalled(_ message: BusMessage) throws(SystemFailure) {
        if message.sender == Self.bus, message.member == "NameOwnerChanged" {
            guard let (name, owner) = try connection?.readOwnerChange(), name == Self.manager else { return }
            found(owner.isEmpty ? nil : owner)
            return
        }
        // Anybody may send us a signal: only that of the manager counts.
        guard message.sender == state.owner else { return }
        switch (message.path, message.member) {
        case (Self.managerPath, "PrepareForSleep"):
            guard let isBeginning = try connection?.readFlag() else { return }
            log.debug(
                "login.sleep", "logind says that a sleep begins or is over", .flag("begins", isBeginning))
            perform(state.sleepAnnounced(isBeginning: isBeginning))
        case (Self.managerPath, "SessionNew"), (Self.managerPath, "SessionRemoved"):
            perform(state.sessionsChanged())
        case (_, "PropertiesChanged"): perform(state.sessionChanged(message.path))
        default: break
        }
    }

    /// Takes who is the login manager.
    private func found(_ owner: String?) {
        pause.succeeded()
        if saidReachable != (owner != nil) {
            saidReachable = owner != nil
            log.debug("login.manager", "the login manager came or went", .flag("present", owner != nil))
        }
        perform(state.ownerChanged(owner))
    }

    // MARK: Steps

    private func perform(_ steps: [LoginState.Step]) {
        do throws(SystemFailure) {
            for step in steps { try perform(step) }
        } catch {
            lose(error.description)
        }
    }

    private func perform(_ step: LoginState.Step) throws(SystemFailure) {
        let properties = "org.freedesktop.DBus.Properties"
        let interface = "org.freedesktop.login1.Manager"
        switch step {
        case .readManager:
            try send(.readManager, Self.manager, Self.managerPath, properties, "GetAll", [interface])
        case .listSessions:
            try send(.listSessions, Self.manager, Self.managerPath, interface, "ListSessions", [])
        case .readSession(let path):
            try send(
                .readSession(path: path), Self.manager, path, properties, "GetAll",
                ["org.freedesktop.login1.Session"])
        case .limitDelay(let limit): mailbox.limitDelay(limit)
        case .tell(let event):
            if case .presence(let presence) = event { logPresence(String(describing: presence)) }
            events.yield(event)
        }
    }

    private func logPresence(_ presence: String) {
        let sessions = state.known.filter(\.isOfPerson)
        var fields: [LogField] = [
            .text("presence", presence),
            .text("sessions", sessions.map(\.type).sorted().joined(separator: " ")),
        ]
        if let since = sessions.compactMap(\.idleSince).max() {
            fields.append(.text("idle_since", since.rfc3339))
        }
        log.record(.debug, "login.presence", "what the person's sessions say", fields)
    }

    // MARK: Locks

    private func inhibit(_ request: InhibitRequest) {
        guard state.owner != nil else {
            request.answer.resume(returning: .failure(.noManager))
            return
        }
        do throws(SystemFailure) {
            try send(
                .inhibit(request), Self.manager, Self.managerPath, "org.freedesktop.login1.Manager",
                "Inhibit", ["sleep", "hostsd", request.reason, "delay"])
        } catch {
            request.answer.resume(returning: .failure(.noAnswer))
            lose(error.description)
        }
    }

    private func lock() -> Result<Int32, InhibitFailure> {
        do throws(SystemFailure) {
            guard let descriptor = try connection?.readDescriptor() else { return .failure(.noAnswer) }
            return .success(descriptor)
        } catch {
            return .failure(.system(error))
        }
    }
}
