import HostsModel
import HostsPOSIX

/// A link to this machine: the same shell protocol with a local `/bin/sh`.
typealias LocalLink = ShellLink<LocalShell>

extension ShellLink where Shell == LocalShell {
    init(token: Int, program: ShellProgram, loop: EventLoop) {
        self.init(
            summary: LinkSummary(kind: .local, mode: .persistent, detail: "/bin/sh on this machine"),
            token: token, program: program, loop: loop)
    }

    /// Starts the shell and has it answer once.
    ///
    /// - Throws: The caller then closes the link.
    func open(environment: [String: String], timeout: Duration) async throws(LinkError) {
        try await open(LocalShell(environment: environment), timeout: timeout)
    }
}

/// A `/bin/sh` of our own.
struct LocalShell: ShellProcess {
    private static let path = "/bin/sh"

    let environment: [String: String]

    var command: LinkChild.Command { LinkChild.Command(program: Self.path, environment: environment) }

    func cannotStart(_ error: SystemError) -> LinkError {
        .unreachable(address: Self.path, detail: SystemError.text(error.code))
    }

    func failure(_ end: ShellEnd) -> LinkError {
        .closedByPeer(end.stage, detail: "the local shell ended")
    }
}
