import HostsModel
import HostsPOSIX

/// A ProxyCommand: a program of the person whose standard input and output lead to the server.
final class ProxyCommandConduit: Conduit {
    /// The shell where the environment names none.
    private static let defaultShell = "/bin/sh"
    /// How long the command gets to end after its socket has.
    private static let lastWordsTimeout = Duration.seconds(1)

    /// The command's first word, for people.
    private let name: String
    private let child: LinkChild
    private let loop: EventLoop

    private init(name: String, child: LinkChild, loop: EventLoop) {
        self.name = name
        self.child = child
        self.loop = loop
    }

    /// Starts a command as ssh does: `$SHELL -c "exec COMMAND"` (ssh_config(5), ProxyCommand).
    ///
    /// Called on the loop's thread. Whether the command works is seen by who talks through it.
    ///
    /// - Parameters:
    ///   - command: With its tokens filled in.
    ///   - address: Where it leads, for people; nil where that is not known.
    ///   - environment: That of the person's session; `SHELL` in it names the shell.
    ///   - loop: Where it is watched.
    /// - Returns: A socket to the command, which ends when the carrier's conduit is closed.
    /// - Throws: `.programFailed` when the shell cannot be started.
    static func open(
        command: String, to address: String? = nil, environment: [String: String], loop: EventLoop
    ) throws(LinkError) -> Carrier {
        let name = firstWord(command)
        // As in ssh, an empty SHELL counts as none.
        let shell = environment["SHELL"].flatMap { $0.isEmpty ? nil : $0 } ?? defaultShell
        let started: LinkChild.Started
        do {
            started = try LinkChild.start(
                LinkChild.Command(
                    program: shell, arguments: ["-c", "exec \(command)"],
                    environment: variables(environment),
                    errorOutput: .kept, farewell: .politely),
                on: loop)
        } catch {
            throw .programFailed(
                name: "ProxyCommand \(name)", detail: "\(shell): \(SystemError.text(error.code))")
        }
        let conduit = ProxyCommandConduit(name: name, child: started.child, loop: loop)
        return Carrier(
            socket: started.takeSocket(),
            address: address.map { "\($0) by way of \(name)" } ?? "by way of \(name)",
            conduit: conduit)
    }

    /// The environment, in which the shell is not the first one.
    ///
    /// A bash whose input is a socket takes itself for the child of rshd and reads `~/.bashrc`, unless SHLVL says
    /// that a shell has started it (bash(1), INVOCATION); what that file prints would go to the server. ssh has
    /// pipes there.
    private static func variables(_ environment: [String: String]) -> [String: String] {
        environment.merging(["SHLVL": "1"]) { present, least in (Int(present) ?? 0) >= 1 ? present : least }
    }

    func close() { child.end() }

    /// Waits until the command has ended, for a second at most: its socket ends a moment before itself.
    ///
    /// For whoever has seen the socket end; `lastWords` are complete then. Callable from any thread.
    func untilEnded() async {
        await withCheckedContinuation { continuation in
            loop.execute { [child] in
                child.whenEnded(within: Self.lastWordsTimeout) { continuation.resume() }
            }
        }
    }

    func ending(_ stage: LinkError.Stage) -> LinkError? {
        let words = lastWords
        guard !words.isEmpty, words != "exit 0" else { return nil }
        return .programFailed(name: "ProxyCommand \(name)", detail: words)
    }

    /// The last lines of its standard error, and its exit status; empty when nothing is known.
    var lastWords: String {
        let said = child.errorTail.split { $0 == 0x0a || $0 == 0x0d }.suffix(Self.lastLines)
            .map { SafeText.visible(bytes: $0) }.filter { !$0.isEmpty }
        let words = said.joined(separator: "; ")
        let end: String? =
            switch child.ending {
            case .exited(let status): "exit \(status)"
            case .signalled(let number): "signal \(number)"
            case .lost, nil: nil
            }
        guard let end else { return words }
        return words.isEmpty ? end : "\(words) (\(end))"
    }

    private static let lastLines = 3

    private static func firstWord(_ command: String) -> String {
        let words = command.split { $0 == " " || $0 == "\t" }.map(String.init)
        // Some write it themselves.
        let word = words.first { $0 != "exec" } ?? "ProxyCommand"
        return SafeText.visible(word, limit: 80)
    }
}
