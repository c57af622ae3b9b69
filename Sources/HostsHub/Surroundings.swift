package import HostsPolicy

/// What every host is in alike.
struct Surroundings: Hashable, Sendable {
    /// What the workstation is doing.
    var phase = ActivityPhase.active
    /// The delay before sleep is held; cleared before it is given back (seed 002).
    var isHoldingBackgroundTime = false
    /// A refresh window is open.
    var isRunningBackgroundRefresh = false

    /// Either of the two.
    var hasBackgroundGrant: Bool { isHoldingBackgroundTime || isRunningBackgroundRefresh }
}

/// What a window of the person's wants to know of the machine, whenever it changes.
package struct HubLifecycle: Hashable, Sendable {
    package let phase: ActivityPhase
    /// Whether this machine has a default route, as far as is known.
    package let hasRoute: Bool
}
