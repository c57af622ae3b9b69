import HostsLog
import HostsModel
import HostsSSH
import HostsSystem

/// Watches the files that ssh reads as its configuration, whichever they are at the moment.
///
/// Which ones they are is known once ssh has been asked about a host, and changes with `Include`.
struct SSHConfigWatch: Sendable {
    /// For a file system that hangs.
    private static let timeout = Duration.seconds(10)

    let resources: LinkResources
    let clock: any MonotonicClock
    let log: Log

    /// Calls `onChange` after each change that has settled, until the task is cancelled.
    func run(onChange: @escaping @Sendable () async -> Void) async {
        await withTaskGroup(of: Void.self) { group in
            var current: FolderWatch?
            for await _ in resources.destinations.watchChanges {
                current?.close()
                current = watch()
                guard let current else { continue }
                group.addTask { await current.run() }
                group.addTask {
                    for await _ in current.changes {
                        guard await resources.hasConfigurationChanged(within: Self.timeout) else { continue }
                        log.info("config.ssh-changed", "ssh_config has changed")
                        await onChange()
                    }
                }
            }
            current?.close()
            group.cancelAll()
        }
    }

    private func watch() -> FolderWatch? {
        let folders = resources.destinations.watchedFolders.sorted()
        do throws(SystemFailure) {
            return try FolderWatch(folders: folders, clock: clock, log: log)
        } catch {
            log.warning(
                "config.ssh-watch.failed",
                "changes of ssh_config are not seen; after one: hostsctl resume HOST",
                .text("cause", "\(error)"))
            return nil
        }
    }
}
