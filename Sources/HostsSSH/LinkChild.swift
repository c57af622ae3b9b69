import CLinux
import Glibc
import HostsModel
import HostsPOSIX

/// A child process that carries a link: a local shell, `ssh`, or a ProxyCommand.
///
/// It has a process group of its own, the folder `/`, and no descriptor of ours but a socket as its standard
/// input and output. The event loop reaps it, whoever lets go of it and however it ends; it is touched on the
/// loop's thread only. Until it is ended it is not reaped, even if it has exited: what it has left behind may
/// still carry the link, and the number of its group stays its own.
final class LinkChild: Sendable {
    /// What becomes of the standard error.
    enum ErrorOutput: Hashable, Sendable {
        case dropped
        /// The last `tailLimit` bytes are kept; all of it is read, so that the child never waits for a reader.
        case kept
    }

    /// How it is ended.
    enum Farewell: Hashable, Sendable {
        /// SIGKILL at once.
        case kill
        /// SIGTERM, and SIGKILL to what is still there after `patience`, or once the child itself has ended.
        case terminate(patience: Duration)

        /// For programs that may have something to tell a server, or files to remove.
        static let politely = Farewell.terminate(patience: .seconds(2))
    }

    /// What is started.
    struct Command: Hashable, Sendable {
        /// An absolute path, or a name that is searched in the daemon's PATH.
        var program: String
        /// What follows the program's name.
        var arguments: [String] = []
        /// The whole environment; what holds a NUL is left out.
        var environment: [String: String]
        var errorOutput = ErrorOutput.dropped
        var farewell = Farewell.kill
    }

    /// How a child came to its end.
    enum Ending: Hashable, Sendable {
        case exited(Int32)
        case signalled(Int32)
        /// Its end could not be learned, such as because SIGCHLD is ignored. Carries the errno value.
        case lost(Int32)
    }

    /// A child that runs, and our end of its socket, which has an owner of its own.
    struct Started: ~Copyable, Sendable {
        let child: LinkChild
        let socket: SocketDescriptor

        consuming func takeSocket() -> SocketDescriptor { socket }
    }

    /// What is kept of the standard error, in bytes.
    static let tailLimit = 1024

    private let loop: EventLoop
    private let life: Life

    private init(_ life: Life, loop: EventLoop) {
        self.life = life
        self.loop = loop
    }

    deinit {
        let life = life
        loop.execute { life.release() }
    }

    /// Starts a child; called on the loop's thread.
    ///
    /// Starting a process takes less time than a key exchange does.
    ///
    /// - Parameters:
    ///   - command: What is started.
    ///   - loop: Where it is watched.
    /// - Returns: The child, which is ended with `end` or by letting go of it, and our end of its socket.
    /// - Throws: What the system said, the error of the child's exec included.
    static func start(_ command: Command, on loop: EventLoop) throws(SystemError) -> Started {
        loop.checkIsolated()
        var ends: [Int32] = [-1, -1]
        guard unsafe hosts_socket_pair(&ends) == 0 else { throw SystemError(code: errno) }
        let ours = SocketDescriptor(owning: ends[0])
        let theirs = SocketDescriptor(owning: ends[1])
        var output = try ErrorPipe.make(command.errorOutput)
        let pid = try spawn(command, standard: theirs.raw, error: output.theirs)
        let life = Life(pid: pid, farewell: command.farewell, loop: loop)
        try life.watch(errorOutput: output.takeOurs())
        return Started(child: LinkChild(life, loop: loop), socket: ours)
    }

    /// How it has ended; nil while it runs.
    var ending: Ending? {
        loop.checkIsolated()
        return life.ending
    }

    /// The last bytes of its standard error so far; what has come in since the last event included.
    var errorTail: [UInt8] {
        loop.checkIsolated()
        life.readErrorOutput()
        return life.tail
    }

    /// Ends the child and everything in its process group; a second call has no effect.
    ///
    /// Whoever owns the socket closes it first.
    func end() {
        loop.checkIsolated()
        life.release()
    }

    /// Calls `handler` once, on the loop: when the child has ended, or after `limit`.
    ///
    /// The end of its socket comes a moment before its own end, and only the latter says what it died of.
    func whenEnded(within limit: Duration? = nil, _ handler: @escaping @Sendable () -> Void) {
        loop.checkIsolated()
        life.whenEnded(within: limit, handler)
    }

    private static func spawn(
        _ command: Command, standard: Int32, error: Int32
    ) throws(SystemError) -> pid_t {
        let words = [command.program] + command.arguments
        guard !words.contains(where: { $0.utf8.contains(0) }) else { throw SystemError(code: EINVAL) }
        let variables = command.environment
            .filter { !$0.key.utf8.contains(0) && !$0.value.utf8.contains(0) }
            .map { "\($0.key)=\($0.value)" }
        var pid: pid_t = -1
        var arguments = unsafe words.map { unsafe strdup($0) } + [nil]
        var strings = unsafe variables.map { unsafe strdup($0) } + [nil]
        defer { unsafe (arguments + strings).forEach { unsafe free($0) } }
        let code = unsafe hosts_spawn_child(
            command.program, &arguments, &strings, standard, standard, error, &pid)
        guard code == 0 else { throw SystemError(code: code) }
        return pid
    }
}

/// Where a child's standard error goes: a pipe, or `/dev/null`.
private struct ErrorPipe: ~Copyable {
    let theirs: Int32
    private var ours: Int32?

    static func make(_ kind: LinkChild.ErrorOutput) throws(SystemError) -> ErrorPipe {
        switch kind {
        case .dropped:
            let sink = unsafe open("/dev/null", O_WRONLY | O_CLOEXEC)
            guard sink >= 0 else { throw SystemError(code: errno) }
            return ErrorPipe(theirs: sink, ours: nil)
        case .kept:
            var ends: [Int32] = [-1, -1]
            let code = unsafe hosts_spawn_pipe(&ends, 0)
            guard code == 0 else { throw SystemError(code: code) }
            return ErrorPipe(theirs: ends[1], ours: ends[0])
        }
    }

    private init(theirs: Int32, ours: Int32?) {
        self.theirs = theirs
        self.ours = ours
    }

    deinit {
        close(theirs)
        if let ours { close(ours) }
    }

    /// Gives up our end; the caller closes it.
    mutating func takeOurs() -> Int32? { ours.take() }
}

/// What the loop knows of a child; the handlers of its descriptors keep it until it is reaped.
private final class Life: @unchecked Sendable {
    // All of it is touched on the event loop's thread only, hence `@unchecked Sendable`.
    private(set) var ending: LinkChild.Ending?
    private(set) var tail: [UInt8] = []
    private var isReleased = false
    private var watch: EventLoop.Registration?
    private var errorOutput: EventLoop.Registration?
    private var deadline: EventLoop.TimerID?
    private var waiters: [Int: (handler: EventLoop.Handler, timer: EventLoop.TimerID?)] = [:]
    private var lastWaiter = 0
    private let pid: pid_t
    private let farewell: LinkChild.Farewell
    private let loop: EventLoop

    init(pid: pid_t, farewell: LinkChild.Farewell, loop: EventLoop) {
        self.pid = pid
        self.farewell = farewell
        self.loop = loop
    }

    /// Begins to watch; a child that cannot be watched is killed and reaped before this throws.
    func watch(errorOutput: Int32?) throws(SystemError) {
        do throws(SystemError) {
            if let errorOutput { self.errorOutput = try register(errorOutput) { $0.readErrorOutput() } }
            let descriptor = hosts_spawn_watch(pid)
            guard descriptor >= 0 else { throw SystemError(code: errno) }
            watch = try register(descriptor) { $0.exited() }
        } catch {
            closeErrorOutput()
            isReleased = true
            kill(-pid, SIGKILL)
            // It has only just begun, so its end is near.
            reap(mayBlock: 1)
            throw error
        }
    }

    /// Watches a descriptor, which is closed when that fails.
    private func register(_ descriptor: Int32, _ handler: @escaping @Sendable (Life) -> Void)
        throws(SystemError) -> EventLoop.Registration
    {
        guard let made = loop.register(descriptor, for: [.read], { _ in handler(self) }) else {
            close(descriptor)
            throw SystemError(code: ENOSPC)
        }
        return made
    }

    private func forget(_ registration: inout EventLoop.Registration?) {
        guard let known = registration.take() else { return }
        loop.deregister(known)
        close(known.descriptor)
    }

    // MARK: Its end

    func release() {
        guard !isReleased else { return }
        isReleased = true
        guard ending == nil else { return bury() }
        switch farewell {
        case .kill: kill(-pid, SIGKILL)
        case .terminate(let patience):
            kill(-pid, SIGTERM)
            deadline = loop.schedule(at: .now + patience) { [self] in
                deadline = nil
                kill(-pid, SIGKILL)
            }
        }
    }

    private func exited() {
        var status: Int32 = 0
        var signal: Int32 = 0
        let code = unsafe hosts_spawn_peek(pid, &status, &signal)
        guard code != EAGAIN else { return }
        ending = code != 0 ? .lost(code) : signal == 0 ? .exited(status) : .signalled(signal)
        readErrorOutput()
        forget(&watch)
        if isReleased { bury() }
        let ended = waiters.values
        waiters = [:]
        for waiter in ended {
            if let timer = waiter.timer { loop.cancel(timer) }
            waiter.handler()
        }
    }

    /// Kills what the child has left in its group, and reaps it.
    private func bury() {
        if let deadline = deadline.take() { loop.cancel(deadline) }
        closeErrorOutput()
        // A child that somebody else has reaped may have left its number to a stranger.
        if case .lost = ending { return }
        // Not reaped yet, so the number of the group is still its own.
        kill(-pid, SIGKILL)
        reap(mayBlock: 0)
    }

    private func reap(mayBlock: Int32) {
        var status: Int32 = 0
        var signal: Int32 = 0
        // How it has ended is known, or of no interest.
        _ = unsafe hosts_spawn_reap(pid, mayBlock, &status, &signal)
    }

    func whenEnded(within limit: Duration?, _ handler: @escaping EventLoop.Handler) {
        guard ending == nil else { return handler() }
        lastWaiter += 1
        let id = lastWaiter
        let timer = limit.map { limit in
            loop.schedule(at: .now + limit) { [self] in waiters.removeValue(forKey: id)?.handler() }
        }
        waiters[id] = (handler, timer)
    }

    // MARK: Its standard error

    /// Reads what is there; the last bytes stay.
    func readErrorOutput() {
        guard let descriptor = errorOutput?.descriptor else { return }
        var buffer = [UInt8](repeating: 0, count: 4096)
        // Bounded, so that a child that never stops complaining does not keep the loop to itself.
        for _ in 0..<Self.readsPerEvent {
            let count = unsafe read(descriptor, &buffer, buffer.count)
            if count > 0 {
                tail = (tail + buffer[..<count]).suffix(LinkChild.tailLimit)
            } else if count == 0 || (errno != EINTR && errno != EAGAIN) {
                return closeErrorOutput()
            } else if errno == EAGAIN {
                return
            }
        }
    }

    private static let readsPerEvent = 32

    private func closeErrorOutput() { forget(&errorOutput) }
}
