import Testing

@testable import HostsSSH

struct TokenExpansionTests {
    private let expansion = TokenExpansion(
        homeDirectory: "/home/dev", homes: ["other": "/home/other"], localUser: "me", localUserID: 7,
        localHost: "here.example", remoteHost: "h", originalHost: "n", port: 2222, remoteUser: "r",
        hostKeyAlias: nil, connectionHash: "c0ffee", jumpHost: "j",
        environment: ["KEYS": "/keys", "T": "~/x"])

    @Test(arguments: [
        ("~/.ssh/id", "/home/dev/.ssh/id"), ("~", "/home/dev"), ("~other/id", "/home/other/id"),
        ("~other", "/home/other"), ("/a/%h-%n-%p-%r-%u-%k%%", "/a/h-n-2222-r-me-n%"),
        ("/%C/%i/%j/%L/%l", "/c0ffee/7/j/here/here.example"),
        ("%d/x", "/home/dev/x"), ("${KEYS}/x", "/keys/x"), ("/a$b", "/a$b"), ("/plain", "/plain"),
        // What is filled in is not looked at again.
        ("/%%h", "/%h"), ("${T}", "~/x"), ("/a~", "/a~"), ("/ü %u", "/ü me"),
    ])
    func `tokens of a key's path are filled in`(text: String, path: String) throws {
        #expect(try expansion.path(text) == path)
    }

    @Test(arguments: [
        ("/a%", TokenExpansion.Failure.unknownToken(" ")), ("/a%q", .unknownToken("q")),
        ("/%f", .unknownToken("f")), ("${MISSING}/x", .unknownVariable("MISSING")),
        ("/${KEYS", .unclosedVariable), ("~nobody-here/x", .unknownUser("nobody-here")),
    ])
    func `what is not known is said so`(text: String, failure: TokenExpansion.Failure) {
        #expect(throws: failure) { try expansion.path(text) }
    }

    @Test func `a command keeps what belongs to its shell`() throws {
        #expect(try expansion.proxy("~/c %h %n %p %r %% ${X} $Y") == "~/c h n 2222 r % ${X} $Y")
        for token in "CdhijkLlu" where token != "h" {
            #expect(throws: TokenExpansion.Failure.unknownToken(token)) { try expansion.proxy("%\(token)") }
        }
    }

    @Test func `an alias takes the place of the name`() throws {
        let aliased = TokenExpansion(
            homeDirectory: "/", localUser: "me", remoteHost: "h", originalHost: "n", port: 22,
            remoteUser: "r", hostKeyAlias: "alias", environment: [:])
        #expect(try aliased.path("%k") == "alias")
        #expect(throws: TokenExpansion.Failure.unknownToken("C")) { try aliased.path("%C") }
    }

    @Test func `home directories of accounts are those of the system`() {
        #expect(TokenExpansion.home(of: "root") == "/root")
        #expect(TokenExpansion.home(of: "nobody-of-this-name") == nil)
        #expect(TokenExpansion.account(in: "~root/x") == "root")
        #expect(TokenExpansion.account(in: "~/x") == nil)
        #expect(TokenExpansion.account(in: "/~x") == nil)
    }
}

struct JumpHopTests {
    private func hop(_ text: String) -> [String?]? {
        JumpHop(text).map { [$0.user, $0.host, $0.port.map(String.init)] }
    }

    @Test(
        arguments: [
            ("h", [nil, "h", nil]), ("u@h", ["u", "h", nil]), ("h:23", [nil, "h", "23"]),
            ("u@x@h:23", ["u@x", "h", "23"]), ("h:", [nil, "h", nil]), ("[::1]", [nil, "::1", nil]),
            ("u@[::1]:23", ["u", "::1", "23"]), ("::1", [nil, "::1", nil]),
            ("[fe80::1%lo]:1", [nil, "fe80::1%lo", "1"]),
            ("ssh://u@h:23", ["u", "h", "23"]), ("ssh://h", [nil, "h", nil]),
            ("ssh://h:23/", [nil, "h", "23"]),
            ("SSH://[::1]:23", [nil, "::1", "23"]), ("ssh://a%40b@h", ["a@b", "h", nil]),
        ] as [(String, [String?])])
    func `a hop is user, host and port`(text: String, parts: [String?]) {
        #expect(hop(text) == parts)
    }

    @Test(arguments: [
        "", "@h", "u@", "-x", "u@-oProxyCommand=x", "h:0", "h:70000", "h:x", "[::1", "[::1]x", "[]:22", "/h",
        "ssh://", "ssh://h/path", "ssh://a%4@h", "ssh://a%00@h",
    ])
    func `what is none is refused`(text: String) {
        #expect(hop(text) == nil)
    }
}
