import HostsAPI
import Testing

@testable import HostsCommand

/// `hostsctl add`, `remove` and `set`: what is asked of the daemon, and what is asked of the person.
@Suite struct RecordCommandTests {
    private static func line(_ text: String) -> ConsoleAnswer { .line(SecretBytes(copying: text.utf8)) }

    private static func done(_ host: String) -> ActionDocument {
        ActionDocument(host: Documents.devbox, changed: true, message: "\(host) is done")
    }

    private func stage() throws -> Stage {
        var stage = Stage()
        stage.daemon = try Documents.daemon()
        try stage.daemon.set("POST /v1/hosts", Self.done("new"))
        try stage.daemon.set("PATCH /v1/hosts/devbox", Self.done("devbox"))
        try stage.daemon.set(
            "DELETE /v1/hosts/devbox",
            RemovalDocument(host: "devbox", record: "/r", override: nil, message: "devbox is removed"))
        return stage
    }

    @Test(
        arguments: [
            (["add", "new"], "POST /v1/hosts", #"{"name":"new"}"#),
            (
                [
                    "add", "new", "me@new", "--label", "New one", "--transport=openssh", "--tag", "a,b",
                    "--tag",
                    "c", "--disabled", "--background-keep-alive", "--session-restore", "tmux",
                ], "POST /v1/hosts",
                #"{"background_keep_alive":true,"enabled":false,"label":"New one","name":"new","#
                    + #""session_restore":"tmux","ssh":"me@new","tags":["a","b","c"],"transport":"openssh"}"#
            ),
            (
                ["set", "devbox", "label=a=b", "enabled=false", "tags=", "--unset", "ssh,transport"],
                "PATCH /v1/hosts/devbox",
                #"{"enabled":"false","label":"a=b","ssh":null,"tags":null,"transport":null}"#
            ),
            (["remove", "devbox", "--yes"], "DELETE /v1/hosts/devbox", nil),
        ] as [([String], String, String?)])
    func `what was typed is asked of the daemon`(words: [String], request: String, body: String?) throws {
        let stage = try stage()
        let result = stage.run(words)
        #expect(result.code == .success)
        #expect(result.error == "")
        #expect(stage.daemon.requests == [request])
        #expect(stage.daemon.bodies == [body])
    }

    @Test(arguments: [
        (["set", "devbox"], "set needs a KEY=VALUE"),
        (["set", "devbox", "label"], #"set takes KEY=VALUE, not "label""#),
        (["set", "devbox", "=x"], #"set takes KEY=VALUE, not "=x""#),
        (["set", "devbox", "label=a", "label=b"], "the key label is there twice"),
        (["set", "devbox", "label=a", "--unset", "label"], "the key label is there twice"),
        (["add"], "add needs a NAME"),
        (["add", "a", "b", "c"], #"add cannot do anything with "c""#),
        (
            ["add", "a", "--transport", "opensh"],
            #"--transport must be one of auto, libssh2, openssh, local, not "opensh""#
        ),
        (["remove", "devbox", "--yes=devbox"], "--yes takes no value"),
        (["trust", "devbox", "--yes"], "--yes needs a value: --yes FINGERPRINT"),
    ]) func `a wrong line asks nothing`(words: [String], message: String) throws {
        let stage = try stage()
        let result = stage.run(words)
        #expect(result.code == .usage)
        #expect(result.error.hasPrefix("hostsctl: " + message + "\n"))
        #expect(stage.daemon.requests == [])
    }

    @Test func `a removal is asked for on a terminal, and done after a yes`() throws {
        var stage = try stage()
        stage.canAsk = true
        stage.answers = [Self.line("yes")]
        let result = stage.run("remove", "devbox")
        #expect(
            result.questions == [
                "Remove devbox? Its files are kept under other names. Type yes to remove it: "
            ])
        #expect(result.output == "devbox is removed\n")
        #expect(result.code == .success)
        #expect(stage.daemon.requests == ["GET /v1/hosts/devbox", "DELETE /v1/hosts/devbox"])
    }

    @Test(arguments: [line("y"), line(""), line("no"), .none, .tooLong])
    func `anything but a yes removes nothing`(answer: ConsoleAnswer) throws {
        var stage = try stage()
        stage.canAsk = true
        stage.answers = [answer]
        let result = stage.run("remove", "devbox")
        #expect(result.error == "hostsctl: devbox: nothing was removed\n")
        #expect(result.code == .failure)
        #expect(stage.daemon.requests == ["GET /v1/hosts/devbox"])
    }

    @Test func `without a terminal a removal needs --yes`() throws {
        let stage = try stage()
        let result = stage.run("remove", "devbox")
        #expect(
            result.error == """
                hostsctl: devbox: a host is removed only after a yes, and there is no terminal to ask on
                hint: hostsctl remove devbox --yes

                """)
        #expect(result.code == .usage)
        #expect(stage.daemon.requests == ["GET /v1/hosts/devbox"])
    }

    @Test func `nobody is asked about a host that there is not`() throws {
        var stage = try stage()
        stage.canAsk = true
        let result = stage.run("remove", "nobody")
        #expect(result.code == .notFound)
        #expect(result.questions == [])
    }

    @Test(arguments: [["add", "a"], ["remove", "a", "--yes"], ["remove", "a"], ["set", "a", "label=b"]])
    func `without a daemon nothing is done`(words: [String]) throws {
        var stage = try stage()
        stage.existing = []
        let result = stage.run(words)
        #expect(result.code == .notRunning)
        #expect(result.error.contains("hint: systemctl --user start hostsd"))
    }

    @Test(
        arguments: [
            (["remove", ""], ["build", "devbox"]), (["set", "d"], ["devbox"]),
            (["set", "devbox", "t"], ["transport=", "tags="]),
            (["set", "devbox", "--unset", "la"], ["label"]),
            (["add", "x", "--transport", "lib"], ["libssh2"]), (["remove", "--yes", "d"], ["devbox"]),
            (["add", ""], []),
        ] as [([String], [String])])
    func `records are completed`(words: [String], expected: [String]) {
        let completion = Completion(table: .standard, hosts: { ["build", "devbox"] })
        #expect(completion.candidates(for: words) == expected)
    }
}
