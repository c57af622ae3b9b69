import Foundation
import HostsDetection
import HostsModel
import Testing

/// A shell that the probe must run in.
struct Shell: Sendable, CustomTestStringConvertible {
    let path: String
    let options: [String]

    var testDescription: String { ([path] + options).joined(separator: " ") }

    /// Those of this machine.
    static let all: [Shell] = [
        Shell(path: "/bin/sh", options: []), Shell(path: "/bin/dash", options: []),
        Shell(path: "/bin/bash", options: ["--posix"]), Shell(path: "/bin/busybox", options: ["sh"]),
        Shell(path: "/bin/mksh", options: []), Shell(path: "/bin/ksh93", options: []),
        // What zsh is when it is called sh.
        Shell(path: "/bin/zsh", options: ["--emulate", "sh"]),
    ].filter { FileManager.default.isExecutableFile(atPath: $0.path) }

    /// Two that are unlike each other, for what takes its time.
    static let some: [Shell] = [all[0], all[all.count - 1]]
}

/// A home folder, a private tmux server and stand-ins for agents, all in one temporary folder.
final class ShellHost {
    let folder: URL
    let nonce = "0123456789abcdef"
    private let environment: [String: String]
    private var isStopped = false

    var socket: String { folder.appending(path: "t/tmux-\(getuid())/private").path }
    var home: URL { folder.appending(path: "home") }

    init() throws {
        // Short: the path of a socket has at most 107 bytes.
        folder = URL(filePath: "/tmp/hd-\(UInt32.random(in: 0...UInt32.max))")
        let files = FileManager.default
        try files.createDirectory(
            at: folder.appending(path: "t/tmux-\(getuid())"), withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700])
        try files.createDirectory(at: folder.appending(path: "home"), withIntermediateDirectories: true)
        try files.createDirectory(at: folder.appending(path: "bin"), withIntermediateDirectories: true)
        environment = [
            "HOME": folder.appending(path: "home").path, "TMUX_TMPDIR": folder.appending(path: "t").path,
            "PATH": "/usr/local/bin:/usr/bin:/bin", "TERM": "xterm-256color", "SHELL": "/bin/sh",
        ]
    }

    deinit {
        _ = try? tmux(["kill-server"])
        try? FileManager.default.removeItem(at: folder)
    }

    /// Makes a program of that name which shows the screen that it is told to show.
    ///
    /// It is told by lines `FILE|TITLE` that are typed, keeps a state file as Claude Code does, and ends at
    /// the end of what is typed.
    func makeAgent(named name: String) throws {
        let script = """
            #!/bin/sh
            stty -echo
            mkdir -p "$HOME/.claude/sessions"
            read -r line </proc/$$/stat
            rest=${line##*) }
            set -- $rest
            shift 19
            start=$1
            file=$HOME/.claude/sessions/$$.json
            while IFS='|' read -r screen title status; do
                printf '\\033[2J\\033[3J\\033[H'
                cat "$screen"
                printf '\\033]2;%s\\033\\\\' "$title"
                [ -n "$status" ] && printf '{"pid":%s,"procStart":"%s","status":"%s","version":"2.1.284"}\\n' \\
                    "$$" "$start" "$status" >"$file"
            done
            """
        try install(script, at: folder.appending(path: "bin/\(name)"))
    }

    /// Makes a program.
    ///
    /// Another process writes it: while a child that a parallel test has just forked off this one still holds a file open
    /// for writing, it cannot be executed (ETXTBSY, execve(2)).
    func install(_ script: String, at url: URL) throws {
        let command = "cat >\"$0\" && chmod 755 \"$0\""
        let (_, status) = try run("/bin/sh", ["-c", command, url.path], input: script)
        guard status == 0 else { throw SpawnFailed(code: status) }
    }

    /// Makes a folder with nothing but some tools of this machine.
    func makeTools(_ names: [String]) throws -> URL {
        let files = FileManager.default
        let folder = folder.appending(path: "tools")
        try files.createDirectory(at: folder, withIntermediateDirectories: false)
        for name in names {
            let path = ["/usr/bin/", "/bin/"].map { $0 + name }.first(where: files.isExecutableFile)
            try files.createSymbolicLink(
                atPath: folder.appending(path: name).path, withDestinationPath: try #require(path))
        }
        return folder
    }

    /// Opens a pane that runs a command, and gives its name.
    func openPane(_ command: String) throws -> String {
        try tmux([
            "-f", "/dev/null", "new-session", "-d", "-P", "-F", "#{pane_id}", "-x", "110", "-y", "45",
            "exec sh",
        ]).trimmingCharacters(in: .whitespacesAndNewlines).also { try type(command, into: $0) }
    }

    func type(_ text: String, into pane: String) throws {
        _ = try tmux(["send-keys", "-t", pane, "-l", text])
        _ = try tmux(["send-keys", "-t", pane, "Enter"])
    }

    @discardableResult
    func tmux(_ arguments: [String]) throws -> String {
        try run("/usr/bin/env", ["tmux", "-u", "-L", "private"] + arguments, input: nil).output
    }

    /// Runs a request as a link does: the program, then one call with quoted arguments.
    func probe(_ request: ProbeRequest, in shell: Shell, setup: String = "") throws -> ProbeReply {
        let words = ([nonce] + request.arguments).map { "'" + $0.replacing("'", with: "'\\''") + "'" }
        let input =
            HostDetector.program.definitions + "\n" + setup
            + "\n\(request.function) \(words.joined(separator: " "))"
            + " </dev/null\nexit $?\n"
        let (output, status) = try run(shell.path, shell.options + ["-s"], input: input)
        return ProbeReply(nonce: nonce, body: Array(output.utf8), status: status)
    }

    /// Runs a program to its end.
    ///
    /// Spawned by hand, with files for its streams: a tmux server that it starts keeps every descriptor that
    /// it inherits, and Foundation's `Process` waits until one of its own is closed.
    func run(_ path: String, _ arguments: [String], input: String?) throws -> (output: String, status: Int32)
    {
        let source = try scratch("in", content: input ?? "")
        let output = try scratch("out", content: "")
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, source.path, O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&actions, 1, output.path, O_WRONLY | O_TRUNC, 0)
        posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
        // glibc takes no offence at one that is not open.
        for descriptor in 3..<Int32(128) { posix_spawn_file_actions_addclose(&actions, descriptor) }
        // Threads of a concurrency pool block signals, and children inherit that.
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
        let words = ([path] + arguments).map { strdup($0) }
        let variables = environment.map { strdup("\($0.key)=\($0.value)") }
        defer { (words + variables).forEach { free($0) } }
        var pid = pid_t()
        let result = posix_spawn(&pid, path, &actions, &attributes, words + [nil], variables + [nil])
        guard result == 0 else { throw SpawnFailed(code: result) }
        var status: Int32 = 0
        while waitpid(pid, &status, 0) < 0 {
            guard errno == EINTR else { throw SpawnFailed(code: errno) }
        }
        let code = status & 0x7f == 0 ? (status >> 8) & 0xff : 128 + status & 0x7f
        return (try text(of: output), code)
    }

    /// Reads a file; `Data(contentsOf:)` loses a page of memory with each empty one (Swift 6.3.1).
    private func text(of file: URL) throws -> String {
        let handle = try FileHandle(forReadingFrom: file)
        return String(decoding: try handle.readToEnd() ?? Data(), as: UTF8.self)
    }

    struct SpawnFailed: Error {
        let code: Int32
    }

    private func scratch(_ name: String, content: String) throws -> URL {
        let url = folder.appending(path: name)
        try content.write(to: url, atomically: false, encoding: .utf8)
        return url
    }

    /// Looks again and again until `isDone`, at most some hundred times.
    func look(
        _ detector: inout HostDetector, in shell: Shell, until isDone: (HostObservation) -> Bool
    ) throws -> HostObservation {
        for second in 0..<400 {
            let observation = try look(&detector, in: shell, at: Int64(second))
            if isDone(observation) { return observation }
        }
        throw Expired()
    }

    func look(_ detector: inout HostDetector, in shell: Shell, at second: Int64) throws -> HostObservation {
        var request = detector.nextRequest()
        while true {
            let reply = try probe(request, in: shell)
            switch try detector.report(reply, at: WallTime(milliseconds: second * 1000)) {
            case .followUp(let next): request = next
            case .observation(let observation): return own(observation)
            }
        }
    }

    /// Without the agents of the person who runs the tests.
    private func own(_ observation: HostObservation) -> HostObservation {
        HostObservation(
            host: observation.host, bootID: observation.bootID, time: observation.time,
            sessions: observation.sessions.filter { $0.place.socket == socket },
            warnings: observation.warnings,
            wantsConfirmation: observation.wantsConfirmation)
    }

    struct Expired: Error {}
}

extension String {
    fileprivate func also(_ body: (String) throws -> Void) rethrows -> String {
        try body(self)
        return self
    }
}
