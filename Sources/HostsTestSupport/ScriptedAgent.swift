/// A stand-in for a coding agent: it has the process name, the titles, the files and the screens of one, and does
/// what it is told over a FIFO.
package struct ScriptedAgent: Hashable, Sendable {
    /// The agents that can be stood in for.
    package enum Kind: String, Hashable, Sendable, CaseIterable {
        case claude, codex, gemini, copilot, opencode
    }

    /// What the stand-in can be told.
    package enum Command: String, Hashable, Sendable {
        /// Start a turn.
        case busy
        /// Ask for permission.
        case permission
        /// Ask a question.
        case question
        /// End the turn.
        case idle
        /// End the turn as the person's Esc does.
        case interrupted
        /// Leave.
        case exit
    }

    package let kind: Kind

    package init(kind: Kind) {
        self.kind = kind
    }
}
