import HostsModel
import HostsTestSupport
import Testing

@testable import HostsSSH

/// The way to a host, as ssh goes it.
struct DestinationChainTests {
    private static func chain(of name: String, _ config: String) async throws -> [Destination] {
        let folder = try TemporaryFolder()
        let settings = LinkFixture.settings(config: try folder.write("ssh_config", config))
        let resources = LinkResources(loop: LinkFixture.loop)
        let resolver = DestinationResolver(settings: settings, resources: resources)
        let chain = try await resolver.chain(of: name)
        // The same once more, from the cache.
        let again = try await resolver.chain(of: name)
        #expect(chain == again)
        return chain
    }

    private static func way(of name: String, _ config: String) async throws -> [String] {
        try await chain(of: name, config).map { "\($0.user)@\($0.address)" }
    }

    private static func failure(of name: String, _ config: String) async -> LinkError? {
        await #expect(throws: LinkError.self) { try await way(of: name, config) }
    }

    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let config: String
        let way: [String]

        init(_ description: String, _ config: String, _ way: [String]) {
            testDescription = description
            // The file's first value counts.
            self.config = config + "\nHost *\n  User me\n"
            self.way = way
        }
    }

    @Test(arguments: [
        Case("no way", "", ["me@d:22"]),
        Case("one hop", "Host d\n ProxyJump a", ["me@a:22", "me@d:22"]),
        Case(
            "a list is the dialling order", "Host d\n ProxyJump a,b,c",
            ["me@a:22", "me@b:22", "me@c:22", "me@d:22"]),
        Case(
            "the list takes the place of a later hop's own way",
            "Host d\n ProxyJump a,b\nHost b\n ProxyJump x", ["me@a:22", "me@b:22", "me@d:22"]),
        Case(
            "the first hop goes its own way",
            "Host d\n ProxyJump a,b\nHost a\n ProxyJump x,y",
            ["me@x:22", "me@y:22", "me@a:22", "me@b:22", "me@d:22"]),
        Case(
            "the way of the way",
            "Host d\n ProxyJump a\nHost a\n ProxyJump b\nHost b\n ProxyJump c",
            ["me@c:22", "me@b:22", "me@a:22", "me@d:22"]),
        Case(
            "user and port of a hop win over its section, its name does not",
            "Host d\n ProxyJump u@a:24\nHost a\n HostName a.example\n User x\n Port 25",
            ["u@a.example:24", "me@d:22"]),
        Case(
            "a hop without port takes that of its section",
            "Host d\n ProxyJump a\nHost a\n Port 25", ["me@a:25", "me@d:22"]),
        Case(
            "addresses of IPv6",
            "Host d\n ProxyJump [::1]:24,u@[::2]\nHost ::1\n User six",
            ["six@[::1]:24", "u@[::2]:22", "me@d:22"]),
        Case(
            "a zone", "Host d\n ProxyJump a,[fe80::1%%lo]:24", ["me@a:22", "me@[fe80::1%lo]:24", "me@d:22"]),
        Case(
            "a zone before another", "Host d\n ProxyJump [fe80::1%%lo],a",
            ["me@[fe80::1%lo]:22", "me@a:22", "me@d:22"]),
        Case("URIs", "Host d\n ProxyJump ssh://u@a:24,ssh://b", ["u@a:24", "me@b:22", "me@d:22"]),
        Case("tokens", "Host d\n ProxyJump %n-gate", ["me@d-gate:22", "me@d:22"]),
        Case("none", "Host d\n ProxyJump none\nHost *\n ProxyJump a", ["me@d:22"]),
        Case(
            "a host twice, but in no circle",
            "Host d\n ProxyJump a,d2,a", ["me@a:22", "me@d2:22", "me@a:22", "me@d:22"]),
        Case(
            "eight hops", "Host d\n ProxyJump h1,h2,h3,h4,h5,h6,h7,h8",
            (1...8).map { "me@h\($0):22" } + ["me@d:22"]),
    ])
    func way(_ c: Case) async throws {
        #expect(try await Self.way(of: "d", c.config) == c.way)
    }

    @Test func `a later hop has no command, the first keeps its own`() async throws {
        let chain = try await Self.chain(
            of: "d", "Host d\n ProxyJump a,b\nHost a b\n ProxyCommand reach %h\n")
        #expect(chain.map(\.name) == ["a", "b", "d"])
        #expect(chain.map(\.route) == [.command("reach a"), .jump(["a"]), .jump(["a", "b"])])
    }

    @Test(arguments: [
        ("Host a\n ProxyJump b\nHost b\n ProxyJump c\nHost c\n ProxyJump b\n", "b to c to b"),
        ("Host a\n ProxyJump b\nHost b\n ProxyJump a\n", "a to b to a"),
    ])
    func `a circle is told as it is`(config: String, circle: String) async {
        #expect(
            await Self.failure(of: "a", config)
                == .resolutionFailed(
                    destination: "a", detail: "ProxyJump leads in a circle, from \(circle)"))
    }

    @Test func `a host that jumps through itself is refused by ssh`() async {
        let config = "Host *\n ProxyJump gate\n"
        #expect(
            await Self.failure(of: "a", config)
                == .jumpHost(
                    name: "gate",
                    .resolutionFailed(destination: "gate", detail: "jumphost loop via gate")))
        #expect(
            await Self.failure(of: "gate", config)
                == .resolutionFailed(destination: "gate", detail: "jumphost loop via gate"))
    }

    @Test func `more hops than anybody needs are refused`() async {
        let detail = "there are more than 8 hosts on the way to it"
        let failure = LinkError.resolutionFailed(destination: "d", detail: detail)
        #expect(await Self.failure(of: "d", "Host d\n ProxyJump 1,2,3,4,5,6,7,8,9\n") == failure)
        let long = (1...20).map { "Host d\($0)\n ProxyJump d\($0 + 1)\n" }.joined()
        #expect(await Self.failure(of: "d", "Host d\n ProxyJump d1\n" + long) == failure)
    }

    @Test func `what is wrong with a hop is told of the hop`() async {
        let config =
            "Host d\n ProxyJump a,u@b:24\nHost b\n HostName %q\n"
        guard case .jumpHost(let name, .resolutionFailed(let hop, _)) = await Self.failure(of: "d", config)
        else {
            Issue.record("the hop is not named: \(String(describing: await Self.failure(of: "d", config)))")
            return
        }
        #expect(name == "u@b:24")
        #expect(hop == "u@b:24")
        let direct = await Self.failure(of: "b", config)
        #expect(direct?.code == "ssh.config")
    }
}
