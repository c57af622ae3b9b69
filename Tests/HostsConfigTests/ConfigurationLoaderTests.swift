import HostsConfig
import HostsLog
import HostsModel
import HostsTestSupport
import Testing

@Suite struct ConfigurationLoaderTests {
    @Test func `without any record this machine is supervised`() {
        let configuration = load()
        #expect(
            configuration.records == [
                HostID("local"): HostRecord(
                    id: HostID("local"), destination: "", label: "This machine", transport: .local)
            ])
        #expect(configuration.diagnostics == [])
    }

    @Test func `the implicit host can be overridden like any other`() {
        let configuration = load(hostFile("local.override.toml", "enabled = false"))
        #expect(configuration.records[HostID("local")]?.isEnabled == false)
        #expect(configuration.records[HostID("local")]?.label == "This machine")
        #expect(configuration.diagnostics == [])
    }

    @Test(arguments: ["dev.toml", "Dev.toml", "a b.toml"])
    func `a record that cannot be used still means that the person has configured hosts`(_ name: String) {
        let configuration = load(hostFile(name, "ssh = "))
        #expect(configuration.records == [:])
        #expect(configuration.hasErrors)
    }

    @Test func `a folder that could not be listed does not mean that there are no hosts`() {
        let problem = Diagnostic.error(
            at: .whole("c/hosts.d"), "the folder cannot be read: Permission denied")
        let configuration = ConfigurationLoader.load(
            ConfigurationSnapshot(problems: [problem], isComplete: false))
        #expect(configuration.records == [:])
        #expect(configuration.diagnostics == [problem])
    }

    @Test func `hosts beyond the limit are reported, disabled ones count`() {
        let configuration = load(
            settings: "[limits]\nmax_hosts = 2", hostFile("a.toml", "ssh = 'a'\nenabled = false"),
            hostFile("b.toml", "ssh = 'b'"), hostFile("c.toml", "ssh = 'c'"))
        #expect(configuration.records.keys.sorted() == [HostID("a"), HostID("b")])
        #expect(
            configuration.bad[HostID("c")]?.map(\.description) == [
                "c/hosts.d/c.toml: error: not used: there are 3 hosts, disabled ones included, and "
                    + "limits.max_hosts is 2: remove one, or raise the limit in hostsd.toml"
            ])
    }

    @Test func `a bad host keeps its last good record and its diagnostics`() {
        let good = load(hostFile("a.toml", "ssh = 'a'"), hostFile("b.toml", "ssh = 'b'"))
        let broken = load(hostFile("a.toml", "ssh = 'other'\nenabled = 3"), hostFile("b.toml", "ssh = 'bb'"))
        let merged = broken.merging(lastGood: good)
        #expect(merged.records[HostID("a")]?.destination == "a")
        #expect(merged.records[HostID("b")]?.destination == "bb")
        #expect(merged.bad[HostID("a")]?.map(\.location.line) == [2])
        #expect(merged.origins[HostID("a")]?["ssh"]?.line == 1)
        let again = broken.merging(lastGood: merged)
        #expect(again == merged)
        let repaired = load(hostFile("a.toml", "ssh = 'c'"), hostFile("b.toml", "ssh = 'bb'"))
        #expect(repaired.merging(lastGood: merged) == repaired)
    }

    @Test func `a host that is one too many is dropped, whatever it was before`() {
        let files = [hostFile("a.toml", "ssh = 'a'"), hostFile("b.toml", "ssh = 'b'")]
        let before = load(files[0], files[1])
        let after = load(settings: "[limits]\nmax_hosts = 1", files[0], files[1]).merging(lastGood: before)
        #expect(Array(after.records.keys) == [HostID("a")])
        #expect(Array(after.bad.keys) == [HostID("b")])
    }

    @Test func `at the start a wrong setting has its default, and the right ones count`() {
        let text = "[probe]\ninterval_seconds = 7\ntimeout_seconds = 0"
        let first = load(settings: text).merging(lastGood: Configuration())
        #expect(first.settings.probe.interval == .seconds(7))
        #expect(first.settings.probe.timeout == Settings().probe.timeout)
        #expect(first.hasErrors)
    }

    @Test func `a bad host without an earlier record, and a removed one, have none`() {
        let good = load(hostFile("a.toml", "ssh = 'a'"), hostFile("b.toml", "ssh = 'b'"))
        let later = load(hostFile("b.toml", "ssh = 'b'"), hostFile("c.toml", "ssh = 3"))
        let merged = later.merging(lastGood: good)
        #expect(merged.records.keys.sorted() == [HostID("b")])
        #expect(merged.bad.keys.sorted() == [HostID("c")])
    }

    @Test func `settings with an error stay as they were`() {
        let good = load(settings: "[probe]\ninterval_seconds = 7")
        let broken = load(settings: "[probe]\ninterval_seconds = 9\ntimeout_seconds = 0")
        #expect(!broken.areSettingsGood)
        #expect(broken.merging(lastGood: good).settings.probe.interval == .seconds(7))
    }

    @Test func `a file that others can write to does not choose programs`() {
        let concern = "everybody can write to it: chmod o-w c/hostsd.toml"
        let text = "[ssh]\nprogram = '/tmp/x'\nconfig_file = '/tmp/y'\nconnect_timeout_seconds = 3"
        let configuration = ConfigurationLoader.load(
            ConfigurationSnapshot(settings: settingsFile(text, concern: concern)))
        #expect(configuration.settings.ssh.program == nil)
        #expect(configuration.settings.ssh.configFile == nil)
        #expect(configuration.settings.ssh.connectTimeout == .seconds(3))
        let reason = "can run programs and is not taken from a file that others can change"
        #expect(
            configuration.diagnostics.map(\.description) == [
                "c/hostsd.toml: warning: \(concern)", "c/hostsd.toml:2:11: error: ssh.program \(reason)",
                "c/hostsd.toml:3:15: error: ssh.config_file \(reason)",
            ])
    }

    @Test func `a record that others can write to is used, with a warning`() {
        let concern = "group 7 can write to it"
        let configuration = load(hostFile("a.toml", "ssh = 'a'", concern: concern))
        #expect(configuration.records.count == 1)
        #expect(configuration.diagnostics.map(\.description) == ["c/hosts.d/a.toml: warning: \(concern)"])
    }

    @Test func `no mutation of good files traps, and each error has a place`() {
        var generator = SeededGenerator(seed: 42)
        let seeds = [Array(RecordTests.whole.utf8), Array(SettingsTests.whole.utf8)]
        let letters = Array("=[]{}'\"\\.,#\n\r\t\0x1-_\u{7f}é".utf8) + [0xff, 0xc3]
        for round in 0..<4000 {
            var bytes = seeds[round % 2]
            for _ in 0..<Int.random(in: 1...6, using: &generator) where !bytes.isEmpty {
                let index = Int.random(in: 0..<bytes.count, using: &generator)
                switch Int.random(in: 0..<4, using: &generator) {
                case 0: bytes[index] = letters[Int.random(in: 0..<letters.count, using: &generator)]
                case 1: bytes.remove(at: index)
                case 2: bytes.insert(letters[Int.random(in: 0..<letters.count, using: &generator)], at: index)
                default: bytes.removeSubrange(index...)
                }
            }
            let file = ConfigurationFile(name: "a.toml", path: "a.toml", content: .bytes(bytes))
            let configuration = ConfigurationLoader.load(
                ConfigurationSnapshot(settings: file, hosts: [file]))
            let isUsed = configuration.records[HostID("a")] != nil
            let isBad = configuration.bad[HostID("a")] != nil
            #expect(isUsed != isBad)
            #expect(configuration.areSettingsGood || configuration.hasErrors)
        }
    }
}
