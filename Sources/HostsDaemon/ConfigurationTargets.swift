import HostsAttention
import HostsConfig
import HostsHub
import HostsLog

/// Every part of the daemon that a configuration concerns.
struct ConfigurationTargets: Sendable {
    let links: LinkParts
    let connector: SettableConnector
    let hub: ConnectionHub
    let center: AttentionCenter
    let refresh: BackgroundRefresh
    let runner: SettableHookRunner
    let hookEnvironment: HookEnvironment
    let logs: LogCenter
    /// The level that the command line asks for; it wins over `hostsd.toml`.
    let fixedLevel: LogLevel?

    func putInForce(_ configuration: Configuration) async {
        let settings = configuration.settings
        for category in LogCategory.allCases {
            logs.setSinkLevel(fixedLevel ?? settings.log.level(of: category), for: category)
        }
        let areLinksChanged = connector.set(links.factory(settings))
        runner.set(HookRunner(environment: hookEnvironment, timeout: settings.hooks.timeout))
        await center.update(AttentionCenter.Settings(settings))
        await refresh.setInterval(settings.refresh.interval)
        await hub.setSettings(ConnectionHub.Settings(settings))
        let bad = configuration.bad.compactMapValues(\.first).mapValues { ($0.location, $0.text) }
        await hub.setRecords(Array(configuration.records.values), bad: bad)
        if areLinksChanged { await hub.linkSettingsChanged() }
    }
}
