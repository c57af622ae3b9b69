import Glibc
import HostsModel
import HostsTestSupport
import Testing

@testable import HostsSSH

/// When ssh is asked again, counted by a program in its place that writes down each run.
struct DestinationCacheTests {
    private final class Bench: Sendable {
        let folder: TemporaryFolder
        let clock = ManualClock()
        let cache: DestinationCache
        let settings: LinkSettings
        private let resources: LinkResources

        init(_ config: String?, change: (inout LinkSettings) -> Void = { _ in }) throws {
            folder = try TemporaryFolder()
            let script = "#!/bin/sh\necho \"$*\" >>\(folder.path("runs"))\nexec ssh \"$@\"\n"
            let program = try folder.write("ssh", script, mode: 0o700)
            try folder.write("runs", "")
            if let config { try folder.write("config", config) }
            settings = LinkFixture.settings(config: folder.path("config")) {
                $0.sshProgram = program
                change(&$0)
            }
            cache = DestinationCache(clock: clock)
            resources = LinkResources(loop: LinkFixture.loop, destinations: cache)
        }

        func resolve(_ name: String = "box", _ settings: LinkSettings? = nil) async throws -> Destination {
            try await DestinationResolver(settings: settings ?? self.settings, resources: resources)
                .resolve(name)
        }

        func runs() throws -> Int { try folder.read("runs").split(separator: "\n").count }

        func hasChanged() async -> Bool {
            await resources.hasConfigurationChanged(within: .seconds(60))
        }
    }

    @Test func `a destination is asked for once`() async throws {
        let bench = try Bench("User a\n")
        let first = try await bench.resolve()
        #expect(try await bench.resolve() == first)
        #expect(try bench.runs() == 1)
        _ = try await bench.resolve("other")
        #expect(try bench.runs() == 2)
        var settings = bench.settings
        settings.environment["SSH_AUTH_SOCK"] = "/agent"
        #expect(try await bench.resolve("box", settings).agent == .usual)
        #expect(try bench.runs() == 3)
        bench.cache.invalidate()
        #expect(bench.cache.count == 0)
        _ = try await bench.resolve()
        #expect(try bench.runs() == 4)
    }

    @Test(arguments: [
        "echo User b >config", "echo User b >new && mv new config",
        "echo Host x >>conf.d/1.conf", "echo User b >conf.d/2.conf", "rm conf.d/1.conf",
        "mkdir conf.d/sub && echo User b >conf.d/sub/x", "echo User b >absent", "chmod 400 conf.d/1.conf",
        "echo User b >linked",
    ])
    func `every change of a file that ssh reads is seen`(change: String) async throws {
        let bench = try Bench(nil)
        let path = bench.folder.path("")
        try bench.folder.makeFolder("conf.d")
        try bench.folder.write("conf.d/1.conf", "Host y\n")
        try bench.folder.write("linked", "Host z\n")
        try bench.folder.write(
            "config",
            "Host none\n Include \(path)conf.d/*.conf\ninclude=\"\(path)absent\" \(path)link\n"
                + "Include \(path)conf.d/*/x\nHost *\n User a\n")
        #expect(symlink(bench.folder.path("linked"), bench.folder.path("link")) == 0)
        _ = try await bench.resolve()
        _ = try await bench.resolve()
        #expect(try bench.runs() == 1)
        #expect(await !bench.hasChanged())
        _ = try await Tool.run("sh", ["-c", "cd \(path) && \(change)"])
        _ = try await bench.resolve()
        #expect(try bench.runs() == 2)
        #expect(await bench.hasChanged())
        #expect(await !bench.hasChanged())
        _ = try await bench.resolve()
        #expect(try bench.runs() == 2)
    }

    @Test func `other files of a watched folder are no change of the configuration`() async throws {
        let bench = try Bench(nil)
        try bench.folder.write("config", "Include \(bench.folder.path("*.conf"))\nUser a\n")
        _ = try await bench.resolve()
        #expect(bench.cache.watchedFolders.contains(bench.folder.path))
        try bench.folder.write("known_hosts", "x")
        #expect(await !bench.hasChanged())
        try bench.folder.write("new.conf", "User b\n")
        #expect(await bench.hasChanged())
        #expect(bench.cache.watchedPaths.contains(bench.folder.path("new.conf")))
        #expect(await !bench.hasChanged())
    }

    @Test func `a change while ssh runs is seen the next time`() async throws {
        let bench = try Bench("User a\n")
        let path = bench.folder.path("config")
        try bench.folder.write(
            "ssh", "#!/bin/sh\necho run >>\(bench.folder.path("runs"))\nssh \"$@\" && echo User b >\(path)\n",
            mode: 0o700)
        #expect(try await bench.resolve().user == "a")
        #expect(try await bench.resolve().user == "b")
        let runs = try bench.runs()
        #expect(runs == 2)
    }

    @Test(arguments: [
        "Match exec true\n", "match host x !EXEC \"false\"\n", "Match exec=\"false\"\n",
        "CanonicalizeHostname always\n",
    ])
    func `what depends on more than files is asked for each time`(config: String) async throws {
        let bench = try Bench(config)
        _ = try await bench.resolve("localhost")
        _ = try await bench.resolve("localhost")
        #expect(try bench.runs() == 2)
        #expect(bench.cache.count == 0)
    }

    @Test func `an answer is believed for ten minutes`() async throws {
        let bench = try Bench("")
        _ = try await bench.resolve()
        bench.clock.advance(by: .seconds(599))
        _ = try await bench.resolve()
        #expect(try bench.runs() == 1)
        bench.clock.advance(by: .seconds(1))
        _ = try await bench.resolve()
        _ = try await bench.resolve()
        #expect(try bench.runs() == 2)
    }

    @Test func `errors are not kept, but what would mend them is watched`() async throws {
        let bench = try Bench("Usr a\n")
        for _ in 0..<2 { await #expect(throws: LinkError.self) { try await bench.resolve() } }
        #expect(try bench.runs() == 2)
        #expect(bench.cache.watchedPaths == [bench.folder.path("config")])
        #expect(bench.cache.watchedFolders == [bench.folder.path])
        #expect(await !bench.hasChanged())
        try bench.folder.write("config", "User a\n")
        // Another host that sees the change first does not hide it.
        #expect(try await bench.resolve("other").user == "a")
        #expect(await bench.hasChanged())
    }

    @Test func `what was not seen coming is not kept`() async throws {
        let bench = try Bench("")
        let other = try bench.folder.write("other", "User other\n")
        try bench.folder.write(
            "ssh", "#!/bin/sh\necho run >>\(bench.folder.path("runs"))\nexec ssh -v -F \(other) -G box\n",
            mode: 0o700)
        #expect(try await bench.resolve().user == "other")
        #expect(bench.cache.count == 0)
    }

    @Test func `the personal and the system's file count while they are absent`() async throws {
        let home = try TemporaryFolder()
        let files = ConfigurationFiles(.init(configFile: nil, home: home.path))
        #expect(files.covers([home.path("/.ssh/config"), "/etc/ssh/ssh_config"]))
        #expect(files.isCurrent)
        try home.makeFolder(".ssh")
        #expect(files.isCurrent)
        try home.write(".ssh/config", "Include conf.d/* ~/x ~root/y\n")
        #expect(!files.isCurrent)
        let new = ConfigurationFiles(.init(configFile: nil, home: home.path))
        #expect(new.covers([home.path("x"), "/root/y"]))
        #expect(new.folders.contains(home.path(".ssh/conf.d")))
        #expect(ConfigurationFiles(.init(configFile: "none", home: home.path)).stamps.isEmpty)
    }

    @Test func `an include of itself ends`() throws {
        let folder = try TemporaryFolder()
        let file = try folder.write(
            "config", "Include \(folder.path("c*"))\nInclude \(folder.path("config"))\n")
        let files = ConfigurationFiles(.init(configFile: file, home: "/"))
        #expect(files.covers([file]))
    }

    @Test func `no more is kept than the limit`() throws {
        let cache = DestinationCache(clock: ManualClock())
        let settings = LinkFixture.settings(config: "none")
        let configuration = try #require(SSHConfiguration(output: "hostname h\nuser u\nport 22\n"))
        let destination = try Destination(name: "h", configuration: configuration, settings: settings)
        let files = ConfigurationFiles(.init(configFile: "none", home: "/"))
        for number in 0..<DestinationCache.capacity + 3 {
            cache.store(destination, for: .init(.init("h\(number)"), settings), files: files)
        }
        #expect(cache.count == DestinationCache.capacity)
    }

    @Test(arguments: [
        ("Include a b", ["Include", "a", "b"]),
        ("  Include\t=  \"a b\" 'c d' # x", ["Include", "a b", "c d"]),
        ("Include=a", ["Include", "a"]), ("Include a\\ b", ["Include", "a b"]), ("# Include a", []),
        ("Include a#b", ["Include", "a#b"]), ("Match exec=\"x y\"", ["Match", "exec=x y"]), ("", []),
        ("Include \"\"", ["Include", ""]), ("Include a=b", ["Include", "a=b"]),
    ])
    func `a line is taken apart as ssh does`(line: String, words: [String]) {
        #expect(ConfigurationFiles.words(line) == words)
    }
}
