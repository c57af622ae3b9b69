import Glibc
import HostsAPI
import HostsConfig
import HostsHub
import HostsModel
import HostsSystem
import HostsTestSupport
import Testing

@testable import HostsDaemon

/// Records as sync tools and editors write them, with the real watch and the real files.
@Suite(.serialized, .timeLimit(.minutes(2))) struct SyncedFolderTests {
    private static let dev = "config/hosts.d/dev.toml"
    private static let override = "config/hosts.d/dev.override.toml"

    /// `dev` and `gpu`, and the fence, so that this machine is no host.
    private static func two(_ folder: TemporaryFolder) throws {
        try folder.makeFolder("config/hosts.d")
        try folder.write(dev, "ssh = 'dev'")
        try folder.write("config/hosts.d/gpu.toml", "ssh = 'gpu'")
        try folder.write("config/hosts.d/fence.toml", "transport = 'local'")
    }

    private func rig() throws -> FolderRig { try FolderRig(Self.two) }

    @Test func `a temporary file and a rename restart exactly the host that has changed`() async throws {
        let rig = try rig()
        try await rig.run {
            try await rig.untilOnline("dev", "gpu")
            try rig.folder.write("config/hosts.d/.syncthing.dev.toml.tmp", "ssh = 'other'")
            try rig.folder.move("config/hosts.d/.syncthing.dev.toml.tmp", to: Self.dev)
            try await rig.untilRead()
            try await rig.until("dev") { $0?.record.destination == "other" && $0?.condition == .online }
            #expect(try rig.dials("dev") == 2)
            #expect(try rig.dials("gpu") == 1)
            // What people see is no matter of the link.
            try rig.folder.replace(Self.dev, "ssh = 'other'\nlabel = 'New'\ntags = ['a']")
            try await rig.untilRead()
            try await rig.until("dev") { $0?.record.label == "New" }
            #expect(try rig.dials("dev") == 2)
        }
        #expect(rig.hostsInForce == [["dev", "gpu"]])
    }

    @Test func `a file that is written in pieces is the last good one until it is whole`() async throws {
        let rig = try rig()
        try await rig.run {
            try await rig.untilOnline("dev", "gpu")
            let descriptor = open(rig.folder.path(Self.dev), O_WRONLY | O_TRUNC | O_CLOEXEC)
            try #require(descriptor >= 0)
            defer { close(descriptor) }
            for piece in ["ssh = ", "'oth"] {
                #expect(write(descriptor, piece, piece.utf8.count) == piece.utf8.count)
                try await rig.untilRead()
                #expect(try rig.record("dev")?.destination == "dev")
                #expect(await rig.diagnostics().count == 1)
            }
            #expect(write(descriptor, "er'\n", 4) == 4)
            try await rig.untilRead()
            #expect(try rig.record("dev")?.destination == "other")
            #expect(await rig.diagnostics() == [])
        }
        #expect(rig.hostsInForce == [["dev", "gpu"]])
    }

    @Test(arguments: [dev, override])
    func `a file that is deleted and made again at once was never gone`(file: String) async throws {
        let rig = try FolderRig { folder in
            try Self.two(folder)
            try folder.write(Self.override, "label = 'Over'\nssh = 'dev'")
        }
        try await rig.run {
            try await rig.untilOnline("dev", "gpu")
            let text = try rig.folder.read(file)
            try rig.folder.remove(file)
            try await rig.untilRead()
            try rig.folder.write(file, text)
            try await rig.untilRead()
            try await rig.untilMissingCount()
            #expect(try rig.record("dev")?.label == "Over")
            #expect(try rig.dials("dev") == 1)
            #expect(await rig.diagnostics() == [])
        }
        #expect(rig.hostsInForce == [["dev", "gpu"]])
    }

    @Test func `a vanished override does not enable its host before it counts as gone`() async throws {
        let rig = try FolderRig { folder in
            try Self.two(folder)
            try folder.write(Self.override, "enabled = false")
        }
        try await rig.run {
            try await rig.untilOnline("gpu")
            try rig.folder.remove(Self.override)
            try await rig.untilRead()
            #expect(try rig.record("dev")?.isEnabled == false)
            #expect(try rig.dials("dev") == 0)
            try await rig.untilMissingCount()
            #expect(try rig.record("dev")?.isEnabled == true)
            try await rig.untilOnline("dev")
        }
    }

    @Test func `a record that stays away drops its host, and no other`() async throws {
        let rig = try rig()
        try await rig.run {
            try await rig.untilOnline("dev", "gpu")
            try rig.folder.remove(Self.dev)
            try await rig.untilRead()
            #expect(try rig.record("dev") != nil)
            try await rig.untilMissingCount()
            try await rig.until("dev") { $0 == nil }
            #expect(rig.fleet.openLinks == 2)
            #expect(try rig.dials("gpu") == 1)
        }
        #expect(rig.hostsInForce == [["dev", "gpu"], ["gpu"]])
    }

    @Test(arguments: [
        ("dev.sync-conflict-20260131-235959-ABCDEFG.toml", "dev.toml"),
        ("dev.override.sync-conflict-20260131-235959-ABCDEFG.toml", "dev.override.toml"),
        ("dev (conflicted copy 2026-01-31 235959).toml", "dev.toml"),
        ("dev (Ann's conflicted copy 2026-01-31).toml", "dev.toml"),
    ]) func `a conflict copy is no host, and is told`(name: String, original: String) async throws {
        let rig = try rig()
        try await rig.run {
            try await rig.untilOnline("dev", "gpu")
            try rig.folder.write("config/hosts.d/" + name, "ssh = 'dev'\nenabled = false")
            try await rig.untilRead()
            #expect(
                await rig.diagnostics() == [
                    "\(name): warning: not used: a conflict copy of \(original), left by a sync tool; "
                        + "compare the two, then delete it"
                ])
            try rig.folder.remove("config/hosts.d/" + name)
            try await rig.untilRead()
            try await rig.untilMissingCount()
            #expect(await rig.diagnostics() == [])
            #expect(try rig.dials("dev") == 1)
        }
        #expect(rig.hostsInForce == [["dev", "gpu"]])
    }

    @Test(arguments: [
        "dev.toml~", ".dev.toml.swp", "dev.toml.swp", "~syncthing~dev.toml.tmp", "dev.toml.removed",
    ])
    func `what editors and tools leave is not even told`(name: String) async throws {
        let rig = try rig()
        try await rig.run {
            try rig.folder.write("config/hosts.d/" + name, "ssh = 'x'")
            try rig.folder.makeFolder("config/hosts.d/.stversions")
            try rig.folder.write("config/hosts.d/.stversions/dev.toml", "ssh = 'x'")
            try await rig.untilRead()
            #expect(await rig.diagnostics() == [])
        }
        #expect(rig.hostsInForce == [["dev", "gpu"]])
    }

    @Test func `a folder that is a link is followed, to where it leads now`() async throws {
        let rig = try FolderRig { folder in
            for name in ["cloud", "other"] {
                try folder.makeFolder(name)
                try folder.write("\(name)/dev.toml", "ssh = '\(name)'")
                try folder.write("\(name)/fence.toml", "transport = 'local'")
            }
            try folder.link("config/hosts.d", to: folder.path("cloud"))
        }
        try await rig.run {
            #expect(try rig.record("dev")?.destination == "cloud")
            try rig.folder.replace("cloud/dev.toml", "ssh = 'changed'")
            try await rig.untilRead()
            #expect(try rig.record("dev")?.destination == "changed")
            // Another target, put in place as `ln -sfn` and stow do.
            try rig.folder.link("config/new", to: rig.folder.path("other"))
            try rig.folder.move("config/new", to: "config/hosts.d")
            try await rig.untilRead()
            #expect(try rig.record("dev")?.destination == "other")
            try rig.folder.replace("other/dev.toml", "ssh = 'again'")
            try await rig.untilRead()
            #expect(try rig.record("dev")?.destination == "again")
        }
        #expect(rig.hostsInForce == [["dev"]])
    }

    @Test func `a link to a folder that is not there now removes no host`() async throws {
        let rig = try FolderRig { folder in
            try folder.makeFolder("cloud")
            try folder.write("cloud/dev.toml", "ssh = 'dev'")
            try folder.write("cloud/fence.toml", "transport = 'local'")
            try folder.link("config/hosts.d", to: folder.path("cloud"))
        }
        try await rig.run {
            try await rig.untilOnline("dev")
            try rig.folder.move("cloud", to: "away")
            try await rig.untilDiagnosed()
            rig.clock.advance(by: RecordPresence.grace * 2)
            await rig.keeper.reload()
            #expect(await rig.keeper.current.records.keys.map(\.rawValue).sorted() == ["dev", "fence"])
            #expect(await rig.keeper.diagnostics.map(\.severity) == [.error])
            try rig.folder.move("away", to: "cloud")
            try await rig.untilRead()
            #expect(await rig.diagnostics() == [])
            #expect(try rig.dials("dev") == 1)
        }
        #expect(rig.hostsInForce == [["dev"]])
    }

    @Test func `a record that is a link is read where it leads, also when that changes`() async throws {
        let rig = try FolderRig { folder in
            try Self.two(folder)
            try folder.makeFolder("dotfiles")
            try folder.write("dotfiles/a.toml", "ssh = 'a'")
            try folder.write("dotfiles/b.toml", "ssh = 'b'")
            try folder.remove(Self.dev)
            try folder.link(Self.dev, to: folder.path("dotfiles/a.toml"))
        }
        try await rig.run {
            #expect(try rig.record("dev")?.destination == "a")
            try rig.folder.replace("dotfiles/a.toml", "ssh = 'a2'")
            try await rig.untilRead()
            #expect(try rig.record("dev")?.destination == "a2")
            try rig.folder.link("config/hosts.d/new.tmp", to: rig.folder.path("dotfiles/b.toml"))
            try rig.folder.move("config/hosts.d/new.tmp", to: Self.dev)
            try await rig.untilRead()
            #expect(try rig.record("dev")?.destination == "b")
            // A link that leads nowhere for a moment keeps what was there.
            try rig.folder.remove("dotfiles/b.toml")
            try await rig.untilRead()
            try await rig.untilMissingCount()
            #expect(try rig.record("dev")?.destination == "b")
            #expect(await rig.diagnostics().count == 1)
        }
        #expect(rig.hostsInForce == [["dev", "gpu"]])
    }

    @Test func `a folder that is deleted and made again at once removes no host`() async throws {
        let rig = try rig()
        try await rig.run {
            try await rig.untilOnline("dev", "gpu")
            try rig.folder.remove("config/hosts.d")
            await rig.keeper.reload()
            try Self.two(rig.folder)
            try await rig.untilRead()
            try await rig.untilMissingCount()
            #expect(try rig.dials("dev") == 1)
            #expect(try rig.dials("gpu") == 1)
        }
        #expect(rig.hostsInForce == [["dev", "gpu"]])
    }

    @Test func `a folder that stays away removes its hosts`() async throws {
        let rig = try rig()
        try await rig.run {
            try await rig.untilOnline("dev", "gpu")
            try rig.folder.remove("config/hosts.d")
            await rig.keeper.reload()
            rig.clock.advance(by: RecordPresence.grace)
            try await rig.until("dev") { $0 == nil }
            // No record at all: this machine is the host.
            try await rig.untilOnline("local")
        }
    }

    @Test func `a renamed record is one host removed and another added`() async throws {
        let rig = try rig()
        try await rig.run {
            try await rig.untilOnline("dev", "gpu")
            try rig.folder.move(Self.dev, to: "config/hosts.d/devbox.toml")
            try await rig.untilRead()
            try await rig.untilOnline("devbox")
            try await rig.untilMissingCount()
            try await rig.until("dev") { $0 == nil }
            #expect(try rig.dials("gpu") == 1)
            #expect(try rig.dials("devbox") == 1)
            #expect(await rig.diagnostics() == [])
        }
        #expect(rig.hostsInForce == [["dev", "gpu"], ["dev", "devbox", "gpu"], ["devbox", "gpu"]])
    }

    @Test func `an override that comes first counts from the first moment of its record`() async throws {
        let rig = try rig()
        try await rig.run {
            try rig.folder.write("config/hosts.d/new.override.toml", "enabled = false")
            try await rig.untilRead()
            #expect(
                await rig.diagnostics() == [
                    "new.override.toml: warning: an override without its record: there is no new.toml beside it"
                ])
            try rig.folder.write("config/hosts.d/new.toml", "ssh = 'new'")
            try await rig.untilRead()
            #expect(try rig.record("new")?.isEnabled == false)
            #expect(await rig.diagnostics() == [])
            #expect(try rig.dials("new") == 0)
            // One that outlives its record makes no host.
            try rig.folder.remove("config/hosts.d/new.toml")
            try await rig.untilRead()
            try await rig.untilMissingCount()
            #expect(try rig.record("new") == nil)
            #expect(await rig.diagnostics().count == 1)
        }
        #expect(rig.hostsInForce == [["dev", "gpu"], ["dev", "gpu", "new"], ["dev", "gpu"]])
    }

    @Test func `two daemons of one folder both follow what one of them writes`() async throws {
        let one = try rig()
        let other = try FolderRig { folder in
            try folder.link("config/hosts.d", to: one.folder.path("config/hosts.d"))
        }
        try await one.run {
            try await other.run {
                try await one.untilOnline("dev", "gpu")
                try await other.untilOnline("dev", "gpu")
                _ = try await one.service.disable("dev")
                try await other.untilRead()
                #expect(try other.record("dev")?.isEnabled == false)
                try await other.until("dev") { $0?.condition == .disabled }
                _ = try await other.service.set("dev", ["label": .text("Both"), "enabled": .flag(true)])
                try await one.untilRead()
                #expect(try one.record("dev")?.label == "Both")
                try await one.untilOnline("dev")
                _ = try await other.service.remove("dev")
                try await one.untilRead()
                try await one.untilMissingCount()
                try await one.until("dev") { $0 == nil }
                #expect(try one.dials("gpu") == 1)
                #expect(try other.dials("gpu") == 1)
            }
        }
    }
}
