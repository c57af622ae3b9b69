import HostsConfig
import HostsDetection
import HostsModel
import Testing

@Suite(.serialized, .ownThread) struct ScreenClassifierTests {
    @Test func `the shipped rules are without fault, and the screens are there`() {
        #expect(RuleFixtures.shipped.diagnostics == [])
        #expect(CapturedScreen.all.count == 93)
        #expect(ScreenMutation.screens.count == 88)
    }

    @Test(arguments: ScreenMutation.screens)
    func `a captured screen is read right`(_ captured: CapturedScreen) throws {
        let screen = Screen(capture: try captured.capture(), title: captured.title)
        let rules = try RuleFixtures.rules(captured.agent)
        let reading = ScreenClassifier(rules).read(screen)
        if captured.state == "busy", rules.rules.movingIsBusy {
            // While words stream there is no sign: that the screen moves is the detector's to see.
            #expect(["busy", "unknown"].contains(reading.word), "\(reading)")
        } else {
            #expect(reading.word == captured.state, "\(reading)")
        }
        #expect(reading.failedRules == [])
    }

    @Test(arguments: ScreenMutation.screens)
    func `the reason and the flags of a captured screen are right`(_ captured: CapturedScreen) throws {
        let screen = Screen(capture: try captured.capture(), title: captured.title)
        let reading = ScreenClassifier(try RuleFixtures.rules(captured.agent)).read(screen)
        if captured.state == "waiting" {
            #expect(reading.meaning == .needsYou(Self.reasons[captured.file] ?? .permission))
            // There is a dialog, or a row that stands: nobody has to wait and see.
            #expect(!reading.isDwelling)
        }
        #expect(reading.flags == (Self.flags[captured.file] ?? []))
        #expect(reading.isQuiet == (captured.file == "codex__busy__mcp_booting.txt"))
        if captured.state == "idle" {
            #expect((reading.strength == .strong) == Self.proven.contains(captured.file))
        }
    }

    /// All others ask for a permission.
    private static let reasons: [String: NeedsYouReason] = [
        "claude__waiting__api_error_login.txt": .login,
        "claude__waiting__ask_user_question.txt": .question,
        "claude__waiting__question_review_submit.txt": .question,
        "claude__waiting__trust_folder.txt": .trust,
        "codex__waiting__plan_implement.txt": .plan,
        "codex__waiting__rate_limit_choice.txt": .rateLimit,
        "gemini__waiting__ask_user_select.txt": .question,
        "gemini__waiting__shell_awaiting_input.txt": .question,
        "gemini__waiting__trust_folder.txt": .trust,
        "opencode__waiting__question.txt": .question,
    ]

    private static let flags: [String: Set<SessionFlag>] = [
        "antigravity__idle__interrupted.txt": [.interrupted],
        "claude__idle__interrupted.txt": [.interrupted],
        "codex__idle__interrupted.txt": [.interrupted],
        "codex__idle__background_terminal_left.txt": [.background],
    ]

    /// Screens at rest that prove it: a done row, an interrupted row, or a title that says so.
    private static let proven: Set<String> = [
        "antigravity__idle__interrupted.txt", "claude__idle__done_line.txt",
        "claude__idle__fake_spinner_in_code_output.txt", "claude__idle__interrupted.txt",
        "claude__idle__prose_quotes_interrupt_hint.txt", "claude__idle__stash_and_history_label.txt",
        "codex__idle__interrupted.txt", "gemini__idle__ready.txt", "opencode__idle__turn_done_pill.txt",
    ]
}
