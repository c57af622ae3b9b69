import Glibc
import HostsConfig
import HostsTestSupport
import Testing

@Suite struct PathsTests {
    private let person = ["HOME": "/home/p", "XDG_RUNTIME_DIR": "/run/user/1000"]

    @Test func `the XDG folders are the default`() throws {
        let paths = try Paths.resolve(PathOptions(), environment: person, role: .daemon)
        #expect(paths.configuration == "/home/p/.config/hostsd")
        #expect(paths.state == "/home/p/.local/state/hostsd")
        #expect(paths.socket == "/run/user/1000/hostsd/api.sock")
        #expect(paths.runtime == "/run/user/1000/hostsd")
        #expect(paths.hosts == "/home/p/.config/hostsd/hosts.d")
    }

    @Test func `options win over the unit's variables, and those over XDG`() throws {
        let unit = [
            "CONFIGURATION_DIRECTORY": "/etc/hostsd", "STATE_DIRECTORY": "/var/lib/hostsd:/var/lib/other",
            "RUNTIME_DIRECTORY": "/run/hostsd",
        ]
        let environment = person.merging(unit) { $1 }
        let daemon = try Paths.resolve(
            PathOptions(state: "/s/"), environment: environment, role: .daemon)
        #expect(daemon == Paths(configuration: "/etc/hostsd", state: "/s", socket: "/run/hostsd/api.sock"))
        let client = try Paths.resolve(PathOptions(), environment: environment, role: .client)
        #expect(client.socket == "/run/user/1000/hostsd/api.sock")
        #expect(client.configuration == "/home/p/.config/hostsd")
    }

    @Test func `a relative XDG variable is ignored, a relative option is not`() throws {
        let environment = person.merging(["XDG_CONFIG_HOME": "config", "XDG_STATE_HOME": "/s"]) { $1 }
        let paths = try Paths.resolve(PathOptions(), environment: environment, role: .client)
        #expect(paths.configuration == "/home/p/.config/hostsd")
        #expect(paths.state == "/s/hostsd")
        #expect(throws: PathError.notAbsolute(source: "--socket", path: "x.sock")) {
            try Paths.resolve(PathOptions(socket: "x.sock"), environment: environment, role: .client)
        }
    }

    @Test func `what is missing is said with the option that helps`() {
        #expect(throws: PathError.noRuntimeFolder) {
            try Paths.resolve(PathOptions(), environment: ["HOME": "/home/p"], role: .daemon)
        }
        #expect(PathError.noRuntimeFolder.description.contains("use --socket PATH"))
        #expect(throws: PathError.noHome(option: "--config-dir")) {
            try Paths.resolve(PathOptions(), environment: [:], role: .daemon)
        }
    }

    @Test func `a socket path that the system cannot hold is refused with its length`() throws {
        let longest = "/" + String(repeating: "x", count: 106)
        _ = try Paths.resolve(PathOptions(socket: longest), environment: person, role: .client)
        let error = PathError.socketPathTooLong(path: longest + "x", bytes: 108)
        #expect(throws: error) {
            try Paths.resolve(PathOptions(socket: longest + "x"), environment: person, role: .client)
        }
        #expect(error.description.hasPrefix("the socket path has 108 bytes, and at most 107 are possible"))
        #expect(error.description.contains("--socket"))
    }

    @Test func `folders are made for nobody else`() throws {
        let folder = try TemporaryFolder.withConfiguration()
        let paths = Paths(
            configuration: folder.path + "/c", state: folder.path + "/a/b/state",
            socket: folder.path + "/run/hostsd/api.sock")
        try paths.createFolders()
        #expect(try folder.mode(of: "a/b/state") == 0o700)
        #expect(try folder.mode(of: "run/hostsd") == 0o700)
        #expect(try folder.names(in: "") == ["a", "config", "run"])
        try paths.createFolders()
    }

    @Test func `folders that cannot be used are told apart`() throws {
        let folder = try TemporaryFolder.withConfiguration()
        try folder.write("file", "")
        let noRuntime = Paths(
            configuration: "/c", state: folder.path + "/s", socket: folder.path + "/x/y/api.sock")
        #expect(
            throws: PathError.cannotCreate(
                path: folder.path + "/x/y", option: "--socket", reason: folder.path + "/x does not exist")
        ) { try noRuntime.createRuntimeFolder() }
        let file = Paths(
            configuration: "/c", state: folder.path + "/file", socket: folder.path + "/run/api.sock")
        #expect(throws: PathError.notAFolder(path: folder.path + "/file", option: "--state-dir")) {
            try file.createFolders()
        }
        #expect(chmod(folder.path + "/run", 0o777) == 0)
        let open = Paths(
            configuration: "/c", state: folder.path + "/s", socket: folder.path + "/run/api.sock")
        #expect(throws: PathError.self) { try open.createRuntimeFolder() }
    }

    @Test func `the environment of the process has a home`() {
        let environment = Paths.environment()
        #expect(environment["HOME"]?.hasPrefix("/") == true)
        #expect(environment["PATH"] != nil)
    }
}
