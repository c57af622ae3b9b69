import Glibc
import HostsModel
import HostsPOSIX

/// A shell on a terminal of its own, as a person has it, and the program that it runs.
package final class TerminalShell: Sendable {
    // Swift's Glibc has neither posix_openpt(3) and its companions nor these numbers (ioctl_tty(2), spawn.h of
    // glibc 2.36).
    private static let unlockTerminal: UInt = 0x4004_5431
    private static let terminalNumber: UInt = 0x8004_5430
    private static let setSize: UInt = 0x5414
    private static let newSession: Int32 = 0x80

    /// Nothing of the tests is open in a program that may live longer than they do.
    private static let closing =
        #"for fd in /proc/$$/fd/*; do fd=${fd##*/}; [ "$fd" -gt 2 ] && eval "exec $fd>&-"; done; "#

    /// The leader of the session on the terminal.
    private let pid: pid_t
    /// The test's end of the terminal; closed with this object.
    package let master: Int32
    private let status = Locked<Int32?>(nil)

    /// Starts it.
    ///
    /// - Parameters:
    ///   - script: For `bash -c`; the program is `"$0"`, its words `"$@"`.
    ///   - program: Its path.
    ///   - arguments: Its words.
    ///   - environment: Its whole environment.
    /// - Throws: When the system refuses; the test cannot go on.
    package init(
        script: String, _ program: String, _ arguments: [String], environment: [String: String]
    ) throws {
        let master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
        var isLocked: Int32 = 0
        var number: Int32 = -1
        guard master >= 0, ioctl(master, Self.unlockTerminal, &isLocked) == 0,
            ioctl(master, Self.terminalNumber, &number) == 0
        else { throw FixtureError("no terminal: \(SystemError.text(errno))") }
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
        let words = (["bash", "-c", Self.closing + script, program] + arguments).map { strdup($0) } + [nil]
        let variables = environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { for word in words + variables { free(word) } }
        var child: pid_t = 0
        let code = posix_spawn(&child, "/bin/bash", &actions, &attributes, words, variables)
        guard code == 0 else {
            close(master)
            throw FixtureError("bash: \(SystemError.text(code))")
        }
        pid = child
        self.master = master
    }

    /// Ends whatever still runs there.
    ///
    /// A child that nobody reaps would keep the exit tests of this process waiting: they look at the first one that has
    /// ended (waitid(2) with WNOWAIT).
    deinit {
        if status.withLock({ $0 == nil }) { kill(-pid, SIGKILL) }
        // Whatever still runs on it is hung up.
        close(master)
        reap()
    }

    /// Waits for the end of the shell.
    ///
    /// - Returns: Its wait status.
    @discardableResult package func reap() -> Int32 {
        status.withLock { known in
            if let known { return known }
            var status: Int32 = 0
            while waitpid(pid, &status, 0) < 0, errno == EINTR {}
            known = status
            return status
        }
    }

    /// Types a text.
    ///
    /// - Throws: When the terminal takes no input.
    package func type(_ text: String) throws {
        let bytes = Array(text.utf8)
        guard write(master, bytes, bytes.count) == bytes.count else {
            throw FixtureError("the terminal takes no input: \(SystemError.text(errno))")
        }
    }

    package func resize(columns: UInt16, rows: UInt16) {
        var size = winsize(ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
        _ = ioctl(master, Self.setSize, &size)
    }

    /// Whether what is typed is shown.
    package var isEchoing: Bool { has(tcflag_t(ECHO)) }

    /// Whether lines are edited and shown, as a shell leaves it.
    package var isSane: Bool { has(tcflag_t(ECHO | ICANON | ISIG)) }

    private func has(_ flags: tcflag_t) -> Bool {
        var mode = termios()
        return tcgetattr(master, &mode) == 0 && mode.c_lflag & flags == flags
    }

    /// Sends a signal to what runs in the foreground.
    package func signalForeground(_ signal: Int32) {
        let group = tcgetpgrp(master)
        if group > 1 { kill(-group, signal) }
    }
}
