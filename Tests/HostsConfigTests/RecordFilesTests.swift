import Glibc
import HostsModel
import HostsTestSupport
import Testing

@testable import HostsConfig

/// Records that are made and put aside.
@Suite struct RecordFilesTests {
    private let folder: TemporaryFolder
    private let writer: OverrideWriter
    private let paths: Paths

    init() throws {
        folder = try TemporaryFolder.withConfiguration()
        paths = Paths(
            configuration: folder.path + "/config", state: folder.path + "/state",
            socket: folder.path + "/run/api.sock")
        writer = OverrideWriter(paths: paths)
    }

    private func names() throws -> [String] { try folder.names(in: "config/hosts.d") }

    private func load() -> Configuration {
        ConfigurationLoader.load(ConfigurationReader(directory: paths.configuration).readBlocking())
    }

    private static func error(_ body: () async throws(OverrideError) -> Void) async -> OverrideError? {
        do throws(OverrideError) {
            try await body()
            return nil
        } catch {
            return error
        }
    }

    // MARK: add

    @Test func `a record is made with its keys, and what is read is what was given`() async throws {
        let addition = try await writer.add(
            "dev",
            [
                .destination("me@dev"), .label("D \"1\""), .enabled(false), .backgroundKeepAlive(true),
                .sessionRestore(.tmux), .transport(.openssh), .tags(["ml", "office"]),
            ])
        #expect(addition.path == paths.hosts + "/dev.toml")
        #expect(
            try folder.read("config/hosts.d/dev.toml") == """
                # Made by hostsctl add; yours to edit.
                ssh = "me@dev"
                label = "D \\"1\\""
                enabled = false
                background_keep_alive = true
                session_restore = "tmux"
                transport = "openssh"
                tags = ["ml", "office"]

                """)
        #expect(try names() == ["dev.toml"])
        #expect(try folder.mode(of: "config/hosts.d/dev.toml") == 0o600)
        #expect(
            load().records[HostID("dev")]
                == HostRecord(
                    id: HostID("dev"), destination: "me@dev", label: "D \"1\"", isEnabled: false,
                    backgroundKeepAlive: true, sessionRestore: .tmux, transport: .openssh,
                    tags: ["ml", "office"]))
    }

    @Test(arguments: ["record", "broken record", "dangling link"])
    func `what is there is never replaced`(kind: String) async throws {
        let path = "config/hosts.d/dev.toml"
        switch kind {
        case "record": try folder.write(path, "ssh = 'mine'")
        case "broken record": try folder.write(path, "ssh = ")
        default: try folder.link(path, to: folder.path + "/nowhere")
        }
        let error = await Self.error { () async throws(OverrideError) in
            _ = try await writer.add("dev", [.destination("other")])
        }
        #expect(error == .hostExists(HostID("dev"), path: paths.hosts + "/dev.toml"))
        #expect(try names() == ["dev.toml"])
        if kind == "record" { #expect(try folder.read(path) == "ssh = 'mine'") }
    }

    @Test func `of two that make the same record one is told that it is there`() async throws {
        let writer = writer
        let made = await withTaskGroup(of: Bool.self) { group in
            for number in 0..<8 {
                group.addTask {
                    (try? await writer.add("dev", [.destination("d\(number)")])) != nil
                }
            }
            return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        #expect(made == 1)
        #expect(try names() == ["dev.toml"])
    }

    @Test func `a file that comes while the record is made is not replaced`() throws {
        let path = paths.hosts + "/dev.toml"
        try folder.write("config/hosts.d/dev.toml", "ssh = 'synced'")
        #expect(try AtomicFile(path: path, modeOf: path).create(Array("ssh = 'x'".utf8)) == false)
        #expect(try folder.read("config/hosts.d/dev.toml") == "ssh = 'synced'")
        #expect(try names() == ["dev.toml"])
    }

    @Test(arguments: ["", "Dev", "a b", "../x", "-x", "x.override", String(repeating: "x", count: 64)])
    func `a name that no host can have is refused`(name: String) async throws {
        let error = await Self.error { () async throws(OverrideError) in
            _ = try await writer.add(name, [.destination("d")])
        }
        #expect(error?.code == "host.bad-name")
        #expect(error?.description.contains("1 to 63 characters of a-z 0-9 . _ -") == true)
        #expect(try names() == [])
    }

    @Test func `disabled hosts count against the limit, and nothing is written beyond it`() async throws {
        try folder.write("config/hostsd.toml", "[limits]\nmax_hosts = 2")
        try folder.write("config/hosts.d/a.toml", "ssh = 'a'\nenabled = false")
        _ = try await writer.add("b", [.destination("b")])
        let error = await Self.error { () async throws(OverrideError) in
            _ = try await writer.add("c", [.destination("c")])
        }
        #expect(
            error?.description
                == "there are 2 hosts, disabled ones included, and limits.max_hosts is 2: "
                + "remove one, or raise the limit in hostsd.toml")
        #expect(try names() == ["a.toml", "b.toml"])
    }

    @Test func `an override without a record does not change a new host in secret`() async throws {
        try folder.write("config/hosts.d/dev.override.toml", "ssh = 'elsewhere'")
        let error = await Self.error { () async throws(OverrideError) in
            _ = try await writer.add("dev", [.destination("dev")])
        }
        #expect(error == .overrideLeft(path: paths.hosts + "/dev.override.toml"))
        #expect(try names() == ["dev.override.toml"])
    }

    @Test func `the first record is told to replace this machine, whose own override goes on`() async throws {
        try folder.write("config/hosts.d/local.override.toml", "enabled = false")
        #expect(try await writer.add("local", [.transport(.local)]).replaced == nil)
        #expect(load().records[HostID("local")]?.isEnabled == false)
        _ = try await writer.remove(HostID("local"))
        #expect(try await writer.add("dev", [.destination("dev")]).replaced == HostID("local"))
        #expect(try await writer.add("gpu", [.destination("gpu")]).replaced == nil)
    }

    @Test func `a value that the loader refuses is not written`() async throws {
        let error = await Self.error { () async throws(OverrideError) in
            _ = try await writer.add("dev", [.destination("-oProxyCommand=x")])
        }
        #expect(error?.code == "config.bad-value")
        #expect(try names() == [])
    }

    // MARK: remove

    @Test func `a removed host keeps its files under names that are not read`() async throws {
        try folder.write("config/hosts.d/dev.toml", "# mine\nssh = 'dev'")
        try folder.write("config/hosts.d/dev.override.toml", "enabled = false")
        try folder.write("config/hosts.d/gpu.toml", "ssh = 'gpu'")
        let first = try await writer.remove(HostID("dev"))
        #expect(first.record == paths.hosts + "/dev.toml.removed")
        #expect(first.override == paths.hosts + "/dev.override.toml.removed")
        #expect(try folder.read("config/hosts.d/dev.toml.removed") == "# mine\nssh = 'dev'")
        let configuration = load()
        #expect(configuration.records.keys.sorted() == [HostID("gpu")])
        #expect(configuration.diagnostics == [])
        // What was removed before is not lost either.
        try folder.write("config/hosts.d/dev.toml", "ssh = 'second'")
        let second = try await writer.remove(HostID("dev"))
        #expect(second.record == paths.hosts + "/dev.toml.removed.2")
        #expect(second.override == nil)
        #expect(try folder.read("config/hosts.d/dev.toml.removed") == "# mine\nssh = 'dev'")
        #expect(load().diagnostics == [])
    }

    @Test func `of a record that is a symbolic link the link is put aside, not what it leads to`()
        async throws
    {
        try folder.makeFolder("dotfiles")
        try folder.write("dotfiles/dev.toml", "ssh = 'dev'")
        try folder.link("config/hosts.d/dev.toml", to: folder.path + "/dotfiles/dev.toml")
        let removal = try await writer.remove(HostID("dev"))
        #expect(try names() == ["dev.toml.removed"])
        #expect(try folder.read("dotfiles/dev.toml") == "ssh = 'dev'")
        var status = stat()
        #expect(lstat(removal.record, &status) == 0 && status.st_mode & S_IFMT == S_IFLNK)
    }

    @Test func `a broken record can be removed, what is no host cannot`() async throws {
        #expect(
            await Self.error { () async throws(OverrideError) in _ = try await writer.remove(HostID("local"))
            }
                == .implicitHost(HostID("local")))
        try folder.write("config/hosts.d/dev.toml", "ssh = ")
        _ = try await writer.remove(HostID("dev"))
        #expect(
            await Self.error { () async throws(OverrideError) in _ = try await writer.remove(HostID("dev")) }
                == .noSuchHost(HostID("dev"), folder: paths.hosts))
    }

    // MARK: set

    @Test func `several keys are written at once, and taken away again`() async throws {
        try folder.write("config/hosts.d/dev.toml", "ssh = 'dev'\nlabel = 'Mine'")
        let edits: [RecordEdit] = [
            .put(.label("Other")), .put(.tags(["a", "b"])), .put(.destination("dev2")),
        ]
        #expect(
            try await writer.edit(edits, of: HostID("dev"))
                == .written(path: paths.hosts + "/dev.override.toml"))
        #expect(try await writer.edit(edits, of: HostID("dev")) == .unchanged)
        let record = try #require(load().records[HostID("dev")])
        #expect(record.label == "Other")
        #expect(record.destination == "dev2")
        #expect(record.tags == ["a", "b"])
        _ = try await writer.edit(
            [.takeAway(key: "label"), .put(.enabled(false)), .takeAway(key: "ssh")], of: HostID("dev"))
        #expect(
            try folder.read("config/hosts.d/dev.override.toml").split(separator: "\n").dropFirst().sorted()
                == ["enabled = false", "tags = [\"a\", \"b\"]"])
        #expect(load().records[HostID("dev")]?.label == "Mine")
        #expect(try await writer.edit([.takeAway(key: "label")], of: HostID("dev")) == .unchanged)
    }

    @Test func `what would leave the host unusable is not written, and neither is the rest`() async throws {
        try folder.write("config/hosts.d/here.toml", "transport = 'local'")
        let error = await Self.error { () async throws(OverrideError) in
            _ = try await writer.edit(
                [.put(.label("x")), .put(.transport(.auto))], of: HostID("here"))
        }
        #expect(error?.code == "config.bad-value")
        #expect(error?.description.contains("the key \"ssh\" is missing") == true)
        #expect(try names() == ["here.toml"])
    }

    @Test func `an array of several lines and a comment are taken away and left alone`() async throws {
        try folder.write("config/hosts.d/dev.toml", "ssh = 'dev'")
        try folder.write(
            "config/hosts.d/dev.override.toml", "# why\ntags = [\n  'a',\n  'b',\n]\nenabled = false\n")
        _ = try await writer.edit([.takeAway(key: "tags")], of: HostID("dev"))
        #expect(try folder.read("config/hosts.d/dev.override.toml") == "# why\nenabled = false\n")
    }

    // MARK: values

    struct Value: Sendable {
        let key: String
        let text: String
        let change: RecordChange?
        var error = ""
    }

    @Test(arguments: [
        Value(key: "ssh", text: "me@h", change: .destination("me@h")),
        Value(key: "label", text: "Dev box", change: .label("Dev box")),
        Value(key: "enabled", text: "false", change: .enabled(false)),
        Value(key: "background_keep_alive", text: "true", change: .backgroundKeepAlive(true)),
        Value(key: "session_restore", text: "tmux", change: .sessionRestore(.tmux)),
        Value(key: "transport", text: "local", change: .transport(.local)),
        Value(key: "tags", text: "a,b", change: .tags(["a", "b"])),
        Value(
            key: "enabled", text: "yes", change: nil,
            error: "enabled=yes: enabled takes true or false"),
        Value(
            key: "transport", text: "opensh", change: nil,
            error: "transport=opensh: \"opensh\" is no transport (auto, libssh2, openssh, local), "
                + "did you mean \"openssh\"?; transport takes one of auto, libssh2, openssh, local"),
        Value(
            key: "ssh", text: "-x", change: nil,
            error: "ssh=-x: a destination cannot begin with \"-\": ssh would take it for an option; "
                + "ssh takes a text"),
        Value(
            key: "tags", text: "a,,b", change: nil,
            error: "tags=a,,b: the tag is empty; tags takes at most 16 words with commas between them"),
        Value(
            key: "enabeld", text: "true", change: nil,
            error: "there is no key \"enabeld\", did you mean \"enabled\"? "
                + "(keys: ssh, label, enabled, background_keep_alive, session_restore, transport, tags)"),
        Value(
            key: "zzzzzz", text: "1", change: nil,
            error: "there is no key \"zzzzzz\" "
                + "(keys: ssh, label, enabled, background_keep_alive, session_restore, transport, tags)"),
    ])
    func `typed values are read by the rules of the file`(_ value: Value) {
        do throws(RecordValueError) {
            let change = try RecordChange(value.key, .typed(value.text))
            #expect(change == value.change)
        } catch {
            #expect(error.message == value.error)
        }
    }

    @Test func `every key of a record has a change`() throws {
        let samples = [
            "ssh": "h", "label": "l", "enabled": "true", "background_keep_alive": "true",
            "session_restore": "none", "transport": "auto", "tags": "t",
        ]
        #expect(Set(samples.keys) == Set(RecordChange.keys))
        for key in RecordChange.keys {
            #expect(try RecordChange(key, .typed(try #require(samples[key]))).key == key)
        }
    }
}
