import Glibc
import Testing

/// The real `hostsctl`, run as a child with pipes.
struct ChildProcess {
    enum Ending: Equatable {
        case exit(Int32)
        case signal(Int32)
    }

    let pid: pid_t
    private let output: Int32
    private let error: Int32

    /// The program that was built beside the tests.
    static func programPath() throws -> String {
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = buffer.withUnsafeMutableBytes { bytes in
            bytes.withMemoryRebound(to: CChar.self) { text in
                text.baseAddress.map { readlink("/proc/self/exe", $0, text.count) } ?? 0
            }
        }
        var folder = String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
        let named = CommandLine.arguments.first { $0.hasSuffix(".xctest") } ?? folder
        if named.hasPrefix("/") { folder = named }
        return folder.split(separator: "/").dropLast().reduce("") { $0 + "/" + $1 } + "/hostsctl"
    }

    /// Starts it.
    ///
    /// - Parameters:
    ///   - arguments: The words after the program's name.
    ///   - input: The path of a file that it reads as standard input; nil for the test's own.
    ///   - reads: Whether anybody reads its output; if not, the pipe is closed before it starts.
    /// - Throws: When it cannot be started.
    init(_ arguments: [String], input: String? = nil, reads: Bool = true) throws {
        var out: [Int32] = [0, 0]
        var err: [Int32] = [0, 0]
        // Close-on-exec from the beginning: children of parallel tests must not hold each other's ends.
        let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        let areMade = socketpair(AF_UNIX, kind, 0, &out) == 0 && socketpair(AF_UNIX, kind, 0, &err) == 0
        try #require(areMade)
        if !reads { close(out[0]) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        if let input { posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, input, O_RDONLY, 0) }
        posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO)
        posix_spawn_file_actions_adddup2(&actions, err[1], STDERR_FILENO)
        // The test's own threads block or ignore signals that mean something to the child.
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var defaults = sigset_t()
        sigemptyset(&defaults)
        sigaddset(&defaults, SIGPIPE)
        sigaddset(&defaults, SIGINT)
        posix_spawnattr_setsigdefault(&attributes, &defaults)
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK))
        let path = try Self.programPath()
        let words = Self.copies([path] + arguments)
        defer { for word in words { free(word) } }
        let variables = Self.copies(["PATH=/usr/bin:/bin", "LC_ALL=C", "HOME=/nonexistent"])
        defer { for variable in variables { free(variable) } }
        var child: pid_t = 0
        let result = posix_spawn(&child, path, &actions, &attributes, words, variables)
        close(out[1])
        close(err[1])
        try #require(result == 0, "cannot start \(path): \(result)")
        pid = child
        output = reads ? out[0] : -1
        error = err[0]
    }

    private static func copies(_ texts: [String]) -> [UnsafeMutablePointer<CChar>?] {
        texts.map { strdup($0) } + [nil]
    }

    /// Waits for a line of the output.
    func firstLine() -> String {
        var line: [UInt8] = []
        var byte: UInt8 = 0
        while read(output, &byte, 1) == 1, byte != 0x0a { line.append(byte) }
        return String(decoding: line, as: UTF8.self)
    }

    /// Waits for the end; gives what is left of both streams.
    func finish() -> (output: String, error: String, ending: Ending) {
        let out = output >= 0 ? Self.drain(output) : ""
        let err = Self.drain(error)
        var status: Int32 = 0
        while waitpid(pid, &status, 0) < 0, errno == EINTR {}
        let signal = status & 0x7f
        return (out, err, signal == 0 ? .exit((status >> 8) & 0xff) : .signal(signal))
    }

    private static func drain(_ descriptor: Int32) -> String {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = read(descriptor, &buffer, buffer.count)
            guard count > 0 else { break }
            bytes += buffer[..<count]
        }
        close(descriptor)
        return String(decoding: bytes, as: UTF8.self)
    }
}
