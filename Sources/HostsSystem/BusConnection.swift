import CSystemd
import HostsModel

/// The header of a message of the bus.
struct BusMessage: Hashable, Sendable {
    enum Kind: Hashable, Sendable {
        case reply(to: UInt64)
        case error(to: UInt64, name: String)
        case signal
        /// A call of somebody else.
        case other
    }

    let kind: Kind
    /// The unique name of the connection that sent it; the bus itself is `org.freedesktop.DBus`.
    let sender: String
    let path: String
    let interface: String
    let member: String
}

/// What a connection waits for.
struct BusWait {
    let descriptor: Int32
    /// As for poll(2).
    let events: Int16
    /// On CLOCK_MONOTONIC, in microseconds; the greatest number for no limit.
    let until: UInt64
}

/// Owns one connection to a bus; belongs to one thread, and nothing in it waits.
@safe struct BusConnection: ~Copyable {
    private let raw: OpaquePointer

    /// Begins to connect.
    ///
    /// - Parameter address: As in `DBUS_SYSTEM_BUS_ADDRESS`.
    /// - Throws: When there is no such bus.
    init(address: String) throws(SystemFailure) {
        var bus: OpaquePointer?
        let code = unsafe hosts_bus_open(address, &bus)
        guard let bus = unsafe bus else { throw .call("sd_bus_start", code: -code) }
        unsafe raw = bus
    }

    deinit { unsafe hosts_bus_close(raw) }

    borrowing func wait() throws(SystemFailure) -> BusWait {
        var wait = hosts_bus_wait()
        try check("sd_bus_get_fd", unsafe hosts_bus_wait(raw, &wait))
        return BusWait(descriptor: wait.descriptor, events: wait.events, until: wait.until_microseconds)
    }

    /// Takes the next message; nil when there is none for now.
    ///
    /// - Throws: When the connection is lost.
    borrowing func take() throws(SystemFailure) -> BusMessage? {
        var header = unsafe hosts_bus_header()
        guard try check("sd_bus_process", unsafe hosts_bus_take(raw, &header)) > 0 else { return nil }
        let kind: BusMessage.Kind
        switch unsafe Int(header.kind) {
        case HOSTS_BUS_REPLY: kind = unsafe .reply(to: header.reply_cookie)
        case HOSTS_BUS_ERROR:
            kind = unsafe .error(to: header.reply_cookie, name: String(cString: header.error))
        case HOSTS_BUS_SIGNAL: kind = .signal
        default: kind = .other
        }
        return unsafe BusMessage(
            kind: kind, sender: String(cString: header.sender), path: String(cString: header.path),
            interface: String(cString: header.interface), member: String(cString: header.member))
    }

    /// Sends a call.
    ///
    /// - Returns: The cookie that its reply will carry.
    borrowing func call(_ call: BusCall) throws(SystemFailure) -> UInt64 {
        var cookie: UInt64 = 0
        let strings = call.arguments.map(Optional.some) + [nil, nil, nil, nil]
        try check(
            "sd_bus_send",
            unsafe hosts_bus_call(
                raw, call.destination, call.path, call.interface, call.member, strings[0], strings[1],
                strings[2], strings[3], &cookie))
        return cookie
    }

    // MARK: The content of the message at hand

    borrowing func readFlag() throws(SystemFailure) -> Bool {
        var flag: Int32 = 0
        try check("sd_bus_message_read", unsafe hosts_bus_read_flag(raw, &flag))
        return flag != 0
    }

    borrowing func readString() throws(SystemFailure) -> String {
        var string: UnsafePointer<CChar>?
        try check("sd_bus_message_read", unsafe hosts_bus_read_string(raw, &string))
        return unsafe Self.text(string)
    }

    /// The name, and its new owner; empty when it has none now.
    borrowing func readOwnerChange() throws(SystemFailure) -> (name: String, owner: String) {
        var name: UnsafePointer<CChar>?
        var owner: UnsafePointer<CChar>?
        try check("sd_bus_message_read", unsafe hosts_bus_read_owner_change(raw, &name, &owner))
        return unsafe (Self.text(name), Self.text(owner))
    }

    /// A descriptor of the message, which the caller owns.
    borrowing func readDescriptor() throws(SystemFailure) -> Int32 {
        try check("sd_bus_message_read", unsafe hosts_bus_read_descriptor(raw))
    }

    borrowing func readManager() throws(SystemFailure) -> LoginProperties {
        var manager = hosts_login_manager()
        try check("sd_bus_message_read", unsafe hosts_login_read_manager(raw, &manager))
        return LoginProperties(
            isPreparingForSleep: manager.is_preparing_for_sleep != 0,
            delayMicroseconds: manager.delay_microseconds)
    }

    /// The paths of the sessions of a user, at most so many.
    borrowing func readSessions(of user: UInt32, limit: Int) throws(SystemFailure) -> [String] {
        var paths: [String] = []
        while true {
            var owner: UInt32 = 0
            var path: UnsafePointer<CChar>?
            let isEnd =
                try check(
                    "sd_bus_message_read", unsafe hosts_login_read_session_entry(raw, &owner, &path)) == 0
            if isEnd { return paths }
            if owner == user, paths.count < limit { paths.append(unsafe Self.text(path)) }
        }
    }

    borrowing func readSession() throws(SystemFailure) -> LoginSession {
        var session = unsafe hosts_login_session()
        try check("sd_bus_message_read", unsafe hosts_login_read_session(raw, &session))
        return unsafe LoginSession(
            isActive: session.is_active != 0, isLocked: session.is_locked != 0,
            isIdle: session.is_idle != 0, isRemote: session.is_remote != 0,
            idleSince: session.idle_since == 0
                ? nil : WallTime(milliseconds: Int64(clamping: session.idle_since / 1000)),
            type: String(cString: session.type), className: String(cString: session.class_name),
            state: String(cString: session.state))
    }

    @discardableResult
    private borrowing func check(_ name: String, _ code: Int32) throws(SystemFailure) -> Int32 {
        guard code >= 0 else { throw .call(name, code: -code) }
        return code
    }

    private static func text(_ string: UnsafePointer<CChar>?) -> String {
        guard let string = unsafe string else { return "" }
        return unsafe String(cString: string)
    }
}

/// A call whose arguments are all strings, four at most.
struct BusCall: Hashable, Sendable {
    let destination: String
    let path: String
    let interface: String
    let member: String
    let arguments: [String]
}
