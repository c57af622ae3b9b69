import FoundationEssentials
import Glibc
import HostsConfig
import HostsModel
import HostsTestSupport
import Testing

@Suite struct ConfigurationReaderTests {
    private let folder: TemporaryFolder
    private var directory: String { folder.path + "/config" }

    init() throws {
        folder = try TemporaryFolder.withConfiguration()
    }

    private func load() async -> Configuration {
        ConfigurationLoader.load(await ConfigurationReader(directory: directory).read())
    }

    @Test func `files are read with their paths`() async throws {
        try folder.write("config/hostsd.toml", "[limits]\nmax_hosts = 3")
        try folder.write("config/hosts.d/dev.toml", "ssh = 'dev'")
        let configuration = await load()
        #expect(configuration.settings.limits.maxHosts == 3)
        #expect(
            configuration.origins[HostID("dev")]?["ssh"]?.description == "\(directory)/hosts.d/dev.toml:1:7")
        #expect(configuration.diagnostics == [])
    }

    @Test func `no folder at all is no error`() async {
        let snapshot = await ConfigurationReader(directory: folder.path + "/nothing").read()
        #expect(snapshot == ConfigurationSnapshot())
    }

    @Test func `what is no regular file holds nobody up`() async throws {
        #expect(mkfifo(directory + "/hosts.d/pipe.toml", 0o600) == 0)
        #expect(mkdir(directory + "/hosts.d/dir.toml", 0o700) == 0)
        try folder.link("config/hosts.d/gone.toml", to: "nowhere.toml")
        try folder.link("config/hosts.d/loop.toml", to: "loop.toml")
        let configuration = await load()
        #expect(
            configuration.diagnostics.map { $0.description.dropFirst(directory.count + 9) } == [
                "dir.toml: error: this is a folder, not a file",
                "gone.toml: error: this is a symbolic link that leads nowhere",
                "loop.toml: error: the file cannot be read: Too many levels of symbolic links",
                "pipe.toml: error: this is not a regular file",
            ])
        #expect(configuration.bad.count == 4)
    }

    @Test func `a file that is too large is told with the limit`() async throws {
        try folder.write("config/hosts.d/dev.toml", String(repeating: "#", count: 300_000))
        let configuration = await load()
        #expect(
            configuration.bad[HostID("dev")]?.first?.message.hasSuffix("at most 256 KiB are read") == true)
    }

    @Test func `a hosts.d that is a file cannot be listed`() async throws {
        try FileManager.default.removeItem(atPath: directory + "/hosts.d")
        try folder.write("config/hosts.d", "")
        let snapshot = await ConfigurationReader(directory: directory).read()
        #expect(!snapshot.isComplete)
        #expect(
            snapshot.problems.map(\.description) == [
                "\(directory)/hosts.d: error: the folder cannot be read: Not a directory"
            ])
    }

    @Test func `what everybody can write to is told`() async throws {
        try folder.write("config/hosts.d/dev.toml", "ssh = 'dev'")
        try folder.setMode(0o666, of: "config/hosts.d/dev.toml")
        try folder.setMode(0o777, of: "config/hosts.d")
        let configuration = await load()
        #expect(
            configuration.diagnostics.map(\.description) == [
                "\(directory)/hosts.d: warning: everybody can write to it: chmod o-w \(directory)/hosts.d",
                "\(directory)/hosts.d/dev.toml: warning: everybody can write to it: "
                    + "chmod o-w \(directory)/hosts.d/dev.toml",
            ])
    }

    @Test func `names that are not UTF-8 are told, not opened`() async throws {
        let name =
            Array((directory + "/hosts.d/").utf8CString.dropLast()) + [-1, 0x2e, 0x74, 0x6f, 0x6d, 0x6c, 0]
        let descriptor = open(name, O_CREAT | O_WRONLY | O_CLOEXEC, 0o600)
        try #require(descriptor >= 0)
        close(descriptor)
        let configuration = await load()
        #expect(configuration.diagnostics.count == 1)
        #expect(configuration.diagnostics.first?.message.contains("is no host name") == true)
    }

    struct Access: Sendable, CustomTestStringConvertible {
        let owner: UInt32
        let group: UInt32
        let mode: UInt32
        let isFine: Bool
        var testDescription: String { "\(owner):\(group) \(String(mode, radix: 8))" }
    }

    @Test(arguments: [
        Access(owner: 1000, group: 1000, mode: 0o644, isFine: true),
        Access(owner: 0, group: 0, mode: 0o644, isFine: true),
        Access(owner: 65534, group: 65534, mode: 0o644, isFine: true),
        Access(owner: 1001, group: 1000, mode: 0o600, isFine: false),
        Access(owner: 1000, group: 1000, mode: 0o664, isFine: true),
        Access(owner: 1000, group: 100, mode: 0o664, isFine: false),
        Access(owner: 1000, group: 1000, mode: 0o646, isFine: false),
    ])
    func `only root and the user may be able to write`(_ c: Access) {
        let access = FileAccess(owner: c.owner, group: c.group, mode: c.mode)
        #expect((access.concern(for: 1000, path: "f") == nil) == c.isFine)
    }
}
