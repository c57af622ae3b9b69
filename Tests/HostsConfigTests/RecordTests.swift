import HostsConfig
import HostsModel
import Testing

@Suite struct RecordTests {
    static let whole = """
        ssh = "devbox"
        label = "Dev box"
        enabled = false
        background_keep_alive = true
        session_restore = "tmux"
        transport = "openssh"
        tags = ["ml", "office"]
        x-note = "of somebody else"

        [x-other]
        enabled = 3
        """

    @Test func `a whole record is read, each value with its place`() throws {
        let configuration = load(hostFile("dev.toml", Self.whole))
        #expect(configuration.diagnostics == [])
        #expect(
            configuration.records[HostID("dev")]
                == HostRecord(
                    id: HostID("dev"), destination: "devbox", label: "Dev box", isEnabled: false,
                    backgroundKeepAlive: true, sessionRestore: .tmux, transport: .openssh,
                    tags: ["ml", "office"]))
        let origins = try #require(configuration.origins[HostID("dev")])
        #expect(origins["ssh"]?.description == "c/hosts.d/dev.toml:1:7")
        #expect(origins["tags"]?.description == "c/hosts.d/dev.toml:7:8")
    }

    @Test func `the least record has the defaults`() {
        let configuration = load(hostFile("dev.toml", "ssh = 'devbox'"))
        #expect(
            configuration.records == [HostID("dev"): HostRecord(id: HostID("dev"), destination: "devbox")])
        #expect(configuration.diagnostics == [])
    }

    @Test func `an override wins, key by key, and its places are shown`() throws {
        let configuration = load(
            hostFile("dev.toml", Self.whole), hostFile("dev.override.toml", "# by hostsctl\nenabled = true\n")
        )
        let record = try #require(configuration.records[HostID("dev")])
        #expect(record.isEnabled)
        #expect(record.label == "Dev box")
        #expect(
            configuration.origins[HostID("dev")]?["enabled"]?.description
                == "c/hosts.d/dev.override.toml:2:11")
        #expect(configuration.diagnostics == [])
    }

    @Test func `an override without its record is a warning and no host`() {
        let configuration = load(
            hostFile("a.toml", "ssh = 'a'"), hostFile("dev.override.toml", "enabled = true"))
        #expect(Array(configuration.records.keys) == [HostID("a")])
        #expect(
            configuration.diagnostics.map(\.description) == [
                "c/hosts.d/dev.override.toml: warning: an override without its record: there is no dev.toml beside it"
            ])
    }

    @Test func `an error in the override makes the host bad, not the others`() {
        let configuration = load(
            hostFile("a.toml", "ssh = 'a'"), hostFile("dev.toml", "ssh = 'dev'"),
            hostFile("dev.override.toml", "enabled = 'no'"))
        #expect(Array(configuration.records.keys) == [HostID("a")])
        #expect(
            configuration.bad[HostID("dev")]?.map(\.description) == [
                "c/hosts.d/dev.override.toml:1:11: error: this is a string; wanted is true or false"
            ])
        #expect(configuration.diagnostics.count == 1)
    }

    struct Case: Sendable, CustomTestStringConvertible {
        let text: String
        let diagnostics: [String]
        var isBad: Bool { diagnostics.contains { $0.contains(" error: ") } }
        var testDescription: String { text.debugDescription }

        init(_ text: String, _ diagnostics: String...) {
            self.text = text
            self.diagnostics = diagnostics
        }
    }

    @Test(arguments: [
        Case(
            "",
            #"dev.toml: error: the key "ssh" is missing: write ssh = "DESTINATION", or transport = "local""#),
        Case("transport = 'local'"),
        Case(
            "ssh = 'dev'\ntransport = 'local'", #"dev.toml:1:7: warning: not used: the transport is "local""#),
        Case(
            "ssh = 'dev'\nenabled = yes", "dev.toml:2:11: error: yes is not a value here: write true or false"
        ),
        Case(
            "ssh = 'dev'\nenabled = 'true'",
            "dev.toml:2:11: error: this is a string; wanted is true or false, without quotes"),
        Case("ssh = 'dev'\nenabled = 1", "dev.toml:2:11: error: this is an integer; wanted is true or false"),
        Case("ssh = 3", "dev.toml:1:7: error: this is an integer; wanted is a string in quotes"),
        Case(
            "ssh = ''", "dev.toml:1:7: error: the destination is empty: write what you would type after ssh"),
        Case(
            "ssh = '-oProxyCommand=x'",
            #"dev.toml:1:7: error: a destination cannot begin with "-": ssh would take it for an option"#),
        Case(
            "ssh = 'dev -p 22'",
            "dev.toml:1:7: error: a destination is one word: put options and ports into your ssh_config"),
        Case(#"ssh = "dev\u0007""#, "dev.toml:1:7: error: the destination holds control characters"),
        Case(#"ssh = "dev\u202e""#, "dev.toml:1:7: error: the destination holds control characters"),
        Case("ssh = 'dev'\nlabel = ' '", "dev.toml:2:9: error: the label is empty"),
        Case(
            "ssh = 'dev'\nlabel = '\(String(repeating: "é", count: 101))'",
            "dev.toml:2:9: error: the label is longer than 100 characters"),
        Case(
            "ssh = 'dev'\ntags = 'ml'",
            "dev.toml:2:8: error: this is a string; wanted is an array of at most 16 words in quotes"),
        Case(
            "ssh = 'dev'\ntags = ['ml', 3]",
            "dev.toml:2:15: error: this is an integer; wanted is a string in quotes"),
        Case("ssh = 'dev'\ntags = ['a b']", "dev.toml:2:9: error: a tag is one word without commas"),
        Case(
            "ssh = 'dev'\ntransport = 'libssh'",
            #"dev.toml:2:13: error: "libssh" is no transport (auto, libssh2, openssh, local), did you mean "libssh2"?"#
        ),
        Case(
            "ssh = 'dev'\nsession_restore = 'screen'",
            #"dev.toml:2:19: error: "screen" is no session_restore (none, tmux)"#),
        Case(
            "ssh = 'dev'\nenabld = true\ncolour = 'red'",
            #"dev.toml:2:1: warning: unknown key "enabld", did you mean "enabled"?"#,
            #"dev.toml:3:1: warning: unknown key "colour""#),
        Case(
            "ssh = 'dev'\n\n[notify]\nquiet = true\nenabled = false",
            "dev.toml:3:2: warning: unknown table [notify]",
            #"dev.toml:5:1: warning: "enabled" stands in [notify] and has no effect: move it above the first table"#
        ),
        Case(
            "ssh = 'dev'\ntags = []\nenabled = 3\nlabel = 4\nsesion_restore = 'tmux'",
            "dev.toml:3:11: error: this is an integer; wanted is true or false",
            "dev.toml:4:9: error: this is an integer; wanted is a string in quotes",
            #"dev.toml:5:1: warning: unknown key "sesion_restore", did you mean "session_restore"?"#),
        Case(
            "ssh = 'dev'\nenabled.now = true",
            "dev.toml:2:1: error: this is a table; wanted is true or false"),
        Case("ssh = 2026-01-31", "dev.toml:1:7: error: this is a date or time; wanted is a string in quotes"),
    ])
    func `a wrong record gives all of its diagnostics`(_ c: Case) {
        let configuration = load(hostFile("dev.toml", c.text))
        #expect(configuration.diagnostics.map(\.description) == c.diagnostics.map { "c/hosts.d/" + $0 })
        #expect((configuration.bad[HostID("dev")] != nil) == c.isBad)
        #expect((configuration.records[HostID("dev")] != nil) == !c.isBad)
    }

    @Test func `names of files decide what they are`() {
        let text = "ssh = 'x'"
        let configuration = load(
            hostFile("dev.toml", text), hostFile("Dev.toml", text), hostFile("GPU.toml", text),
            hostFile("-x.toml", text), hostFile("a b.toml", text), hostFile("README.md", "no TOML"),
            hostFile(".dev.toml.swp", text), hostFile("dev.toml~", text), hostFile(".hostsctl-aB3dEf", text),
            hostFile("#dev.toml#", text), hostFile("dev.toml.dpkg-dist", text),
            hostFile("dev.sync-conflict-20260131-235959-ABCDEFG.toml", text),
            hostFile("dev.override.sync-conflict-20260131-235959-ABCDEFG.toml", text),
            hostFile("dev (conflicted copy 2026-01-31 235959).toml", text))
        #expect(Array(configuration.records.keys) == [HostID("dev")])
        #expect(configuration.bad == [:])
        let allowed = "(1 to 63 characters of a-z 0-9 . _ -, the first a letter or digit)"
        let copy = "left by a sync tool; compare the two, then delete it"
        #expect(
            configuration.diagnostics.map(\.description) == [
                #"c/hosts.d/-x.toml: error: not used: "-x" is no host name \#(allowed)"#,
                "c/hosts.d/Dev.toml: error: duplicate host: dev.toml is there already, and this file is not used",
                "c/hosts.d/GPU.toml: error: not used: names of records are in lower case; rename it to gpu.toml",
                "c/hosts.d/README.md: info: not used: records end in .toml",
                #"c/hosts.d/a b.toml: error: not used: "a b" is no host name \#(allowed)"#,
                "c/hosts.d/dev (conflicted copy 2026-01-31 235959).toml: warning: not used: a conflict copy of "
                    + "dev.toml, \(copy)",
                "c/hosts.d/dev.override.sync-conflict-20260131-235959-ABCDEFG.toml: warning: not used: "
                    + "a conflict copy of dev.override.toml, \(copy)",
                "c/hosts.d/dev.sync-conflict-20260131-235959-ABCDEFG.toml: warning: not used: a conflict copy of "
                    + "dev.toml, \(copy)",
            ])
    }

    @Test func `two records with one destination are both used, and told of`() {
        let configuration = load(hostFile("a.toml", "ssh = 'x'"), hostFile("b.toml", "ssh = 'x'"))
        #expect(configuration.records.count == 2)
        #expect(
            configuration.diagnostics.map(\.description) == [
                "c/hosts.d/b.toml:1:7: warning: a.toml has the same destination: this host is supervised twice"
            ])
    }
}
