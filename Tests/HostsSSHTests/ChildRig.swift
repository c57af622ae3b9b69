import Glibc
import HostsModel
import HostsPOSIX
import HostsTestSupport
import Testing

@testable import HostsSSH

/// One child of a link and its socket, as their owner on the event loop has them.
actor ChildRig {
    private let loop = LinkFixture.loop
    private let signal = LoopSignal(on: LinkFixture.loop)
    private var child: LinkChild?
    private var socket: SocketDescriptor?

    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    /// Starts a script of `/bin/sh`.
    func start(
        script: String, errorOutput: LinkChild.ErrorOutput = .dropped,
        farewell: LinkChild.Farewell = .kill
    ) throws(SystemError) {
        try start(
            LinkChild.Command(
                program: "/bin/sh", arguments: ["-c", script], environment: Tool.environment,
                errorOutput: errorOutput, farewell: farewell))
    }

    func start(_ command: LinkChild.Command) throws(SystemError) {
        let started = try LinkChild.start(command, on: loop)
        child = started.child
        socket = started.takeSocket()
    }

    /// What comes next; nil at the end.
    private func receive() async -> String? {
        guard let descriptor = socket?.raw else { return nil }
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            switch socket?.receive(into: &buffer) ?? .ended {
            case .moved(let count): return String(decoding: buffer[..<count], as: UTF8.self)
            case .ended, .failed: return nil
            case .wouldBlock:
                let registration = loop.register(descriptor, for: [.read]) { [signal] _ in signal.raise() }
                let wake = await signal.wait(until: LinkFixture.soon)
                if let registration { loop.deregister(registration) }
                guard wake == .raised else { return nil }
            }
        }
    }

    /// The first lines that it prints; fewer when it ends before.
    func lines(_ count: Int) async -> [String] {
        var text = ""
        while text.count(where: { $0 == "\n" }) < count {
            guard let more = await receive() else { break }
            text += more
        }
        return text.split(separator: "\n").map(String.init)
    }

    /// All that it prints until the end of the socket.
    func everything() async -> String {
        var text = ""
        while let more = await receive() { text += more }
        return text
    }

    /// Waits until the child itself has ended.
    func ending() async -> LinkChild.Ending? {
        guard let child else { return nil }
        await withCheckedContinuation { continuation in
            child.whenEnded(within: .seconds(120)) { continuation.resume() }
        }
        return child.ending
    }

    /// How it has ended, if it has.
    var endingNow: LinkChild.Ending? { child?.ending }

    var errorTail: String { String(decoding: child?.errorTail ?? [], as: UTF8.self) }

    /// Ends it, with a socket that is closed first.
    func end() {
        socket = nil
        child?.end()
        child?.end()
    }

    /// Lets go of it without a word.
    func drop() {
        child = nil
        socket = nil
    }
}

extension ChildRig {
    /// Waits until no process has the number, not even as a zombie.
    static func untilGone(_ pid: String) async {
        while access("/proc/\(pid)", F_OK) == 0 { await Task.yield() }
    }

    /// Whether a process has ended and waits to be reaped.
    static func isZombie(_ pid: String) async -> Bool {
        do { return try await Tool.run("cat", ["/proc/\(pid)/stat"]).contains(") Z ") } catch { return false }
    }

    /// Whether this process has any child, zombies included.
    static var hasChildren: Bool {
        var status: Int32 = 0
        return waitpid(-1, &status, WNOHANG) >= 0 || errno != ECHILD
    }
}
