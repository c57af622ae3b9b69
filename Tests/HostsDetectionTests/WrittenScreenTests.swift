import HostsDetection
import HostsModel
import Testing

/// Screens of which no capture is at hand, written after what is known of each agent.
@Suite(.serialized, .ownThread) struct WrittenScreenTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let agent: String
        let testDescription: String
        let title: String
        let meaning: ScreenRule.Meaning?
        let flags: Set<SessionFlag>
        let isDwelling: Bool
        let rows: [String]

        init(
            _ agent: String, _ what: String, _ meaning: ScreenRule.Meaning?, title: String = "vm",
            flags: Set<SessionFlag> = [], isDwelling: Bool = false, _ rows: [String]
        ) {
            self.agent = agent
            testDescription = "\(agent): \(what)"
            self.title = title
            self.meaning = meaning
            self.flags = flags
            self.isDwelling = isDwelling
            self.rows = rows
        }
    }

    @Test(arguments: claude + codex + gemini + boxed + barred + lines + others + strings)
    func `a screen is read by what is known of its agent`(_ c: Case) throws {
        let screen = Screen(capture: Array(c.rows.joined(separator: "\n").utf8), title: c.title)
        let reading = ScreenClassifier(try RuleFixtures.rules(c.agent)).read(screen)
        #expect(reading.meaning == c.meaning, "\(reading.evidence.map(\.rule))")
        #expect(reading.flags == c.flags)
        #expect(reading.isDwelling == c.isDwelling)
        #expect(reading.failedRules == [])
    }

    private static let rule = String(repeating: "─", count: 60)

    /// A row of a box of 60 columns.
    private static func boxed(_ text: String, indent: String = "") -> String {
        indent + "│ " + text + String(repeating: " ", count: max(0, 56 - text.count)) + " │"
    }

    private static func box(_ rows: [String], indent: String = "") -> [String] {
        let edge = String(repeating: "─", count: 58)
        return ["\(indent)╭\(edge)╮"] + rows.map { boxed($0, indent: indent) } + ["\(indent)╰\(edge)╯"]
    }

    private static func claudeComposer(_ footer: String) -> [String] { [rule, "❯\u{a0}", rule, footer] }

    private static let claude = [
        Case(
            "claude", "a plan", .needsYou(.plan),
            [
                rule, " Here is the plan", "", " Would you like to proceed?", "",
                " ❯ 1. Yes, and auto-accept edits",
                "   2. No, keep planning", "", " ctrl+g to edit in vim · ~/.claude/plans/x.md",
            ]),
        Case(
            "claude", "a dialog behind the viewer", .needsYou(.other),
            ["● Bash(ls)", "", rule, "  dialog waiting · Showing detailed transcript · ctrl+o to toggle"]),
        Case(
            "claude", "the transcript viewer", .previous,
            ["● Bash(ls)", "", rule, "  Showing detailed transcript · ctrl+o to toggle"]),
        Case(
            "claude", "the model picker", .previous,
            [
                rule, " Select model", "", " ❯ 1. Default", "   2. Opus", "",
                " Enter to set as default · Esc to cancel",
            ]),
        Case(
            "claude", "the login", .needsYou(.login),
            [" Claude Code", "", " Select login method:", "", " ❯ 1. Account with subscription", "   2. API"]),
        Case(
            "claude", "an older permission in a box", .needsYou(.permission),
            ["● Bash(ls)"] + box(["Do you want to proceed?", "❯ 1. Yes", "  2. No (esc)"])),
        Case(
            "claude", "the usage limit", .needsYou(.rateLimit),
            ["❯ go on", "", "⚠ Usage limit reached · resets 3pm", ""] + claudeComposer("  ? for shortcuts")),
        Case(
            "claude", "an API error", .needsYou(.apiError),
            ["❯ go on", "", "● API Error: 529 overloaded", ""] + claudeComposer("  ? for shortcuts")),
        Case(
            "claude", "an API error before an answer", .idle,
            ["● API Error: 529 overloaded", "", "❯ again", "", "● Here it is.", ""]
                + claudeComposer("  ? for shortcuts")),
        Case(
            "claude", "a retry", .busy,
            ["❯ go on", "", "✻ Mulling… (12s · Retrying in 5s)", ""] + claudeComposer("  ? for shortcuts")),
        Case(
            "claude", "background agents", .busy,
            ["❯ go on", "", "✻ Waiting for 2 background agents to finish", ""]
                + claudeComposer("  ? for shortcuts")),
        Case(
            "claude", "shells after the turn", .idle, flags: [.background],
            ["● Done.", "", "✻ Cooked for 2m 22s · 2 shells still running", ""]
                + claudeComposer("  ⏸ manual mode on · 2 shells")),
        Case(
            "claude", "a spinner of an unknown glyph below a done row", nil,
            ["✻ Cooked for 9s", "", "❯ go on", "", "⟡ Mulling…", ""] + claudeComposer("  my status line")),
    ]

    private static let codexFooter = ["", "  gpt-5.6-sol high · ~/src"]

    private static let codex = [
        Case(
            "codex", "a permission", .needsYou(.permission), title: "[ ! ] Action Required | src",
            [
                "  Would you like to run the following command?", "", "  $ git push", "",
                "› 1. Yes, proceed (y)",
                "  2. No, and tell Codex what to do differently (esc)", "",
                "  Press enter to confirm or esc to cancel",
            ]),
        Case(
            "codex", "the title alone", .needsYou(.other), title: "[ . ] Action Required | src",
            isDwelling: true, ["• Ran ls"]),
        Case(
            "codex", "a question with the words of work", .needsYou(.question),
            [
                "  Question 1/2 (1 unanswered)", "  Which one?", "", "  › 1. This", "    2. That", "",
                "  tab to add notes | enter to submit answer | ←/→ to navigate | esc to interrupt",
            ]),
        Case(
            "codex", "an update", .needsYou(.update),
            [
                "  ✨ Update available! 0.159 -> 0.160", "", "› 1. Update now", "  2. Skip", "",
                "  Press enter to continue",
            ]),
        Case(
            "codex", "trust", .needsYou(.trust),
            [
                "> You are in /home/dev/src", "", "  Do you trust the contents of this directory?", "",
                "› 1. Yes, continue", "  2. No, quit", "", "  Press enter to continue",
            ]),
        Case(
            "codex", "the pager of a command", .needsYou(.permission),
            ["/ E X E C / / / / / / / / /", "$ git push", "~", " ↑/↓ to scroll"]),
        Case(
            "codex", "the pager of the transcript", .previous, ["/ T R A N S C R I P T / / / /", "• Ran ls"]),
        Case(
            "codex", "compaction", .busy,
            ["• Compacting context (12s • esc to interrupt)", "", "› Ask Codex to do anything"] + codexFooter),
        Case(
            "codex", "the end of a long turn", .idle,
            ["• Done.", "", "─ Worked for 1m 23s ──────────", "", "› Ask Codex to do anything"] + codexFooter),
        Case(
            "codex", "work with background terminals", .busy,
            [
                "• Working (9s • esc to interrupt) · 1 background terminal running · /ps to view · /stop to close",
                "", "› Ask Codex to do anything",
            ] + codexFooter),
    ]

    private static let gemini = [
        Case(
            "gemini", "a permission", .needsYou(.permission), title: "✋  Action Required (src)",
            ["✦ I will run it."]
                + box([
                    "? Shell ls", "", "Allow execution of [ls]?", "", "● 1. Allow once",
                    "  2. No, suggest changes (esc)",
                ])
                + ["", " ⠏ Waiting for user confirmation..."]),
        Case(
            "gemini", "the title alone", .needsYou(.other), title: "✋  Action Required (src)",
            isDwelling: true, ["✦ I will run it."]),
        Case(
            "gemini", "a limit", .needsYou(.rateLimit), title: "Gemini CLI (src)",
            box(["Upgrade for higher limits", "", "● 1. Keep trying", "  2. Stop"])),
        Case(
            "gemini", "work in a wide pane", .busy, title: "Gemini CLI (src)",
            [
                "✦ Reading.", "", " ⠏ Reticulating (esc to cancel, 12s)", rule, " Shift+Tab to accept edits",
                String(repeating: "▄", count: 60), " >   Type your message or @path/to/file",
                String(repeating: "▀", count: 60), " ~/src            no sandbox",
            ]),
    ]

    private static let boxed = [
        Case(
            "cursor", "trust", .needsYou(.trust),
            [
                " ⚠ Workspace Trust Required", "", "  Do you trust /home/dev/src?", "",
                "  ▶ [a] Trust this workspace", "    [q] Quit",
            ]),
        Case(
            "cursor", "the login", .needsYou(.login), ["  Cursor Agent", "", "  Press any key to log in..."]),
        Case(
            "copilot", "work of a newer version", .busy,
            [" ● I will look.", "", " ● Working · 162 B  esc interrupt", "", " ~/src [⎇ main]"]
                + box([">  Enter @ to mention files"], indent: " ") + [" Ctrl+c Exit"]),
        Case(
            "copilot", "the mode", .needsYou(.question),
            box(
                ["Switch to auto mode?", "", "❯ 1. Yes", "  2. No", "", "enter to select · esc to cancel"],
                indent: " ")),
        Case(
            "qwen", "a plan", .needsYou(.plan),
            box(["Would you like to proceed?", "", "● 1. Yes", "  2. No, keep planning (esc)"])),
        Case(
            "qwen", "trust", .needsYou(.trust),
            box(["Do you trust this folder?", "", "● 1. Trust folder", "  2. No"])),
        Case(
            "qwen", "the star of need in the title", .needsYou(.other), title: "✳ Qwen - src",
            isDwelling: true, ["✦ So."]),
        Case("claude", "the star of rest in the title", nil, title: "✳ Topic", ["● So."]),
        Case(
            "droid", "a permission", .needsYou(.permission),
            [
                " EXECUTE (npm test)", "", " > Yes, allow", "   No, cancel", "",
                " Use ↑↓ to navigate, Enter to select, Esc to cancel",
            ]),
        Case(
            "auggie", "work", .busy,
            [" » So.", "", " ⠞ Processing response... (2s • esc to interrupt)", ""] + box(["› Try 'x'"])
                + [" Type / for commands • ↑↓ for history • Esc/Ctrl+C to interrupt"]),
        Case(
            "amp", "work in the edge", .busy,
            ["  ✓ Search", "", "╭──────────── smart ─╮", "│                    │", "╰ ∿ Running tools ───╯"]),
        Case(
            "amp", "a plugin, by the title", .needsYou(.permission), title: "Plugin confirmation needed",
            isDwelling: true, ["  ✓ Search"]),
        Case("amp", "the login", .needsYou(.login), ["Would you like to log in to Amp? [(y)es, (n)o]:"]),
    ]

    private static let barred = [
        Case(
            "opencode", "a permission", .needsYou(.permission),
            [
                "  ┃", "  ┃  △ Permission required", "  ┃    $ git push", "  ┃",
                "  ┃   Allow once   Allow always   Reject            ⇆ select  enter confirm",
            ]),
        Case(
            "kilo", "a question", .needsYou(.question),
            ["  ┃", "  ┃  Which?", "  ┃  1. This", "  ┃", "  ┃  ↑↓ select  enter toggle  esc dismiss"]),
        Case(
            "kilo", "work", .busy,
            [
                "  ┃  Code · Sonnet", "  ╹" + String(repeating: "▀", count: 60),
                "   ■■■⬝⬝⬝⬝⬝  esc interrupt       ctrl+p commands",
            ]),
        Case(
            "opencode", "an interrupt that is asked for again", .busy,
            [
                "  ┃  Build · Sonnet", "  ╹" + String(repeating: "▀", count: 60),
                "   ■■■⬝⬝⬝⬝⬝  esc again to interrupt",
            ]),
        Case(
            "grok", "a question", .needsYou(.question),
            [
                "  ┃  Which?", "  ┃", "  ┃  1 (●) This", "  ┃  2 (○) That", "  ┃",
                "  1/2:select │ Shift+x:dismiss",
            ]),
        Case(
            "grok", "work", .busy, title: "grok",
            ["  ⠼ Run `make` 4.1s ⇣3.9k [stop]"] + box(["❯"], indent: "  ") + [
                "  Esc:cancel  │  Ctrl+x:shortcuts"
            ]),
    ]

    private static let lines = [
        Case("aider", "the wait for the first words", .busy, ["> go on", "", "░█        Waiting for gpt-5"]),
        Case("aider", "another mode", .idle, ["Tokens: 1k", rule, "ask>"]),
        Case("aider", "a message that was just sent", nil, ["Tokens: 1k", rule, "> go on"]),
        Case("amazonq", "rest", .idle, ["Two of them.", "", "[work] !>"]),
        Case(
            "amazonq", "the answer is being typed", nil,
            ["Allow this action? Use 't' to trust. [y/n/t]:", "", "> y"]),
        Case(
            "goose", "an interrupt", .idle, flags: [.interrupted],
            ["  ━━╌╌ 9% 11k/128k", "> Interrupted, what should goose work on instead?"]),
        Case(
            "goose", "a plan", .needsYou(.plan),
            ["◆  Do you want to clear message history & act on this plan?", "│  ● Yes", "│  ○ No", "└"]),
        Case(
            "goose", "an answered question", nil,
            ["◇  Goose would like to call the above tool, do you allow?", "│  Allow", "", "So."]),
        Case(
            "kiro", "a classic question", .needsYou(.permission),
            ["Allow this action? Use 't' to trust [y/n/t]:", "", ">"]),
        Case(
            "kiro", "approvals of subagents", .needsYou(.permission),
            [
                "  2 tool approvals pending from subagents", "", "  ask a question or describe a task", "",
                "  kiro_default · auto · 4%       /copy to clipboard",
            ]),
        Case(
            "kiro", "rest", .idle,
            [
                "  So.", "", "  ask a question or describe a task", "",
                "  kiro_default · auto · 4%       /copy to clipboard",
            ]),
        Case(
            "antigravity", "trust", .needsYou(.trust),
            ["Do you trust this folder?", "", "> Yes, I trust this folder", "  No", "", "↑/↓ Navigate"]),
        Case(
            "antigravity", "tasks after the turn", .idle, flags: [.background],
            ["  So.", "", rule, ">", rule, "? for shortcuts       Gemini · high · 2 tasks"]),
        Case(
            "antigravity", "the survey", .idle,
            [
                "  So.", "", "How's the CLI experience so far? (1-5)", rule, ">", rule,
                "? for shortcuts       Gemini · high",
            ]),
        Case(
            "cline", "a question", .needsYou(.question),
            [" Cline is asking a question", "", " Which?", "", "  > "]),
        Case(
            "devin", "a permission", .needsYou(.permission),
            ["● npm ci", "", "❯ Approve once", "  Reject", "", "↑↓ select · ↵ confirm · esc cancel"]),
        Case("devin", "rest", .idle, ["● Done.", "", rule, "❭ ", rule, "  Context: 38k / 200k"]),
        Case(
            "pi", "work without dots", .busy,
            ["  ⠋ Working", "", rule, "", rule, "~/src", "1.0%/200k  sonnet"]),
        Case("kimi", "a tool", .busy, ["• So.", "", "⠋ Using Shell (ls)", "", "agent (kimi-k2 ○)  ~/src"]),
        Case(
            "crush", "questions", .needsYou(.question),
            [
                "   Storage  Interval   (1/2 answered)", "", "   Which?", "",
                "   ←/→ tab  ↑/↓ choose  enter select",
            ]),
    ]

    private static let others = [
        Case("hermes", "rest, by the title", .idle, title: "✓ mailbox", [" ⚕ model-x │ 12.4K/200K", "❯"]),
        Case("hermes", "need, by the title", .needsYou(.other), title: "⚠ mailbox", isDwelling: true, ["❯"]),
        Case("hermes", "neither", nil, title: "mailbox", [" ⚕ model-x │ 12.4K/200K", "❯"]),
    ]

    /// Of these only strings are known.
    private static let strings = [
        Case("maki", "work", .busy, ["so", " ⠋ [BUILD]"]),
        Case("maki", "rest", .idle, ["so", " [BUILD]"]),
        Case(
            "maki", "a permission", .needsYou(.permission),
            ["  permission required: bash", "  y allow  n deny", " ⠋ [BUILD]"]),
        Case("qoder", "work", .busy, ["⠋ Thinking (esc to cancel, 12s)"]),
        Case("qoder", "an approval", .needsYou(.permission), ["● Bash", "Awaiting approval..."]),
        Case("omp", "work", .busy, ["⠋ Thinking ⟦esc⟧"]),
        Case("omp", "a tool", .needsYou(.permission), ["Allow tool: bash"]),
        Case("vibe", "an approval", .needsYou(.permission), ["  ↑↓ navigate  Enter select  ESC reject"]),
        Case("codewhale", "work", .busy, ["⠋ working (2s)"]),
    ]
}
