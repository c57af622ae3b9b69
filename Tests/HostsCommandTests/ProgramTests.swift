import HostsAPI
import HostsCommand
import HostsModel
import Testing

/// What the golden files do not show: where the socket is, errors, and the odd fleets.
@Suite struct ProgramTests {
    @Test(
        arguments: [
            ([:], nil, ["/run/hostsd/api.sock"]),
            (
                ["XDG_RUNTIME_DIR": "/run/user/7"], nil,
                ["/run/user/7/hostsd/api.sock", "/run/hostsd/api.sock"]
            ),
            (["XDG_RUNTIME_DIR": "not/absolute"], nil, ["/run/hostsd/api.sock"]),
            (["XDG_RUNTIME_DIR": "/r", "HOSTSD_SOCKET": "/a"], nil, ["/a"]),
            (
                ["XDG_RUNTIME_DIR": "/r", "HOSTSD_SOCKET": ""], nil,
                ["/r/hostsd/api.sock", "/run/hostsd/api.sock"]
            ),
            (["HOSTSD_SOCKET": "/a"], "/b", ["/b"]),
        ] as [([String: String], String?, [String])])
    func `the socket is looked for in the order of the design`(
        environment: [String: String], option: String?, expected: [String]
    ) throws {
        let locator = SocketLocator(option: option, environment: environment)
        #expect(locator.candidates == expected)
        for path in expected { #expect(try locator.locate(exists: { $0 == path }) == path) }
        #expect(throws: ClientError.notRunning(tried: expected)) {
            try locator.locate(exists: { _ in false })
        }
    }

    @Test func `without a daemon every verb says what was tried and what starts it`() throws {
        var stage = Stage()
        stage.existing = []
        for words in [
            ["list"], ["status", "a"], ["events", "-f"], ["enable", "a", "b"], ["reload"],
            ["version", "--json"],
        ] {
            let result = stage.run(words)
            #expect(
                result.error == """
                    hostsctl: hostsd is not running: nobody answers at \
                    /run/user/1000/hostsd/api.sock or /run/hostsd/api.sock
                    hint: systemctl --user start hostsd

                    """)
            #expect(result.output == "")
            #expect(result.code == .notRunning)
        }
        let version = stage.run("version")
        #expect(version.output == "hostsctl 0.1.0\nhostsd is not running\n")
        #expect(version.code == .success)
    }

    @Test func `a socket path that is too long is said to be so`() {
        let path = "/" + String(repeating: "x", count: 107)
        let result = Stage().run("list", "--socket", path)
        #expect(
            result.error == """
                hostsctl: the socket's path is too long: \(path) has 108 bytes, 107 are possible
                hint: name a shorter one with --socket or HOSTSD_SOCKET

                """)
        #expect(result.code == .usage)
    }

    struct Failure: Sendable, CustomTestStringConvertible {
        let name: String
        let error: APIError
        let code: ExitCode
        var testDescription: String { name }
    }

    @Test(arguments: [
        Failure(name: "host", error: .hostNotFound("devbxo", suggestion: "devbox"), code: .notFound),
        Failure(name: "session", error: .sessionNotFound("a/1"), code: .notFound),
        Failure(name: "disabled", error: .hostDisabled("devbox"), code: .notPermitted),
        Failure(name: "bad request", error: .badRequest("no"), code: .usage),
        Failure(name: "not permitted", error: .notPermitted("no"), code: .notPermitted),
        Failure(name: "method", error: .methodNotAllowed("no"), code: .failure),
        Failure(name: "path", error: .pathNotFound("/x"), code: .failure),
        Failure(name: "too large", error: .tooLarge("no"), code: .failure),
        Failure(name: "configuration", error: .configuration("no"), code: .badConfiguration),
        Failure(
            name: "conflict",
            error: .conflict(code: "host.nothing-to-cancel", message: "no", help: "do this"),
            code: .failure),
        Failure(
            name: "host key", error: .conflict(code: "hostkey.other", message: "no", help: nil),
            code: .notPermitted),
        Failure(name: "passphrase", error: .wrongPassphrase("no"), code: .notPermitted),
        Failure(
            name: "host failed", error: .hostFailed(code: "connect.refused", message: "no", help: nil),
            code: .failure),
        Failure(name: "failed", error: .failed(code: "x.y", message: "no", help: "do this"), code: .failure),
        Failure(name: "timed out", error: .timedOut("no"), code: .timedOut),
        Failure(name: "stopping", error: .stopping, code: .notRunning),
    ])
    func `each error of the API has its exit code`(_ c: Failure) throws {
        let daemon = FakeDaemon()
        try daemon.set("GET /v1/hosts/devbox", c.error.document, status: c.error.status)
        let result = Stage(daemon: daemon).run("show", "devbox")
        #expect(result.code == c.code)
        let hint = c.error.document.error.help.map { "hint: \($0)\n" } ?? ""
        #expect(result.error == "hostsctl: devbox: \(c.error.document.error.message)\n" + hint)
    }

    struct Broken: Sendable, CustomTestStringConvertible {
        let error: ClientError
        let message: String
        let code: ExitCode
        var testDescription: String { "\(error)" }
    }

    @Test(arguments: [
        Broken(
            error: .notPermitted(socket: "/s"), message: "the socket /s is another user's",
            code: .notPermitted),
        Broken(error: .timedOut(after: .seconds(10)), message: "no answer within 10 s", code: .timedOut),
        Broken(
            error: .deadlinePassed(after: .seconds(3)), message: "stopped after 3 s, as --timeout says",
            code: .timedOut),
        Broken(
            error: .timedOut(after: .milliseconds(500)), message: "no answer within 0.5 s", code: .timedOut),
        Broken(
            error: .connectionLost(detail: "a\u{1b}b"), message: "the connection to hostsd broke: a\\u{1b}b",
            code: .failure),
        Broken(error: .badAnswer(detail: "x"), message: "the answer cannot be understood: x", code: .failure),
        Broken(
            error: .tooLarge(limit: 16_777_216), message: "the answer is larger than 16 MiB", code: .failure),
        Broken(error: .unavailable(detail: "x"), message: "x", code: .failure),
    ])
    func `each error of the client has its words and its exit code`(_ c: Broken) {
        let daemon = FakeDaemon()
        daemon.fail("GET /v1/hosts", c.error)
        let result = Stage(daemon: daemon).run("list", "-q")
        #expect(result.error == "hostsctl: \(c.message)\n")
        #expect(result.code == c.code)
    }

    @Test(arguments: [
        ("garbage", "the answer is no HostList: it is no JSON"),
        ("{}", "the answer is no HostList: hosts is missing"),
        (#"{"schema":1,"hosts":[{}],"summary":{}}"#, "the answer is no HostList: hosts.0.name is missing"),
        (#"{"schema":"x","hosts":[],"summary":{}}"#, "the answer is no HostList: schema has another type"),
    ])
    func `an answer that cannot be read is no fleet`(body: String, detail: String) {
        let daemon = FakeDaemon()
        daemon.set("GET /v1/hosts", bytes: body)
        let result = Stage(daemon: daemon).run("list", "-q")
        #expect(
            result.error.hasPrefix("hostsctl: the answer cannot be understood: the answer is no HostList: "))
        #expect(result.code == .failure)
        #expect(result.output == "")
        // What scripts get is not judged.
        #expect(Stage(daemon: daemon).run("list", "--json").output == body + "\n")
    }

    @Test func `an error without a document is not taken for one`() {
        let daemon = FakeDaemon()
        daemon.set("GET /v1/hosts", bytes: "<html>", status: 500)
        let result = Stage(daemon: daemon).run("list", "-q")
        #expect(
            result.error
                == "hostsctl: the answer cannot be understood: status 500 without an error document\n")
    }

    @Test func `an empty fleet says how to begin`() throws {
        let daemon = try Documents.daemon()
        try daemon.set(
            "GET /v1/hosts",
            HostList(hosts: [], summary: FleetSummary(hosts: 0, online: 0, needsYou: 0, disabled: 0)))
        try daemon.set("GET /v1/sessions", SessionList(sessions: []))
        #expect(
            Stage(daemon: daemon).run("list").output == """
                no hosts are configured
                hint: a file /home/dev/.config/hostsd/hosts.d/NAME.toml with the line ssh = "NAME" makes one

                """)
    }

    @Test(arguments: [
        (FleetSummary(hosts: 1, online: 1, needsYou: 0, disabled: 0), "1 of 1 host online, nobody needs you"),
        (FleetSummary(hosts: 3, online: 2, needsYou: 1, disabled: 0), "2 of 3 hosts online, 1 needs you"),
        (
            FleetSummary(hosts: 0, online: 0, needsYou: 0, disabled: 2),
            "no host is enabled, nobody needs you, 2 disabled"
        ),
    ])
    func `the fleet in one line`(summary: FleetSummary, line: String) throws {
        let daemon = try Documents.daemon()
        try daemon.set("GET /v1/hosts", HostList(hosts: Documents.hosts.hosts, summary: summary))
        #expect(Stage(daemon: daemon).run("list").output.hasSuffix("\n\(line)\n"))
    }

    @Test(arguments: [
        ("online", "● online"), ("checking", "● checking"), ("connecting", "◌ connecting"),
        ("reconnecting", "◌ reconnecting, attempt 2 in 4 s"), ("asleep", "○ asleep"),
        ("disabled", "○ disabled"),
        ("needsYou", "! NEEDS YOU"), ("dormant", "○ dormant"), ("limited", "◌ limited, attempt 2 in 4 s"),
        ("unsupported", "× unsupported"), ("badRecord", "× bad record"), ("later\u{7}", "? later\\u{7}"),
    ])
    func `each condition has its words, and only online is online`(condition: String, words: String) throws {
        let daemon = FakeDaemon()
        let host = Documents.host("devbox", condition, seen: 3, attempt: 2, next: 4)
        try daemon.set(
            "GET /v1/hosts/devbox", HostDocument(host: host, sessions: [], record: [], diagnostics: []))
        let result = Stage(daemon: daemon).run("status", "devbox")
        #expect(result.output == "devbox  \(words)  agents: none  seen: 3 s ago\n")
        #expect(result.code == (condition == "online" ? .success : .predicateFalse))
    }

    @Test func `the timeout is the one that was asked for, and check has a longer one`() throws {
        let daemon = try Documents.daemon()
        _ = Stage(daemon: daemon).run("status")
        _ = Stage(daemon: daemon).run("check", "devbox")
        _ = Stage(daemon: daemon).run("check", "devbox", "--timeout", "2.5")
        #expect(daemon.timeouts == [.seconds(10), .seconds(75), .seconds(2.5)])
    }

    @Test func `another version of the daemon is told of`() throws {
        let daemon = try Documents.daemon()
        try daemon.set("GET /v1/version", VersionDocument(version: "0.2.0", pid: 1))
        let result = Stage(daemon: daemon).run("version")
        #expect(result.output == "hostsctl 0.1.0\nhostsd 0.2.0\n")
        #expect(result.error == "hostsctl: the versions differ: restart hostsd to run the one installed\n")
        #expect(result.code == .success)
    }
}
