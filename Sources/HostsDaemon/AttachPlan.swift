import HostsAPI
import HostsModel

/// What `hostsctl attach` starts: the person's own ssh, or a program on this machine.
///
/// A remote command consists of fixed words, the path of a tmux socket and the id of a pane, which were observed on the
/// host itself. No name, label or text of the person's is ever in it.
struct AttachPlan: Hashable, Sendable {
    /// The name of the tmux session that `session_restore = "tmux"` attaches to.
    static let restoredSession = "hostsd"

    /// The program and its arguments; empty for a login shell on this machine.
    let arguments: [String]

    /// Plans a shell, or the tmux session that is restored.
    ///
    /// - Parameters:
    ///   - record: The host.
    ///   - ssh: The program.
    ///   - configFile: What `ssh -F` gets; nil for ssh's own choice.
    init(_ record: HostRecord, ssh: String, configFile: String?) {
        let tmux = ["tmux", "new-session", "-A", "-s", Self.restoredSession]
        switch (record.transport, record.sessionRestore) {
        case (.local, .none): arguments = []
        case (.local, .tmux): arguments = tmux
        case (.auto, .none), (.libssh2, .none), (.openssh, .none):
            arguments = Self.login(record, ssh, configFile, nil)
        case (.auto, .tmux), (.libssh2, .tmux), (.openssh, .tmux):
            arguments = Self.login(record, ssh, configFile, tmux.joined(separator: " "))
        }
    }

    /// Plans the pane of an agent.
    ///
    /// - Parameters:
    ///   - place: Where the agent was seen.
    ///   - record: The host.
    ///   - ssh: The program.
    ///   - configFile: What `ssh -F` gets; nil for ssh's own choice.
    /// - Throws: When the agent is not in tmux, or what the host says of its place cannot be used.
    init(_ place: Place, on record: HostRecord, ssh: String, configFile: String?) throws(Refusal) {
        guard let socket = place.socket, let pane = place.pane else { throw .notInTmux }
        guard Self.isPane(pane), Self.isSocket(socket) else { throw .badPlace }
        // attach-session would start a server where none runs; has-session never does (tmux 3.3a).
        let server = "tmux -u -S \(Self.quoted(socket))"
        let command =
            "\(server) has-session -t \(pane) && exec \(server) attach-session -t \(pane)"
        arguments =
            record.transport == .local
            ? ["/bin/sh", "-c", command] : Self.login(record, ssh, configFile, command)
    }

    /// Why there is no plan for an agent.
    enum Refusal: Error, Hashable, Sendable {
        case notInTmux
        case badPlace
    }

    private static func login(
        _ record: HostRecord, _ ssh: String, _ configFile: String?, _ command: String?
    ) -> [String] {
        let file = configFile.map { ["-F", $0] } ?? []
        // ssh refuses a command beside the RemoteCommand of its configuration.
        let options = command == nil ? [] : ["-o", "RemoteCommand=none"]
        return [ssh, "-t"] + file + options + ["--", record.destination] + (command.map { [$0] } ?? [])
    }

    /// As tmux names panes: `%` and a number.
    private static func isPane(_ text: String) -> Bool {
        let digits = text.utf8.dropFirst()
        return text.utf8.first == UInt8(ascii: "%") && (1...10).contains(digits.count)
            && digits.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    }

    /// An absolute path that fits into a socket's address and that no terminal takes for a command.
    private static func isSocket(_ path: String) -> Bool {
        path.hasPrefix("/") && path.utf8.count < 108
            && path.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }
    }

    /// One word of a POSIX shell, whatever it holds.
    private static func quoted(_ text: String) -> String {
        "'" + text.replacing("'", with: #"'\''"#) + "'"
    }
}
