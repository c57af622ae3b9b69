/// Which program a process runs, read from its arguments: through interpreters, wrappers and versioned paths.
struct CommandLine: Hashable {
    /// The whole path of the program, or of the script that an interpreter runs.
    let path: String
    /// Its base name, without login dash, wrapper dots and the endings of scripts.
    let name: String
    /// What follows it.
    let arguments: [String]
    /// A shell or a launcher runs it: the program proper may be a child.
    let isWrapper: Bool

    /// Reads the arguments of a process; nil where they name no program, as in `sh -c '...'`.
    init?(of process: ProcessRecord) {
        guard let first = process.arguments.first, !first.isEmpty else {
            // A renamed main thread, or a kernel thread: only the kernel's name is left.
            guard !process.name.isEmpty else { return nil }
            self.init(path: process.name, arguments: [], isWrapper: false)
            return
        }
        let program = Self.baseName(first)
        guard let interpreter = Interpreter(name: program) else {
            self.init(path: first, arguments: Array(process.arguments.dropFirst()), isWrapper: false)
            return
        }
        guard let (path, rest) = interpreter.script(in: Array(process.arguments.dropFirst())) else {
            return nil
        }
        self.init(path: path, arguments: rest, isWrapper: interpreter == .shell || interpreter == .launcher)
    }

    private init(path: String, arguments: [String], isWrapper: Bool) {
        self.path = path
        name = Self.baseName(path)
        self.arguments = arguments
        self.isWrapper = isWrapper
    }

    /// The first argument that is no option.
    var command: String? { arguments.first { !$0.hasPrefix("-") } }

    /// `-/opt/bin/.claude-wrapped` and `/x/claude.js` are both `claude`.
    static func baseName(_ path: String) -> String {
        var name = path.split(separator: "/").last.map(String.init) ?? path
        if name.hasPrefix("-") { name.removeFirst() }
        if name.hasPrefix("."), name.hasSuffix("-wrapped") { name = String(name.dropFirst().dropLast(8)) }
        for ending in [".js", ".mjs", ".cjs", ".exe", ".py"] where name.hasSuffix(ending) {
            name.removeLast(ending.count)
            break
        }
        return name
    }
}

/// A program that runs another one named by its arguments.
private enum Interpreter {
    case node, python, shell, launcher

    init?(name: String) {
        switch name {
        case "node", "nodejs", "MainThread", "bun", "deno", "tsx": self = .node
        case "sh", "bash", "dash", "zsh", "ash", "ksh", "busybox": self = .shell
        case "npx", "bunx", "uvx", "env", "sudo", "nice", "nohup", "timeout": self = .launcher
        default:
            guard name.hasPrefix("python") else { return nil }
            let version = name.dropFirst(6)
            guard version.allSatisfy({ $0.isNumber || $0 == "." }) else { return nil }
            self = .python
        }
    }

    /// The script and what follows it; nil where the program text itself stands in the arguments.
    func script(in arguments: [String]) -> (path: String, rest: [String])? {
        var index = 0
        while index < arguments.count {
            let argument = arguments[index]
            guard argument.hasPrefix("-") || isSkipped(argument) else {
                return (argument, Array(arguments[(index + 1)...]))
            }
            if hasPayload(argument) { return nil }
            // `python -m aider`: the module is the program.
            if self == .python, argument == "-m" {
                guard index + 1 < arguments.count else { return nil }
                return (arguments[index + 1], Array(arguments[(index + 2)...]))
            }
            index += takesValue(argument) ? 2 : 1
        }
        return nil
    }

    private func hasPayload(_ option: String) -> Bool {
        switch self {
        case .node: ["-e", "--eval", "-p", "--print", "-pe"].contains(option)
        case .python: option == "-c"
        case .shell: !option.hasPrefix("--") && option.dropFirst().contains("c")
        case .launcher: false
        }
    }

    private func takesValue(_ option: String) -> Bool {
        switch self {
        case .node: ["-r", "--require", "--import", "--loader"].contains(option)
        case .python: ["-W", "-X"].contains(option)
        case .shell: option == "-o"
        case .launcher: ["-u", "-g", "-n", "-k", "-s", "-p", "--package"].contains(option)
        }
    }

    // `bun run x`, `env NAME=value x`, `timeout 5 x` and `busybox sh x`.
    private func isSkipped(_ argument: String) -> Bool {
        switch self {
        case .node: argument == "run"
        case .python: false
        case .shell: ["sh", "ash"].contains(argument)
        case .launcher: argument.contains("=") || argument.first?.isNumber == true
        }
    }
}
