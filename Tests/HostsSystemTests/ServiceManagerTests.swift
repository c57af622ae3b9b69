import FoundationEssentials
import Glibc
import HostsModel
import HostsSystem
import HostsTestSupport
import Testing

/// A datagram socket that stands in for the service manager's.
private final class ManagerSocket: Sendable {
    let address: String
    private let descriptor: Int32
    private let folder: TemporaryFolder

    /// Binds a name; an abstract one has no file, as in containers.
    init(isAbstract: Bool = false) throws {
        folder = try TemporaryFolder()
        address = (isAbstract ? "@" : "") + folder.path + "/notify"
        descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        try #require(descriptor >= 0)
        var name = sockaddr_un()
        name.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(address.utf8)
        withUnsafeMutableBytes(of: &name.sun_path) { path in
            for (index, byte) in bytes.enumerated() { path[index] = byte }
            if isAbstract { path[0] = 0 }
        }
        let length = socklen_t(MemoryLayout<sa_family_t>.size + bytes.count)
        let code = withUnsafePointer(to: &name) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, length) }
        }
        try #require(code == 0)
    }

    deinit {
        close(descriptor)
    }

    /// The next message; one is there, since sending is done when the sender returns.
    func message() -> String {
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = recv(descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT))
        return count < 0 ? "nothing" : String(decoding: buffer[..<count], as: UTF8.self)
    }
}

@Suite struct ServiceManagerTests {
    @Test(arguments: [false, true])
    func `the messages of a whole life arrive word by word`(isAbstract: Bool) throws {
        let socket = try ManagerSocket(isAbstract: isAbstract)
        let manager = ServiceManager(address: socket.address)
        #expect(manager.status("reading the configuration") == .sent)
        #expect(socket.message() == "STATUS=reading the configuration")
        manager.ready(status: "3/3 online")
        #expect(socket.message() == "READY=1\nSTATUS=3/3 online")
        manager.reloading(status: "reading the configuration")
        let lines = socket.message().split(separator: "\n").map(String.init)
        try #require(lines.count == 3)
        #expect(lines[0] == "RELOADING=1")
        #expect(lines[2] == "STATUS=reading the configuration")
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        let now = Int64(time.tv_sec) * 1_000_000
        let sent = try #require(Int64(lines[1].dropFirst("MONOTONIC_USEC=".count)))
        #expect(abs(now - sent) < 60_000_000)
        manager.ping()
        #expect(socket.message() == "WATCHDOG=1")
        manager.stopping(status: "stopping")
        #expect(socket.message() == "STOPPING=1\nSTATUS=stopping")
    }

    @Test func `a status cannot smuggle in another variable, and is bounded`() throws {
        let socket = try ManagerSocket()
        let manager = ServiceManager(address: socket.address)
        manager.status("a\nREADY=1\u{1b}[0m")
        #expect(socket.message() == "STATUS=a READY=1\\u{1b}[0m")
        manager.status(String(repeating: "x", count: 10_000))
        #expect(socket.message().utf8.count < 300)
    }

    @Test func `without a manager nothing is sent, and a dead one is an error that stops nobody`() throws {
        #expect(ServiceManager(address: nil).ready(status: "") == .notSupervised)
        let gone = ServiceManager(address: "/tmp/hostsd-no-such-socket").ready(status: "")
        #expect(gone == .failed(code: ENOENT))
        #expect(ServiceManager(address: "relative").ready(status: "") == .failed(code: EAFNOSUPPORT))
        let long = "/" + String(repeating: "x", count: 200)
        #expect(ServiceManager(address: long).ready(status: "") == .failed(code: ENAMETOOLONG))
    }

    @Test func `signs of life come at half of the interval, while the process is healthy`() async throws {
        let socket = try ManagerSocket()
        let manager = ServiceManager(address: socket.address, watchdogTimeout: .seconds(120))
        let clock = ManualClock()
        let isHealthy = Locked(true)
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                do {
                    try await manager.keepAlive(clock: clock) { isHealthy.withLock { $0 } }
                    Issue.record("the watchdog has ended by itself")
                } catch {}  // cancelled below
            }
            await clock.untilSleeping()
            #expect(socket.message() == "WATCHDOG=1")
            #expect(clock.nextDeadline == clock.now.advanced(by: .seconds(60)))
            isHealthy.withLock { $0 = false }
            clock.advance(by: .seconds(60))
            await clock.untilSleeping()
            #expect(socket.message() == "nothing")
            isHealthy.withLock { $0 = true }
            clock.advance(by: .seconds(60))
            await clock.untilSleeping()
            #expect(socket.message() == "WATCHDOG=1")
            group.cancelAll()
        }
    }

    @Test func `the variables of the manager are taken, and no child sees them`() async throws {
        await #expect(processExitsWith: .success) {
            setenv("NOTIFY_SOCKET", "/tmp/hostsd-no-such-socket", 1)
            setenv("WATCHDOG_USEC", "120000000", 1)
            setenv("WATCHDOG_PID", String(getpid()), 1)
            setenv("LISTEN_FDS", "1", 1)
            let manager = ServiceManager.adopt()
            precondition(manager.watchdogTimeout == .seconds(120))
            for name in ["NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID", "LISTEN_FDS"] {
                precondition(getenv(name) == nil)
            }
            precondition(manager.ready(status: "") == .failed(code: ENOENT))
        }
    }

    @Test func `a watchdog that is meant for another process is not ours`() async throws {
        await #expect(processExitsWith: .success) {
            unsetenv("NOTIFY_SOCKET")
            setenv("WATCHDOG_USEC", "120000000", 1)
            setenv("WATCHDOG_PID", "1", 1)
            let manager = ServiceManager.adopt()
            precondition(manager.watchdogTimeout == nil)
            precondition(manager.ready(status: "") == .notSupervised)
        }
    }
}
