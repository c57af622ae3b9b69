import HostsModel
import HostsTestSupport
import Testing

@testable import HostsSSH

struct DestinationTests {
    /// Resolves `name` by a real ssh with this configuration.
    private func resolve(
        _ name: String, _ config: String, _ change: (inout LinkSettings) -> Void = { _ in }
    ) async throws(LinkError) -> Destination {
        let folder: TemporaryFolder
        let file: String
        do {
            folder = try TemporaryFolder()
            file = try folder.write("ssh config", config)
        } catch {
            throw .unsupported(detail: "\(error)")
        }
        defer { withExtendedLifetime(folder) {} }
        let settings = LinkFixture.settings(config: file) {
            $0.homeDirectory = "/home/dev"
            change(&$0)
        }
        return try await DestinationResolver(
            settings: settings, resources: LinkResources(loop: LinkFixture.loop)
        ).resolve(name)
    }

    @Test func `ssh itself says where a name leads`() async throws {
        let destination = try await resolve(
            "box",
            """
            Host box
                HostName Box.Example
                User dev
                Port 2222
                IdentityFile ~/.ssh/%r_%h_%p
                IdentityFile "/keys/a key"
                IdentityAgent ~/agent
                IdentitiesOnly yes
                UserKnownHostsFile /a /b
                GlobalKnownHostsFile /c
                ConnectTimeout 3
                AddressFamily inet6
                BindAddress ::1
            """)
        #expect(destination.host == "box.example")
        #expect(destination.port == 2222)
        #expect(destination.user == "dev")
        #expect(destination.identities.map(\.path) == ["/home/dev/.ssh/dev_box.example_2222", "/keys/a key"])
        #expect(destination.identities.allSatisfy { $0.isExplicit })
        #expect(destination.isLimitedToIdentities)
        #expect(destination.knownHostsFiles == ["/a", "/b", "/c"])
        #expect(destination.knownHostsName == "[box.example]:2222")
        #expect(destination.portlessName == "box.example")
        #expect(destination.connectTimeout == .seconds(3))
        #expect(destination.addressFamily == .inet6)
        #expect(destination.bindAddress == "::1")
        guard case .socket(let path) = destination.agent else { throw FixtureError("no agent") }
        #expect(path.hasSuffix("/agent"))
    }

    @Test func `the defaults are ssh's own`() async throws {
        let destination = try await resolve("dev@box", "")
        #expect(destination.user == "dev")
        #expect(destination.host == "box")
        #expect(destination.port == 22)
        #expect(destination.knownHostsName == "box")
        #expect(destination.portlessName == nil)
        #expect(destination.identities.contains { $0.path == "/home/dev/.ssh/id_ed25519" })
        #expect(!destination.identities.contains { $0.isExplicit })
        #expect(destination.agent == .usual)
    }

    @Test(
        arguments: [
            ("", .usual), ("IdentityAgent none", .none), ("IdentityAgent SSH_AUTH_SOCK", .usual),
            ("IdentityAgent $OTHER", .socket("/other")), ("IdentityAgent ${OTHER}", .socket("/other")),
            ("IdentityAgent /path", .socket("/path")),
        ] as [(String, Destination.Agent)])
    func `the agent is the configured one, or that of the session`(line: String, agent: Destination.Agent)
        async throws
    {
        let destination = try await resolve("box", "Host box\n  HostName h\n  \(line)\n") {
            $0.environment["SSH_AUTH_SOCK"] = "/from/environment"
            $0.environment["OTHER"] = "/other"
        }
        #expect(destination.agent == agent)
    }

    @Test func `HostKeyAlias is taken literally and has no port`() async throws {
        let destination = try await resolve(
            "box", "Host box\n  HostName H.example\n  Port 23\n  HostKeyAlias A-%h\n")
        #expect(destination.knownHostsName == "a-%h")
        #expect(destination.portlessName == nil)
    }

    @Test func `tokens in the path of a key mean what they mean to ssh`() async throws {
        let destination = try await resolve(
            "me@box",
            """
            Host box
                HostName %h.example
                HostKeyAlias alias
                ControlPath /c/%C-%l-%L-%i-%k-%n-%r
                IdentityFile /c/%C-%l-%L-%i-%k-%n-%r
                IdentityFile ~root/x
                IdentityFile ~nobody-of-this-name/x
                CertificateFile ~/%h-cert.pub
            """)
        #expect(destination.identities[0].path == destination.controlPath)
        #expect(destination.identities[0].path.hasSuffix("-alias-box-me"))
        #expect(destination.identities[1].path == "/root/x")
        #expect(destination.identities[2].problem == "there is no account nobody-of-this-name here")
        #expect(destination.certificateFiles == ["/home/dev/box.example-cert.pub"])
    }

    @Test func `lists of files are taken apart as they were meant`() async throws {
        let destination = try await resolve(
            "box", "UserKnownHostsFile \"/a b\" ~root/c /%%h/%h\nGlobalKnownHostsFile /g /%h \"/d e f\"\n")
        #expect(destination.knownHostsFiles == ["/a b", "/root/c", "/%h/box", "/g", "/%h", "/d e f"])
        #expect(
            try await resolve("box", "UserKnownHostsFile none\nGlobalKnownHostsFile none\n")
                .knownHostsFiles == [])
    }

    @Test func `an address may be of IPv6, with a zone`() async throws {
        let destination = try await resolve("dev@fe80::1%lo", "IdentityFile /%h\n")
        #expect(destination.host == "fe80::1%lo")
        #expect(destination.user == "dev")
        #expect(destination.knownHostsName == "fe80::1%lo")
        #expect(destination.identities.first?.path == "/fe80::1%lo")
        #expect(try await resolve("box", "HostName fe80::1%%lo\n").host == "fe80::1%lo")
    }

    @Test func `a canonical name is what ssh -G makes of it`() async throws {
        let destination = try await resolve(
            "localhost.",
            "CanonicalizeHostname always\nMatch canonical\n  User canonical\n")
        #expect(destination.user == "canonical")
    }

    @Test func `a command that hands over a descriptor is for ssh itself`() async throws {
        #expect(
            try await resolve("box", "ProxyCommand x\nProxyUseFdpass yes\n").needsOpenSSH
                == "its ProxyCommand hands over a descriptor (ProxyUseFdpass)")
        // ssh does without it for ProxyJump.
        #expect(try await resolve("box", "ProxyJump x\nProxyUseFdpass yes\n").needsOpenSSH == nil)
    }

    @Test(arguments: [
        ("ProxyCommand nc %h %q\n", "ProxyCommand: %q means nothing there"),
        ("ProxyJump x%k\n", "ProxyJump: %k means nothing there"),
    ])
    func `a wrong token of the way is named`(config: String, detail: String) async {
        let error = await #expect(throws: LinkError.self) { try await resolve("box", config) }
        #expect(error == .resolutionFailed(destination: "box", detail: detail))
    }

    @Test func `the way to the host is told with its tokens filled in`() async throws {
        #expect(
            try await resolve("box", "ProxyJump %r@a,u@b-%h:22\nUser me\n").route
                == .jump(["me@a", "u@b-box:22"]))
        #expect(
            try await resolve("box", "HostName h\nProxyCommand nc %h %p\n").route == .command("nc h 22"))
        #expect(try await resolve("box", "").route == .direct)
    }

    @Test(arguments: ["-oProxyCommand=touch /tmp/x", "-", ""])
    func `a destination that ssh would take for an option is refused`(name: String) async {
        let error = await #expect(throws: LinkError.self) { try await resolve(name, "") }
        #expect(error?.code == "ssh.config")
    }

    @Test func `what ssh says about a wrong configuration is handed on`() async {
        let error = await #expect(throws: LinkError.self) { try await resolve("box", "Prot 22\n") }
        #expect(error?.code == "ssh.config")
        #expect(error?.message.contains("prot") == true)
        // What `-v` adds is not for people.
        #expect(error?.message.contains("debug") == false)
        #expect(error?.message.contains("OpenSSH_") == false)
    }

    @Test func `a missing ssh and one that hangs are told apart`() async throws {
        let missing = await #expect(throws: LinkError.self) {
            try await resolve("box", "") { $0.sshProgram = "/nonexistent/ssh" }
        }
        #expect(missing?.code == "ssh.config")
        let folder = try TemporaryFolder()
        let slow = try folder.write("ssh", "#!/bin/sh\nexec sleep 600\n", mode: 0o700)
        let hanging = await #expect(throws: LinkError.self) {
            try await resolve("box", "") {
                $0.sshProgram = slow
                $0.timeouts.resolve = .milliseconds(100)
            }
        }
        #expect(hanging == .timedOut(.resolve, after: .milliseconds(100)))
    }
}
