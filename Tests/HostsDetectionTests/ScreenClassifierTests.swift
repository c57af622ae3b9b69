import HostsConfig
import HostsDetection
import HostsModel
import Testing

@Suite struct ScreenClassifierTests {
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
}
