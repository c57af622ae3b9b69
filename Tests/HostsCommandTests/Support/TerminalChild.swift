import Glibc
import HostsTestSupport
import Testing

/// A program on a terminal of its own, as a person has it.
final class TerminalChild {
    // Swift's Glibc has neither posix_openpt(3) and its companions nor these numbers (ioctl_tty(2), spawn.h of
    // glibc 2.36).
    private static let unlockTerminal: UInt = 0x4004_5431
    private static let terminalNumber: UInt = 0x8004_5430
    private static let newSession: Int32 = 0x80

    /// Nothing of the tests is open in a program that may live longer than they do.
    private static let closing =
        #"for fd in /proc/$$/fd/*; do fd=${fd##*/}; [ "$fd" -gt 2 ] && eval "exec $fd>&-"; done; "#

    private let pid: pid_t
    private let master: Int32
    private var text: [UInt8] = []
    private var isReaped = false

    /// Starts a shell with job control that runs the program in the foreground.
    ///
    /// - Parameters:
    ///   - script: For `bash -c`; the program is `"$0"`, its words `"$@"`.
    ///   - program: Its path.
    ///   - arguments: Its words.
    /// - Throws: When the system refuses.
    init(_ script: String, _ program: String, _ arguments: [String]) throws {
        master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
        var isLocked: Int32 = 0
        var number: Int32 = -1
        let isOpen =
            master >= 0 && ioctl(master, Self.unlockTerminal, &isLocked) == 0
            && ioctl(master, Self.terminalNumber, &number) == 0
        try #require(isOpen, "no terminal: \(errno)")
        let name = "/dev/pts/\(number)"
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        // The first terminal that the leader of a session opens is the session's.
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, name, O_RDWR, 0)
        posix_spawn_file_actions_adddup2(&actions, STDIN_FILENO, STDOUT_FILENO)
        posix_spawn_file_actions_adddup2(&actions, STDIN_FILENO, STDERR_FILENO)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var defaults = sigset_t()
        sigfillset(&defaults)
        posix_spawnattr_setsigdefault(&attributes, &defaults)
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        let flags = Int32(POSIX_SPAWN_SETSIGDEF) | Int32(POSIX_SPAWN_SETSIGMASK) | Self.newSession
        posix_spawnattr_setflags(&attributes, Int16(flags))
        let words = Self.copies(["bash", "-c", Self.closing + script, program] + arguments)
        let variables = Self.copies(["PATH=/usr/bin:/bin", "LC_ALL=C", "HOME=/nonexistent"])
        defer { for word in words + variables { free(word) } }
        var child: pid_t = 0
        let result = posix_spawn(&child, "/bin/bash", &actions, &attributes, words, variables)
        try #require(result == 0, "cannot start a shell: \(result)")
        pid = child
    }

    private static func copies(_ texts: [String]) -> [UnsafeMutablePointer<CChar>?] {
        texts.map { strdup($0) } + [nil]
    }

    /// Ends whatever still runs there.
    ///
    /// A child that nobody reaps would keep the exit tests of this process waiting: they look at the first one that has
    /// ended (waitid(2) with WNOWAIT).
    deinit {
        if !isReaped { kill(-pid, SIGKILL) }
        close(master)
        if !isReaped { reap() }
    }

    @discardableResult
    private func reap() -> Int32 {
        var status: Int32 = 0
        while waitpid(pid, &status, 0) < 0, errno == EINTR {}
        isReaped = true
        return status
    }

    /// Whether the terminal shows what is typed.
    var isEchoing: Bool {
        var mode = termios()
        return tcgetattr(master, &mode) == 0 && mode.c_lflag & tcflag_t(ECHO) != 0
    }

    /// Sends a signal to what runs in the foreground.
    func signalForeground(_ signal: Int32) {
        let group = tcgetpgrp(master)
        #expect(group > 1)
        if group > 1 { kill(-group, signal) }
    }

    func type(_ text: String) {
        let bytes = Array(text.utf8)
        #expect(write(master, bytes, bytes.count) == bytes.count)
    }

    /// Reads until a text has come; gives everything up to its end.
    func read(until mark: String) throws -> String {
        while true {
            let all = String(decoding: text, as: UTF8.self)
            if let range = all.firstRange(of: mark) {
                text = Array(all[range.upperBound...].utf8)
                return String(all[..<range.upperBound])
            }
            try #require(receive(), "the terminal was closed before \(mark): \(all)")
        }
    }

    /// Reads to the end; gives the rest, and the exit status of the shell.
    func finish() -> (output: String, status: Int32) {
        while receive() {}
        let status = reap()
        return (String(decoding: text, as: UTF8.self), status & 0x7f == 0 ? (status >> 8) & 0xff : -1)
    }

    private func receive() -> Bool {
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = Glibc.read(master, &buffer, buffer.count)
        if count > 0 { text += buffer[..<count] }
        return count > 0
    }
}
