import HostsModel
import HostsTestSupport
import Testing

@testable import HostsSSH

@Suite struct AgentLocatorTests {
    /// A runtime folder of one person, and a `systemctl` that knows of an agent.
    private struct Bench {
        let folder: TemporaryFolder
        var settings: LinkSettings

        init(managed: String? = nil) async throws {
            folder = try TemporaryFolder()
            try folder.makeFolder("bin")
            try folder.makeFolder("run/gcr")
            settings = LinkSettings(environment: Tool.environment, homeDirectory: "/nonexistent")
            settings.environment["XDG_RUNTIME_DIR"] = folder.path("run")
            guard let managed else { return }
            try folder.write(
                "bin/systemctl",
                "#!/bin/sh\n[ \"$*\" = '--user show-environment' ] || exit 1\necho LANG=C\necho SSH_AUTH_SOCK=\(managed)\n",
                mode: 0o700)
        }

        func locate() async throws -> String? {
            try await AgentLocator(settings: settings, systemctl: folder.path("bin/systemctl")).locate()
        }
    }

    /// Something that listens, as an agent does.
    private func socket(_ path: String) async throws -> BackgroundProcess {
        let agent = try BackgroundProcess("ssh-agent", ["-D", "-a", path], environment: Tool.environment)
        try await agent.log.until("SSH_AUTH_SOCK")
        return agent
    }

    @Test func `without any there is none, and a named one that is not there is named`() async throws {
        var bench = try await Bench()
        #expect(try await bench.locate() == nil)
        bench.settings.environment["SSH_AUTH_SOCK"] = "/nonexistent/agent"
        #expect(try await bench.locate() == "/nonexistent/agent")
    }

    @Test func `our own comes first, then the user manager's, then the usual places`() async throws {
        let folder = try TemporaryFolder()
        var bench = try await Bench(managed: folder.path("managed"))
        // Without a user manager nobody is asked.
        let usual = try await socket(bench.folder.path("run/gcr/ssh"))
        defer { usual.stop() }
        #expect(try await bench.locate() == bench.folder.path("run/gcr/ssh"))
        let bus = try await socket(bench.folder.path("run/bus"))
        defer { bus.stop() }
        // What it says is not there.
        #expect(try await bench.locate() == bench.folder.path("run/gcr/ssh"))
        let managed = try await socket(folder.path("managed"))
        defer { managed.stop() }
        #expect(try await bench.locate() == folder.path("managed"))
        // A session that is over leaves its variable behind.
        bench.settings.environment["SSH_AUTH_SOCK"] = "/nonexistent/agent"
        #expect(try await bench.locate() == folder.path("managed"))
        let own = try await socket(folder.path("own"))
        defer { own.stop() }
        bench.settings.environment["SSH_AUTH_SOCK"] = folder.path("own")
        #expect(try await bench.locate() == folder.path("own"))
    }
}
