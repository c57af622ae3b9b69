import Glibc
import HostsModel

/// A real D-Bus of one test; it can be killed and started again at the same place.
package final class PrivateBus: Sendable {
    private let folder: TemporaryFolder
    private let process: Locked<BackgroundProcess?>

    /// Where it listens, as D-Bus writes it.
    package let address: String

    /// Starts it, unless `isStarted` is false; it listens when this returns.
    package init(isStarted: Bool = true) async throws {
        folder = try TemporaryFolder()
        address = "unix:path=" + folder.path("bus")
        process = Locked(nil)
        try folder.write(
            "bus.conf",
            """
            <!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
             "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
            <busconfig>
              <type>session</type>
              <listen>\(address)</listen>
              <auth>EXTERNAL</auth>
              <policy context="default">
                <allow send_destination="*" eavesdrop="true"/>
                <allow eavesdrop="true"/>
                <allow own="*"/>
              </policy>
            </busconfig>
            """)
        if isStarted { try await start() }
    }

    /// Starts it again after `stop`.
    package func start() async throws {
        let daemon = try BackgroundProcess(
            "dbus-daemon",
            ["--config-file=" + folder.path("bus.conf"), "--nofork", "--nopidfile", "--print-address"],
            environment: Tool.environment)
        // Printed once it listens.
        try await daemon.log.until("unix:path=")
        process.withLock { $0 = daemon }
    }

    /// Kills it; everybody on it loses the connection.
    package func stop() {
        let daemon = process.withLock { process in
            let daemon = process
            process = nil
            return daemon
        }
        daemon?.stop()
    }

    /// How many connections it has, without the one that asks.
    package func connectionCount() async throws -> Int {
        let script = """
            import sys, dbus.bus
            print(*dbus.bus.BusConnection(sys.argv[1]).list_names())
            """
        let names = try await Tool.run(PrivateLoginManager.python, ["-c", script, address])
        return names.split(separator: " ").count { $0.hasPrefix(":") } - 1
    }
}

/// A stand-in for systemd-logind on a private bus: the one of python3-dbusmock, which is moved by hand.
package final class PrivateLoginManager: Sendable {
    /// Arguments of a call, written in Python.
    package typealias PythonTuple = String

    /// Calls a method of an object once the name is owned, and prints what it answers.
    private static let script = """
        import sys, time, dbus, dbus.bus
        address, path, interface, method, arguments = sys.argv[1:6]
        bus = dbus.bus.BusConnection(address)
        limit = time.monotonic() + 50
        while not bus.name_has_owner('org.freedesktop.login1'):
            if time.monotonic() > limit: sys.exit('nobody owns org.freedesktop.login1')
            time.sleep(0.02)
        target = bus.get_object('org.freedesktop.login1', path, introspect=False)
        for values in eval(arguments):
            print(target.get_dbus_method(method, interface)(*values))
        """

    /// That of Debian, which finds the packages of Debian; another may come first in PATH.
    static let python = "/usr/bin/python3"
    private static let manager = "/org/freedesktop/login1"
    private static let mock = "org.freedesktop.DBus.Mock"

    private let bus: PrivateBus
    private let folder: TemporaryFolder
    private let process: BackgroundProcess

    /// Starts it; it owns its name when this returns.
    ///
    /// - Parameters:
    ///   - bus: Where.
    ///   - delayMicroseconds: `InhibitDelayMaxUSec`; nil leaves the property out.
    ///   - isPreparingForSleep: `PreparingForSleep`.
    /// - Throws: When python3-dbusmock is not installed.
    package init(
        on bus: PrivateBus, delayMicroseconds: UInt64? = 5_000_000, isPreparingForSleep: Bool = false
    )
        async throws
    {
        self.bus = bus
        folder = try TemporaryFolder()
        let delay = delayMicroseconds.map { "'InhibitDelayMaxUSec': dbus.UInt64(\($0))" } ?? ""
        // A template of its own that adds to the one of the package.
        let template = try folder.write(
            "logind.py",
            """
            import dbus
            from dbusmock.templates.logind import *
            from dbusmock.templates.logind import load as load_logind
            from dbusmock.templates.logind import Inhibit as give_lock
            refusing = [False]
            @dbus.service.method("org.freedesktop.DBus.Mock", in_signature="b", out_signature="")
            def RefuseLocks(self, refuse):
                refusing[0] = refuse
            @dbus.service.method(MAIN_IFACE, in_signature="ssss", out_signature="h")
            def Inhibit(self, what, who, why, mode):
                if refusing[0]:
                    raise dbus.exceptions.DBusException(
                        "no", name="org.freedesktop.DBus.Error.AccessDenied")
                return give_lock(self, what, who, why, mode)
            def load(mock, parameters):
                load_logind(mock, parameters)
                mock.AddProperties(MAIN_IFACE, dbus.Dictionary({\(delay)}, signature='sv'))
            """)
        process = try BackgroundProcess(
            Self.python,
            [
                "-m", "dbusmock", "--system", "--template", template, "--parameters",
                "{\"PreparingForSleep\": \(isPreparingForSleep)}",
            ], environment: Tool.environment.merging(["DBUS_SYSTEM_BUS_ADDRESS": bus.address]) { $1 })
        try await call("GetSeat", "[('seat0',)]", interface: "org.freedesktop.login1.Manager")
    }

    /// Has it refuse delay locks, as one does whose policy forbids them, or give them again.
    package func refusesLocks(_ isRefusing: Bool) async throws {
        try await call("RefuseLocks", "[(\(isRefusing ? "True" : "False"),)]")
    }

    /// Ends it: the name is owned by nobody.
    package func stop() { process.stop() }

    /// Stops it where it is: it owns its name and answers nobody.
    package func suspend() { process.signal(SIGSTOP) }

    /// Lets it go on.
    package func resume() { process.signal(SIGCONT) }

    /// Sends `PrepareForSleep` with these values, one after the other.
    package func prepareForSleep(_ values: Bool...) async throws {
        let signals = values.map { value in
            "('org.freedesktop.login1.Manager', 'PrepareForSleep', 'b', [\(value ? "True" : "False")])"
        }
        try await call("EmitSignal", "[" + signals.joined(separator: ", ") + "]")
    }

    /// Adds a session of a user and says so.
    package func addSession(_ name: String, user: UInt32, isActive: Bool = true) async throws {
        try await call(
            "AddSession", "[('\(name)', 'seat0', \(user), 'u\(user)', \(isActive ? "True" : "False"))]")
        try await sessionSignal("SessionNew", name)
    }

    /// Removes a session and says so.
    package func removeSession(_ name: String) async throws {
        try await call("RemoveObject", "[('\(path(name))',)]")
        try await sessionSignal("SessionRemoved", name)
    }

    /// Changes properties of a session and says so.
    ///
    /// - Parameters:
    ///   - name: Of the session.
    ///   - properties: As in `'LockedHint': True`.
    /// - Throws: When the stand-in has gone.
    package func change(_ name: String, _ properties: String) async throws {
        try await call(
            "UpdateProperties", "[('org.freedesktop.login1.Session', {\(properties)})]", at: path(name))
    }

    /// The delay and block locks that are held, as `ListInhibitors` writes them.
    package func inhibitors() async throws -> String {
        try await call("ListInhibitors", "[()]", interface: "org.freedesktop.login1.Manager")
    }

    /// Calls a method for each tuple of arguments.
    ///
    /// - Parameters:
    ///   - method: Its name.
    ///   - arguments: A list of tuples, in Python.
    ///   - interface: Where it is declared; the one that moves the stand-in if it is not given.
    ///   - path: Of the object; the manager's if it is not given.
    /// - Returns: What it answered, a line each.
    /// - Throws: When it fails.
    @discardableResult
    package func call(
        _ method: String, _ arguments: PythonTuple, interface: String = mock, at path: String = manager
    ) async throws -> String {
        try await Tool.run(Self.python, ["-c", Self.script, bus.address, path, interface, method, arguments])
    }

    private func path(_ session: String) -> String { Self.manager + "/session/" + session }

    private func sessionSignal(_ signal: String, _ name: String) async throws {
        try await call(
            "EmitSignal",
            "[('org.freedesktop.login1.Manager', '\(signal)', 'so', "
                + "['\(name)', dbus.ObjectPath('\(path(name))')])]")
    }
}
