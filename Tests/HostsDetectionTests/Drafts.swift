import Foundation

/// Where the person types on a screen of an agent, and how the agent shows what is typed.
enum Drafts {
    struct Box {
        let first: String
        let next: String
        let end: String

        init(_ first: String, _ next: String, end: String = "") {
            self.first = first
            self.next = next
            self.end = end
        }

        func row(_ text: String, isFirst: Bool, width: Int) -> String {
            let start = (isFirst ? first : next)
            guard !end.isEmpty else { return start + text }
            let room = max(1, width - Columns.width(of: start) - Columns.width(of: end))
            let part = Columns.parts(of: text, width: room)[0]
            return start + part + String(repeating: " ", count: room - Columns.width(of: part)) + end
        }
    }

    static let boxes: [String: Box] = [
        "aider": Box("> ", "> "), "amp": Box("│ ", "│ ", end: " │"), "antigravity": Box("> ", "  "),
        "auggie": Box("│ › ", "│   ", end: " │"), "claude": Box("❯\u{a0}", "  "), "cline": Box("  ", "  "),
        "codex": Box("› ", "  "), "copilot": Box(" │ > ", " │   ", end: " │"),
        "crush": Box("   > ", " ::: "), "cursor": Box(" │ → ", " │   ", end: " │"), "devin": Box("❭ ", "  "),
        "droid": Box("│ > ", "│   ", end: " │"), "gemini": Box(" > ", "   "), "goose": Box("> ", "  "),
        "grok": Box("  │ ❯ ", "  │   ", end: " │"), "hermes": Box("❯ ", "  "), "kimi": Box("✨ ", "  "),
        "kiro": Box("  ", "  "), "opencode": Box("  ┃  ", "  ┃  "), "pi": Box("", ""),
        "qwen": Box("│ > ", "│   ", end: " │"),
    ]

    /// The beginning of the row in which the draft begins, where there is one.
    private static let prompts: [String: String] = [
        "aider": "^>(?: |$)", "amp": "^│", "antigravity": "^>(?: |$)", "auggie": "^│ › ",
        "claude": "^❯(?! \\d)",
        "cline": "^  Ask anything", "codex": "^(?:› (?!\\d)|▌ Ask)", "copilot": "^ │ > ", "crush": "^   > ",
        "cursor": "^ │ → ", "devin": "^❭ ", "droid": "^│ > ", "gemini": "^ >   Type", "goose": "^> Enter",
        "grok": "^  │ ❯", "hermes": "^❯$", "kimi": "^✨$", "kiro": "^  ask a question", "opencode": "^ +┃",
        "pi": "^$", "qwen": "^│ >   Type",
    ]

    /// Screens that ask for the person beside the composer.
    private static let stays: Set = [
        "amp__waiting__run_command_approval.txt", "claude__waiting__api_error_login.txt",
        "codex__waiting__subagent_thread_approval.txt", "gemini__waiting__shell_awaiting_input.txt",
    ]

    static func prompt(of captured: CapturedScreen, _ rows: [String]) -> Int? {
        guard let pattern = prompts[captured.agent] else { return nil }
        // A dialog in its place has a selector of its own; the rows of a draft stand near the bottom.
        guard
            let row = rows.lastIndex(where: { $0.range(of: pattern, options: .regularExpression) != nil }),
            rows[row...].count(where: { !$0.isBlank }) <= 8
        else { return nil }
        let isDialog = captured.state == "waiting" && !stays.contains(captured.file)
        return isDialog ? nil : row
    }
}
