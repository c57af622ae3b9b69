import HostsAPI
import HostsHub
import HostsModel
import HostsTestSupport
import Testing

@testable import HostsDaemon

/// `add`, `remove` and `set` through the service: what is in force when they return.
@Suite(.timeLimit(.minutes(1))) struct RecordServiceTests {
    private static func two(_ folder: TemporaryFolder) throws {
        try folder.makeFolder("config/hosts.d")
        try folder.write("config/hosts.d/dev.toml", "ssh = 'dev'")
        try folder.write("config/hosts.d/gpu.toml", "ssh = 'gpu'")
    }

    private static func error(_ body: () async throws(APIError) -> Void) async -> APIError? {
        do throws(APIError) {
            try await body()
            return nil
        } catch {
            return error
        }
    }

    @Test func `an added host is there and dialled when the answer comes`() async throws {
        let rig = try FolderRig(Self.two)
        try await rig.run {
            let answer = try await rig.service.add(
                "new", ["label": .text("New"), "tags": .text("a,b"), "session_restore": .text("tmux")])
            #expect(answer.changed)
            #expect(answer.host.label == "New")
            #expect(answer.host.tags == ["a", "b"])
            let path = rig.folder.path("config/hosts.d/new.toml")
            #expect(answer.message == "new is added; written to \(path)")
            #expect(try rig.record("new")?.destination == "new")
            try await rig.untilOnline("new", "dev", "gpu")
            #expect(try rig.dials("dev") == 1)
            let off = try await rig.service.add("off", ["ssh": .text("o"), "enabled": .flag(false)])
            #expect(off.host.condition == "disabled")
            #expect(try rig.dials("off") == 0)
        }
    }

    @Test func `the first record is told to take the place of this machine`() async throws {
        let rig = try FolderRig { _ in }
        try await rig.run {
            try await rig.untilOnline("local")
            let answer = try await rig.service.add("dev", [:])
            #expect(answer.message.hasSuffix("hostsctl add local --transport local keeps it"))
            #expect(rig.hostsInForce == [["local"], ["dev"]])
            let kept = try await rig.service.add("local", ["transport": .text("local")])
            #expect(kept.host.name == "local")
            #expect(try rig.record("local")?.destination == "")
        }
    }

    @Test func `what cannot be added is refused with what to do, and nothing changes`() async throws {
        let rig = try FolderRig { folder in
            try Self.two(folder)
            try folder.write("config/hostsd.toml", "[limits]\nmax_hosts = 3")
            try folder.write("config/hosts.d/dev.override.toml", "enabled = false")
        }
        try await rig.run {
            let cases: [(String, [String: RecordValueBody], Int, String)] = [
                ("dev", [:], 409, "host.exists"), ("Dev", [:], 400, "request.bad"),
                ("new", ["enabeld": .flag(true)], 400, "request.bad"),
                ("new", ["label": .null], 400, "request.bad"),
                ("new", ["tags": .flag(true)], 400, "request.bad"),
            ]
            for (name, values, status, code) in cases {
                let error = await Self.error { () async throws(APIError) in
                    _ = try await rig.service.add(name, values)
                }
                #expect(error?.status == status, "\(name) \(values)")
                #expect(error?.document.error.code == code)
            }
            _ = try await rig.service.add("third", [:])
            let error = await Self.error { () async throws(APIError) in
                _ = try await rig.service.add("fourth", [:])
            }
            #expect(error?.status == 409)
            #expect(error?.document.error.code == "limits.max-hosts")
            #expect(
                error?.document.error.message
                    == "there are 3 hosts, disabled ones included, and limits.max_hosts is 3: "
                    + "remove one, or raise the limit in hostsd.toml")
            #expect(
                try rig.folder.names(in: "config/hosts.d")
                    == ["dev.override.toml", "dev.toml", "gpu.toml", "third.toml"])
        }
    }

    @Test func `a removed host is dropped when the answer comes, and can be added again`() async throws {
        let rig = try FolderRig { folder in
            try Self.two(folder)
            try folder.write("config/hosts.d/dev.override.toml", "label = 'Over'")
        }
        try await rig.run {
            try await rig.untilOnline("dev", "gpu")
            let answer = try await rig.service.remove("dev")
            #expect(answer.record == rig.folder.path("config/hosts.d/dev.toml.removed"))
            #expect(answer.override == rig.folder.path("config/hosts.d/dev.override.toml.removed"))
            try await rig.until("dev") { $0 == nil }
            #expect(rig.hostsInForce == [["dev", "gpu"], ["gpu"]])
            #expect(await rig.diagnostics() == [])
            // The time after which a missing file counts has not passed: this one is not missing.
            _ = try await rig.service.add("dev", ["ssh": .text("dev2")])
            #expect(try rig.record("dev")?.destination == "dev2")
            #expect(try rig.record("dev")?.label == "dev")
            #expect(try rig.dials("gpu") == 1)
            let unknown = await Self.error { () async throws(APIError) in
                _ = try await rig.service.remove("dve")
            }
            #expect(unknown == .hostNotFound("dve", suggestion: "dev"))
        }
    }

    @Test func `this machine cannot be removed, only disabled`() async throws {
        let rig = try FolderRig { _ in }
        try await rig.run {
            let error = await Self.error { () async throws(APIError) in
                _ = try await rig.service.remove("local")
            }
            #expect(error?.document.error.code == "host.implicit")
            #expect(error?.document.error.help == "hostsctl disable local")
        }
    }

    @Test func `only a key of the connection restarts it, and only that of its host`() async throws {
        let rig = try FolderRig(Self.two)
        try await rig.run {
            try await rig.untilOnline("dev", "gpu")
            let shown = try await rig.service.set("dev", ["label": .text("New"), "tags": .words(["a"])])
            #expect(shown.changed)
            #expect(shown.host.label == "New")
            #expect(shown.host.condition == "online")
            #expect(
                shown.message == "dev: label = \"New\", tags = [\"a\"]; written to "
                    + rig.folder.path("config/hosts.d/dev.override.toml"))
            #expect(try rig.dials("dev") == 1)
            var dials = 1
            for (key, value) in [
                ("ssh", "dev2"), ("transport", "openssh"), ("background_keep_alive", "true"),
                ("session_restore", "tmux"),
            ] {
                _ = try await rig.service.set("dev", [key: .text(value)])
                dials += 1
                try await rig.untilOnline("dev")
                #expect(try rig.dials("dev") == dials, "\(key)")
            }
            _ = try await rig.service.set("dev", ["enabled": .flag(false)])
            #expect(await rig.hub.snapshots().first?.condition == .disabled)
            let same = try await rig.service.set("dev", ["enabled": .text("false")])
            #expect(!same.changed)
            #expect(same.message == "dev is already so")
            _ = try await rig.service.set("dev", ["label": .null])
            #expect(try rig.record("dev")?.label == "dev")
            #expect(try rig.dials("gpu") == 1)
        }
    }

    @Test func `of several keys none is written if one is wrong`() async throws {
        let rig = try FolderRig(Self.two)
        try await rig.run {
            try await rig.untilOnline("dev")
            for (values, message) in [
                (
                    ["label": .text("x"), "transport": .text("opensh")],
                    "transport=opensh: \"opensh\" is no transport (auto, libssh2, openssh, local), "
                        + "did you mean \"openssh\"?; transport takes one of auto, libssh2, openssh, local"
                ), (["label": .null, "lable": .null], "there is no key \"lable\", did you mean \"label\"?"),
                ([:], "there is no key to set"),
            ] as [([String: RecordValueBody], String)] {
                let error = await Self.error { () async throws(APIError) in
                    _ = try await rig.service.set("dev", values)
                }
                #expect(error?.status == 400)
                #expect(error?.document.error.message.hasPrefix(message) == true)
            }
            let names = try rig.folder.names(in: "config/hosts.d")
            #expect(names == ["dev.toml", "gpu.toml"])
        }
    }
}
