import HostsConfig
import HostsModel
import Testing

@Suite struct RecordPresenceTests {
    private let start = ContinuousClock.now
    private let record = hostFile("dev.toml", "ssh = 'dev'")
    private let override = hostFile("dev.override.toml", "enabled = false")

    private func at(_ seconds: Double) -> ContinuousClock.Instant {
        start.advanced(by: .milliseconds(Int(seconds * 1000)))
    }

    @Test func `a vanished record counts as removed after two seconds`() {
        var presence = RecordPresence()
        let first = presence.observe(ConfigurationSnapshot(hosts: [record]), now: at(0))
        #expect(first.lookAgainAt == nil)
        let gone = presence.observe(ConfigurationSnapshot(), now: at(10))
        #expect(gone.snapshot.hosts == [record])
        #expect(gone.lookAgainAt == at(12))
        let still = presence.observe(ConfigurationSnapshot(), now: at(11.9))
        #expect(still.snapshot.hosts == [record])
        #expect(still.lookAgainAt == at(12))
        let removed = presence.observe(ConfigurationSnapshot(), now: at(12))
        #expect(removed.snapshot.hosts == [])
        #expect(removed.lookAgainAt == nil)
    }

    @Test func `a vanished override does not enable its host for a moment`() {
        var presence = RecordPresence()
        _ = presence.observe(ConfigurationSnapshot(hosts: [override, record]), now: at(0))
        let gone = presence.observe(ConfigurationSnapshot(hosts: [record]), now: at(1))
        let configuration = ConfigurationLoader.load(gone.snapshot)
        #expect(configuration.records[HostID("dev")]?.isEnabled == false)
        let later = presence.observe(ConfigurationSnapshot(hosts: [record]), now: at(3))
        #expect(ConfigurationLoader.load(later.snapshot).records[HostID("dev")]?.isEnabled == true)
    }

    @Test func `a file that comes back is taken at once, and its time starts anew`() {
        var presence = RecordPresence()
        _ = presence.observe(ConfigurationSnapshot(hosts: [record]), now: at(0))
        _ = presence.observe(ConfigurationSnapshot(), now: at(1))
        let changed = hostFile("dev.toml", "ssh = 'other'")
        let back = presence.observe(ConfigurationSnapshot(hosts: [changed]), now: at(2.5))
        #expect(back.snapshot.hosts == [changed])
        let gone = presence.observe(ConfigurationSnapshot(), now: at(2.6))
        #expect(gone.snapshot.hosts == [changed])
        #expect(gone.lookAgainAt == at(4.6))
    }

    @Test func `nothing counts as removed while the folder cannot be listed`() {
        var presence = RecordPresence()
        _ = presence.observe(
            ConfigurationSnapshot(settings: settingsFile(""), hosts: [record]), now: at(0))
        let blind = ConfigurationSnapshot(isComplete: false)
        for second in [1.0, 60, 3600] {
            let decision = presence.observe(blind, now: at(second))
            #expect(decision.snapshot.hosts == [record])
            #expect(decision.snapshot.settings == settingsFile(""))
            #expect(decision.lookAgainAt == nil)
        }
    }

    @Test func `vanished settings stay for two seconds too`() {
        var presence = RecordPresence()
        let settings = settingsFile("[limits]\nmax_hosts = 3")
        _ = presence.observe(ConfigurationSnapshot(settings: settings), now: at(0))
        let gone = presence.observe(ConfigurationSnapshot(), now: at(1))
        #expect(gone.snapshot.settings == settings)
        #expect(gone.lookAgainAt == at(3))
        let removed = presence.observe(ConfigurationSnapshot(), now: at(3))
        #expect(removed.snapshot.settings == nil)
    }
}
