import HostsConfig
import HostsLog
import HostsModel
import Testing

@Suite struct SettingsTests {
    static let whole = """
        [ssh]
        program = "/usr/local/bin/ssh"
        config_file = "/etc/hostsd/ssh_config"
        connect_timeout_seconds = 3
        handshake_timeout_seconds = 4
        authentication_timeout_seconds = 60.5

        [probe]
        interval_seconds = 2.5
        mode = "exec"
        timeout_seconds = 7

        [reconnect]
        max_attempts = 2
        delays_seconds = [1, 2.5]

        [attention]
        enabled = false

        [hooks]
        timeout_seconds = 10
        concurrency = 2

        [limits]
        max_hosts = 20

        [log]
        level = "notice"
        ssh = "debug"
        """

    @Test func `a whole file is read`() {
        let configuration = load(settings: Self.whole)
        #expect(configuration.diagnostics == [])
        var expected = Settings()
        expected.ssh.program = "/usr/local/bin/ssh"
        expected.ssh.configFile = "/etc/hostsd/ssh_config"
        expected.ssh.connectTimeout = .seconds(3)
        expected.ssh.handshakeTimeout = .seconds(4)
        expected.ssh.authenticationTimeout = .milliseconds(60_500)
        expected.probe.interval = .milliseconds(2500)
        expected.probe.mode = .exec
        expected.probe.timeout = .seconds(7)
        expected.reconnect.maxAttempts = 2
        expected.reconnect.delays = [.seconds(1), .milliseconds(2500)]
        expected.attention.isEnabled = false
        expected.hooks.timeout = .seconds(10)
        expected.hooks.concurrency = 2
        expected.limits.maxHosts = 20
        expected.log.level = .notice
        expected.log.levels = ["ssh": .debug]
        #expect(configuration.settings == expected)
        #expect(configuration.settingOrigins["log.ssh"]?.description == "c/hostsd.toml:29:7")
    }

    @Test func `levels and categories are those of HostsLog`() {
        #expect(Settings.Log.Level.allCases.map(\.rawValue) == LogLevel.allCases.map(\.rawValue))
        #expect(Settings.Log.categories == LogCategory.allCases.map(\.rawValue))
    }

    struct Case: Sendable, CustomTestStringConvertible {
        let text: String
        let diagnostics: [String]
        var testDescription: String { text.debugDescription }

        init(_ text: String, _ diagnostics: String...) {
            self.text = text
            self.diagnostics = diagnostics
        }
    }

    @Test(arguments: [
        Case("[x-mine]\nanything = 1\n[probe]\nx-note = 2"),
        Case(
            "[probe]\ninterval_seconds = 0",
            "2:20: error: 0 is out of range: interval_seconds takes seconds from 1 to 3600"),
        Case(
            "[probe]\ninterval_seconds = nan",
            "2:20: error: nan is out of range: interval_seconds takes seconds from 1 to 3600"),
        Case(
            "[probe]\ninterval_seconds = inf",
            "2:20: error: inf is out of range: interval_seconds takes seconds from 1 to 3600"),
        Case(
            "[probe]\ninterval_seconds = '5s'",
            "2:20: error: this is a string; wanted is seconds from 1 to 3600"),
        Case(
            "[probe]\ninterval_seconds = 5s", #"2:20: error: 5s is not a value: text stands in quotes, "5s""#),
        Case(
            "[hooks]\nconcurrency = 2.5",
            "2:15: error: this is a number with a fraction; wanted is a whole number from 1 to 64"),
        Case(
            "[hooks]\nconcurrency = 9223372036854775807",
            "2:15: error: 9223372036854775807 is out of range: concurrency takes a whole number from 1 to 64"),
        Case(
            "[probe]\nmode = 'persistant'",
            #"2:8: error: "persistant" is no mode (auto, persistent, exec), did you mean "persistent"?"#),
        Case(
            "[reconnect]\ndelays_seconds = []",
            "2:18: error: delays_seconds has 0 items: "
                + "it takes an array of 1 to 32 numbers, each seconds from 0.5 to 3600"),
        Case(
            "[reconnect]\ndelays_seconds = [2, -4]",
            "2:22: error: -4 is out of range: delays_seconds takes seconds from 0.5 to 3600"),
        Case(
            "interval_seconds = 5",
            #"1:1: warning: "interval_seconds" has no effect here: it belongs in [probe]"#),
        Case(
            "[hooks]\ninterval_seconds = 5",
            #"2:1: warning: "interval_seconds" has no effect here: it belongs in [probe]"#),
        Case(
            "[probes]\ninterval_seconds = 5", #"1:2: warning: unknown table [probes], did you mean "probe"?"#),
        Case(
            "[probe]\nintervall_seconds = 5",
            #"2:1: warning: unknown key "intervall_seconds" in [probe], did you mean "interval_seconds"?"#),
        Case("probe = 5", "1:9: error: probe is a table: write [probe] on a line of its own"),
        Case(
            "[log]\nssh = 'verbose'",
            #"2:7: error: "verbose" is no level (trace, debug, info, notice, warning, error, critical)"#),
        Case("[ssh]\nprogram = 'bin/ssh'", #"2:11: error: the path must begin with "/""#),
        Case("[ssh]\nprogram = '-x'", #"2:11: error: a program's name cannot begin with "-""#),
        Case("[ssh]\nconfig_file = '~/x'", #"2:15: error: the path must begin with "/""#),
        Case(
            "[[probe]]\nmode = 'auto'", "1:1: error: probe is a table: write [probe] on a line of its own"),
    ])
    func `a wrong file gives all of its diagnostics`(_ c: Case) {
        let configuration = load(settings: c.text)
        #expect(configuration.diagnostics.map(\.description) == c.diagnostics.map { "c/hostsd.toml:" + $0 })
    }
}
