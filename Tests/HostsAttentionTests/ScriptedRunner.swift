import HostsModel

@testable import HostsAttention

/// A hook runner that answers what a test tells it, and remembers what it was asked.
final class ScriptedRunner: HookRunning {
    struct Call: Hashable, Sendable {
        let hook: String
        let kind: AttentionEvent.Kind
        let subject: String
        let attempt: Int
    }

    private struct State {
        var calls: [Call] = []
        var answers: [String: [HookResult]] = [:]
        var held: [String: [Gate]] = [:]
        var running: [String: Int] = [:]
        var most = 0
    }

    /// Something a hook waits for.
    final class Gate: Sendable {
        let entered = WakeSignal()
        let opened = WakeSignal()
    }

    private let state = Locked(State())
    /// Called at the start of each run, before anything else.
    private let onStart: @Sendable (AttentionEvent) -> Void

    init(onStart: @escaping @Sendable (AttentionEvent) -> Void = { _ in }) {
        self.onStart = onStart
    }

    var calls: [Call] { state.withLock { $0.calls } }

    /// The most runs that there were at the same time.
    var most: Int { state.withLock { $0.most } }

    /// The answers of a hook, in order; afterwards it delivers.
    func answer(_ hook: String, _ results: HookResult...) {
        state.withLock { $0.answers[hook, default: []] += results }
    }

    /// Holds the next run of a hook until the gate is opened, or the run is cancelled.
    func hold(_ hook: String) -> Gate {
        let gate = Gate()
        state.withLock { $0.held[hook, default: []].append(gate) }
        return gate
    }

    func run(_ hook: Hook, _ event: AttentionEvent, attempt: Int) async -> HookReport? {
        onStart(event)
        let call = Call(hook: hook.name, kind: event.kind, subject: event.subject, attempt: attempt)
        let gate: Gate? = state.withLock { state in
            state.calls.append(call)
            state.running[hook.name, default: 0] += 1
            state.most = max(state.most, state.running.values.reduce(0, +))
            return state.held[hook.name]?.isEmpty == false ? state.held[hook.name]?.removeFirst() : nil
        }
        gate?.entered.set()
        await gate?.opened.wait()
        return state.withLock { state in
            state.running[hook.name, default: 0] -= 1
            if gate != nil, Task.isCancelled { return nil }
            let isScripted = state.answers[hook.name]?.isEmpty == false
            let result = isScripted ? state.answers[hook.name]?.removeFirst() : nil
            return HookReport(result: result ?? .delivered)
        }
    }
}
