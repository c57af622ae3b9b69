import HostsAttention
import HostsConfig

/// Everything in the configuration folder that is read again on a change: rules, hooks, records and settings.
struct FolderReader: Sendable {
    let rules: RuleShelf
    let center: AttentionCenter
    let keeper: ConfigurationKeeper

    /// Reads it all and puts it in force.
    ///
    /// - Returns: What has changed of the records.
    @discardableResult
    func readAll() async -> ConfigurationKeeper.Change {
        let faults = await rules.read()
        await center.reloadHooks()
        return await keeper.reload(ruleFaults: faults)
    }
}
