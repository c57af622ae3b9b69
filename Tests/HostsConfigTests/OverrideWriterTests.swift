import FoundationEssentials
import HostsModel
import HostsTestSupport
import Testing

@testable import HostsConfig

@Suite struct OverrideWriterTests {
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

    private func override(_ host: String = "dev") throws -> String {
        try folder.read("config/hosts.d/\(host).override.toml")
    }

    @Test func `a disabled host is disabled in its override, and no other file changes`() async throws {
        let record = "# mine\nssh   =   'dev'   # as is\r\n"
        try folder.write("config/hosts.d/dev.toml", record)
        try folder.setMode(0o640, of: "config/hosts.d/dev.toml")
        let outcome = try await writer.apply([.enabled(false)], to: HostID("dev"))
        #expect(outcome == .written(path: paths.hosts + "/dev.override.toml"))
        #expect(try override() == "# Written by hostsctl; lies over the record beside it.\nenabled = false\n")
        #expect(try folder.read("config/hosts.d/dev.toml") == record)
        #expect(try folder.names(in: "config/hosts.d") == ["dev.override.toml", "dev.toml"])
        #expect(try folder.mode(of: "config/hosts.d/dev.override.toml") == 0o640)
        let snapshot = await ConfigurationReader(directory: paths.configuration).read()
        #expect(ConfigurationLoader.load(snapshot).records[HostID("dev")]?.isEnabled == false)
    }

    @Test func `nothing is written when nothing changes`() async throws {
        try folder.write("config/hosts.d/dev.toml", "ssh = 'dev'\ntags = ['a']")
        let unchanged = try await writer.apply([.enabled(true), .tags(["a"])], to: HostID("dev"))
        #expect(unchanged == .unchanged)
        #expect(try folder.names(in: "config/hosts.d") == ["dev.toml"])
        _ = try await writer.apply([.enabled(false)], to: HostID("dev"))
        let again = try await writer.apply([.enabled(false)], to: HostID("dev"))
        #expect(again == .unchanged)
        _ = try await writer.apply([.enabled(true)], to: HostID("dev"))
        #expect(try override().hasSuffix("enabled = true\n"))
    }

    @Test func `the implicit host can be disabled`() async throws {
        _ = try await writer.apply([.enabled(false)], to: HostID("local"))
        #expect(try override("local").hasSuffix("enabled = false\n"))
    }

    @Test func `the folder of records is made where there is none yet`() async throws {
        if FileManager.default.fileExists(atPath: paths.hosts) {
            try FileManager.default.removeItem(atPath: paths.hosts)
        }
        _ = try await writer.apply([.enabled(false)], to: HostID("local"))
        #expect(try override("local").hasSuffix("enabled = false\n"))
        #expect(try folder.mode(of: "config/hosts.d") == 0o700)
    }

    struct Edit: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let before: String
        let change: RecordChange
        let after: String?

        init(_ description: String, _ before: String, _ change: RecordChange, _ after: String?) {
            testDescription = description
            self.before = before
            self.change = change
            self.after = after
        }
    }

    @Test(arguments: [
        Edit(
            "comments and other keys stay", "# c\nlabel = 'x' # d\nenabled = true # e\nx-by = 'me'\n",
            .enabled(false),
            "# c\nlabel = 'x' # d\nenabled = false\nx-by = 'me'\n"),
        Edit(
            "a new key goes above the first one", "# c\n\nlabel = 'x'\n", .enabled(false),
            "# c\n\nenabled = false\nlabel = 'x'\n"),
        Edit(
            "a new key goes above a table", "# c\n[x-note]\nenabled = true\n", .enabled(false),
            "# c\nenabled = false\n[x-note]\nenabled = true\n"),
        Edit("a file without a last line feed", "label = 'x'", .label("y"), "label = \"y\"\n"),
        Edit(
            "CRLF stays where it is", "label = 'x'\r\ntags = []\r\n", .tags(["a"]),
            "label = 'x'\r\ntags = [\"a\"]\n"),
        Edit("a BOM goes", "\u{feff}label = 'x'\n", .enabled(false), "enabled = false\nlabel = 'x'\n"),
        Edit(
            "an array of several lines is replaced whole",
            "tags = [\n  'a', # x\n  'b',\n]\nenabled = false\n",
            .tags(["c", "d"]), "tags = [\"c\", \"d\"]\nenabled = false\n"),
        Edit("a text of several lines too", "label = '''\na\nb'''\n# end\n", .label("c"), "label = \"c\"\n"),
        Edit("quotes and backslashes are escaped", "", .label(#"a "b" \c"#), #"label = "a \"b\" \\c"#),
        Edit("a file of comments alone", "# nothing\n", .enabled(false), "# nothing\nenabled = false\n"),
        Edit(
            "what is no such key is not touched", "\"enabled\" = true\n", .enabled(false), "enabled = false\n"
        ),
    ])
    func `a change leaves everything else alone`(_ edit: Edit) throws {
        let text = try OverrideText(bytes: Array(edit.before.utf8), file: "o.toml")
        let after = text.applying(.put(edit.change)).map { String(decoding: $0, as: UTF8.self) }
        if edit.before.isEmpty {
            #expect(after?.hasPrefix(OverrideText.header + (edit.after ?? "")) == true)
        } else {
            #expect(after == edit.after)
        }
    }

    @Test func `every label survives being written and read`() throws {
        for label in ["a", "é 日本", "\"", "\\", "\t", "#", "'''", "\u{7f}", "\u{1f600}", "a\nb"] {
            let text = try OverrideText(bytes: [], file: "o.toml")
            let bytes = try #require(text.applying(.put(.label(label))))
            let document = try TOMLDocument(parsing: bytes, file: "o.toml")
            #expect(document.root["label"]?.value.content == .string(label))
        }
    }

    @Test func `a value that a record may not have is refused before anything is written`() async throws {
        try folder.write("config/hosts.d/dev.toml", "ssh = 'dev'")
        await #expect(throws: OverrideError.self) {
            try await writer.apply([.tags(["two words"])], to: HostID("dev"))
        }
        #expect(try folder.names(in: "config/hosts.d") == ["dev.toml"])
    }

    @Test func `a host that is not there, and a broken file, are refused`() async throws {
        try folder.write("config/hosts.d/dev.toml", "ssh = 'dev'")
        try folder.write("config/hosts.d/dev.override.toml", "enabled = ")
        let hosts = paths.hosts
        await #expect(throws: OverrideError.noSuchHost(HostID("other"), folder: hosts)) {
            try await writer.apply([.enabled(false)], to: HostID("other"))
        }
        do {
            _ = try await writer.apply([.enabled(false)], to: HostID("dev"))
            Issue.record("a broken override was written over")
        } catch {
            #expect(error.code == "config.broken")
            #expect(error.description.contains("dev.override.toml:1:11: "))
        }
        #expect(try override() == "enabled = ")
    }

    @Test func `a symbolic link stays, what it leads to is replaced`() async throws {
        try folder.write("config/hosts.d/dev.toml", "ssh = 'dev'")
        try FileManager.default.createDirectory(
            atPath: folder.path + "/dotfiles", withIntermediateDirectories: false)
        try folder.write("dotfiles/o.toml", "label = 'x'\n")
        try folder.link("config/hosts.d/dev.override.toml", to: "../../dotfiles/o.toml")
        _ = try await writer.apply([.enabled(false)], to: HostID("dev"))
        #expect(try folder.read("dotfiles/o.toml") == "enabled = false\nlabel = 'x'\n")
        #expect(try folder.names(in: "dotfiles") == ["o.toml"])
        let kind = try FileManager.default.attributesOfItem(atPath: paths.hosts + "/dev.override.toml")[.type]
        #expect(kind as? FileAttributeType == .typeSymbolicLink)
    }

    @Test func `a symbolic link that leads nowhere is refused`() async throws {
        try folder.write("config/hosts.d/dev.toml", "ssh = 'dev'")
        try folder.link("config/hosts.d/dev.override.toml", to: folder.path + "/run/o.toml")
        await #expect(throws: OverrideError.self) {
            try await writer.apply([.enabled(false)], to: HostID("dev"))
        }
        #expect(try folder.names(in: "run") == ["config.lock"])
    }

    @Test func `what a crashed writer left is no host, and goes in time`() async throws {
        try folder.write("config/hosts.d/dev.toml", "ssh = 'dev'")
        try folder.write("config/hosts.d/.hostsctl-aB3dEf", "enabled = tr")
        try folder.write("config/hosts.d/.hostsctl-xxxxxx", "enabled = false")
        let hourAgo = Date(timeIntervalSinceNow: -3600)
        try FileManager.default.setAttributes(
            [.modificationDate: hourAgo], ofItemAtPath: folder.path("config/hosts.d/.hostsctl-xxxxxx"))
        let configuration = ConfigurationLoader.load(
            ConfigurationReader(directory: paths.configuration).readBlocking())
        #expect(configuration.diagnostics == [])
        #expect(configuration.records.count == 1)
        _ = try await writer.apply([.enabled(false)], to: HostID("dev"))
        #expect(
            try folder.names(in: "config/hosts.d") == [".hostsctl-aB3dEf", "dev.override.toml", "dev.toml"])
    }

    @Test func `writers at the same time lose no change`() async throws {
        try folder.write("config/hosts.d/dev.toml", "ssh = 'dev'")
        for round in 0..<10 {
            let flag = round % 2 == 0
            try await withThrowingTaskGroup(of: Void.self) { group in
                let changes: [RecordChange] = [
                    .enabled(!flag), .label("label \(round)"), .tags(["t\(round)"]),
                    .backgroundKeepAlive(flag),
                ]
                for change in changes {
                    group.addTask {
                        // Each has a writer of its own, as hostsctl and hostsd have.
                        let result = OverrideWriter(paths: paths).applyBlocking([change], to: HostID("dev"))
                        _ = try result.get()
                    }
                }
                try await group.waitForAll()
            }
            let configuration = ConfigurationLoader.load(
                ConfigurationReader(directory: paths.configuration).readBlocking())
            let record = try #require(configuration.records[HostID("dev")])
            #expect(record.isEnabled == !flag)
            #expect(record.label == "label \(round)")
            #expect(record.tags == ["t\(round)"])
            #expect(record.backgroundKeepAlive == flag)
        }
        #expect(try folder.names(in: "config/hosts.d") == ["dev.override.toml", "dev.toml"])
    }

    @Test func `errors of the system say what to do`() {
        let path = "/x/dev.override.toml"
        let table: [(Int32, String)] = [
            (30, "config.read-only"), (13, "config.not-permitted"), (1, "config.not-permitted"),
            (28, "config.disk-full"), (122, "config.disk-full"), (5, "config.write-failed"),
        ]
        for (number, code) in table {
            let error = OverrideError.system(number, path: path, step: "writing")
            #expect(error.code == code)
            #expect(error.description.contains(path))
        }
        #expect(
            OverrideError.system(28, path: path, step: "writing").description
                == "there is no space left for /x/dev.override.toml: free some and try again")
    }

    @Test func `a held lock is waited for with a limit`() throws {
        let path = folder.path + "/run/config.lock"
        let lock = try FileLock(path: path, timeout: .zero)
        #expect(throws: OverrideError.locked(path: path)) { try FileLock(path: path, timeout: .zero) }
        lock.release()
        let next = try FileLock(path: path, timeout: .zero)
        next.release()
    }
}
