/// What the workstation is doing, as far as it matters to links and alerts (seed 002: the scene's phase).
public enum ActivityPhase: String, Hashable, Sendable, CaseIterable {
    /// Awake, and somebody's session is at the front: active, unlocked, not idle.
    case active
    /// Awake, but locked, idle, on another virtual terminal, or nobody is logged in.
    case inactive
    /// From the notice of a suspension to the notice of its end.
    case background
}
