import HostsConfig
import HostsDetection
import HostsModel
import Testing

@Suite struct ScreenClassifierTests {
    static let screens = CapturedScreen.all.filter { $0.state != "exited" }

    @Test func `the shipped rules are without fault, and the screens are there`() {
        #expect(RuleFixtures.shipped.diagnostics == [])
        #expect(Self.screens.count == 32)
    }

    @Test(arguments: screens)
    func `a captured screen is read right`(_ captured: CapturedScreen) throws {
        let screen = Screen(capture: try captured.capture(), title: captured.title)
        let reading = ScreenClassifier(try RuleFixtures.rules(captured.agent)).read(screen)
        #expect(word(reading) == captured.state, "\(reading)")
        #expect(reading.failedRules == [])
    }

    private func word(_ reading: ScreenReading) -> String {
        switch reading.meaning {
        case .busy: "busy"
        case .idle: "idle"
        case .needsYou: "waiting"
        case .previous: "previous"
        case nil: "unknown"
        }
    }
}
