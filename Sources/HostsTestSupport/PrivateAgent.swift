/// A real ssh-agent of one test.
package final class PrivateAgent: Sendable {
    private let folder: TemporaryFolder
    private let process: BackgroundProcess

    /// The path of its socket.
    package let socket: String

    /// Starts an empty agent; it listens when this returns.
    package init() async throws {
        folder = try TemporaryFolder()
        socket = folder.path("agent")
        process = try BackgroundProcess("ssh-agent", ["-D", "-a", socket], environment: Tool.environment)
        // Printed after the socket was made.
        try await process.log.until("SSH_AUTH_SOCK")
    }

    /// Adds a key that has no passphrase.
    package func add(_ path: String) async throws { try await sshAdd(["-q", path]) }

    /// Locks it: it then offers no keys.
    package func lock() async throws { try await sshAdd(["-x"]) }

    /// Unlocks it.
    package func unlock() async throws { try await sshAdd(["-X"]) }

    /// Ends it.
    package func stop() { process.stop() }

    private func sshAdd(_ arguments: [String]) async throws {
        let answer = try folder.write("askpass", "#!/bin/sh\necho secret\n", mode: 0o700)
        try await Tool.run(
            "ssh-add", arguments,
            environment: ["SSH_AUTH_SOCK": socket, "SSH_ASKPASS": answer, "SSH_ASKPASS_REQUIRE": "force"])
    }
}
