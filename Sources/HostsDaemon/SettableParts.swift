import HostsAttention
import HostsModel
import HostsSSH

/// Makes links by the settings of the moment; a link keeps those that it was made with.
struct SettableConnector: LinkConnector {
    private let factory: Locked<LinkFactory>

    init(_ factory: LinkFactory) {
        self.factory = Locked(factory)
    }

    /// Takes a new factory; true if it makes links in another way.
    func set(_ new: LinkFactory) -> Bool {
        factory.withLock { factory in
            defer { factory = new }
            return factory.settings != new.settings
        }
    }

    /// What helps a person with hosts that wait, by the settings of the moment.
    var access: any HostAccess { factory.withLock { $0 } }

    func connect(to record: HostRecord, token: Int) async throws(LinkError) -> any ProbeLink {
        try await factory.withLock { $0 }.connect(to: record, token: token)
    }
}

/// Runs hooks with the time limit of the moment.
struct SettableHookRunner: HookRunning {
    private let runner: Locked<HookRunner>

    init(_ runner: HookRunner) {
        self.runner = Locked(runner)
    }

    func set(_ new: HookRunner) {
        runner.withLock { $0 = new }
    }

    func run(_ hook: Hook, _ event: AttentionEvent, attempt: Int) async -> HookReport? {
        await runner.withLock { $0 }.run(hook, event, attempt: attempt)
    }
}
