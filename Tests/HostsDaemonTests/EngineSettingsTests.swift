import HostsAttention
import HostsConfig
import HostsHub
import HostsLog
import HostsPolicy
import HostsSSH
import Testing

@testable import HostsDaemon

@Suite struct EngineSettingsTests {
    @Test func `the defaults of the file are those of the engines`() {
        let settings = Settings()
        #expect(
            LinkSettings(settings, environment: ["HOME": "/h"])
                == LinkSettings(environment: ["HOME": "/h"], homeDirectory: "/h"))
        let (hub, plain) = (ConnectionHub.Settings(settings), ConnectionHub.Settings())
        #expect(hub.interval == plain.interval)
        #expect(hub.probeTimeout == plain.probeTimeout)
        // The file spells out what the policy repeats.
        let attempts = 0...plain.policy.maxAttempts + 1
        #expect(
            attempts.map { hub.policy.nextDelay(attempt: $0) }
                == attempts.map { plain.policy.nextDelay(attempt: $0) })
        #expect(AttentionCenter.Settings(settings) == AttentionCenter.Settings())
    }

    @Test func `every setting of a link reaches it`() {
        var settings = Settings()
        settings.ssh.program = "/s"
        settings.ssh.configFile = "/f"
        settings.ssh.connectTimeout = .seconds(1)
        settings.ssh.handshakeTimeout = .seconds(2)
        settings.ssh.authenticationTimeout = .seconds(3)
        settings.probe.mode = .exec
        let link = LinkSettings(settings, environment: [:])
        #expect(link.sshProgram == "/s")
        #expect(link.configFile == "/f")
        #expect(link.timeouts.connect == .seconds(1))
        #expect(link.timeouts.handshake == .seconds(2))
        #expect(link.timeouts.authentication == .seconds(3))
        #expect(link.probeMode == .exec)
        #expect(link.homeDirectory == "/")
    }

    @Test(arguments: Settings.Probe.Mode.allCases)
    func `each mode of the probe has its name in both`(mode: Settings.Probe.Mode) {
        var settings = Settings()
        settings.probe.mode = mode
        #expect(LinkSettings(settings, environment: [:]).probeMode.rawValue == mode.rawValue)
    }

    @Test func `every setting of the hub and of the attention reaches it`() {
        var settings = Settings()
        settings.probe.interval = .seconds(7)
        settings.probe.timeout = .seconds(8)
        settings.reconnect.maxAttempts = 2
        settings.reconnect.delays = [.milliseconds(500), .seconds(3)]
        settings.attention.isEnabled = false
        settings.hooks.concurrency = 2
        let hub = ConnectionHub.Settings(settings)
        #expect(hub.interval == .seconds(7))
        #expect(hub.probeTimeout == .seconds(8))
        #expect(hub.policy == BoardReconnectPolicy(maxAttempts: 2, delays: [0.5, 3]))
        let attention = AttentionCenter.Settings(settings)
        #expect(!attention.isEnabled)
        #expect(attention.concurrency == 2)
    }

    @Test func `a category has its own level, or the common one`() {
        var log = Settings().log
        log.level = .warning
        log.levels = ["ssh": .trace]
        #expect(log.level(of: .ssh) == .trace)
        #expect(log.level(of: .hub) == .warning)
        for level in Settings.Log.Level.allCases {
            log.level = level
            #expect(log.level(of: .hub).rawValue == level.rawValue)
        }
    }
}
