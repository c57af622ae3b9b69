import HostsPolicy
import Testing

/// Each sentence of seed 002 about repair after a suspension, as a story with its outcome.
@Suite struct SessionResumePolicyTests {
    enum Step: Sendable {
        case live(Double)
        case leave(Double)
        case back(Double)
        case dies(Double)
        case attempt
    }

    struct Story: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let steps: [Step]
        let now: Double
        let hasRoute: Bool
        let awaitsPassphrase: Bool
        let decision: SessionResumePolicy.Decision

        init(
            _ name: String, _ steps: [Step], at now: Double, hasRoute: Bool = true,
            awaitsPassphrase: Bool = false, _ decision: SessionResumePolicy.Decision
        ) {
            testDescription = name
            self.steps = steps
            self.now = now
            self.hasRoute = hasRoute
            self.awaitsPassphrase = awaitsPassphrase
            self.decision = decision
        }
    }

    static let grace = SessionResumePolicy.graceAfterReturn
    static let first = SessionResumePolicy.Decision.repair(attempt: 1, after: 0)

    static let stories: [Story] = [
        Story("never live", [], at: 0, .leave),
        Story("an attempt that fails before the first life", [.dies(1)], at: 2, .leave),
        Story("alive", [.live(0)], at: 5, .leave),
        Story("a death while awake is not repaired", [.live(0), .dies(5)], at: 6, .leave),
        Story(
            "a death while awake, then a sleep, is not repaired", [.live(0), .dies(5), .leave(6), .back(90)],
            at: 91, .leave),
        Story("dead in the background is parked", [.live(0), .leave(10), .dies(11)], at: 12, .park),
        Story(
            "the death shows before the return", [.live(0), .leave(10), .dies(11), .back(90)], at: 90, first),
        Story(
            "the death shows after the return", [.live(0), .leave(10), .back(90), .dies(91)], at: 91, first),
        Story(
            "at the very end of the grace", [.live(0), .leave(10), .back(90), .dies(90 + grace)], at: 200,
            first),
        Story(
            "after the grace it is an ordinary death",
            [.live(0), .leave(10), .back(90), .dies(90.001 + grace)], at: 200, .leave),
        Story(
            "verified after the return, then an ordinary death",
            [.live(0), .leave(10), .back(90), .live(91), .dies(92)], at: 92, .leave),
        Story(
            "not dead yet after the return: nothing to repair", [.live(0), .leave(10), .back(90)], at: 91,
            .leave),
        Story(
            "away twice without a proof of life between",
            [.live(0), .leave(10), .back(90), .leave(92), .dies(93), .back(200)], at: 200, first),
        Story(
            "away twice, the grace of the first has passed: live again, then damaged by the second",
            [.live(0), .leave(10), .back(90), .leave(150), .dies(151), .back(200)], at: 200, first),
        Story(
            "live in the background, then cut", [.live(0), .leave(10), .live(11), .dies(12), .back(90)],
            at: 90, first),
        Story(
            "connected in the background only, then cut", [.leave(10), .live(11), .dies(12), .back(90)],
            at: 90, first),
        Story(
            "the second attempt comes after 2 s", [.live(0), .leave(10), .dies(11), .back(90), .attempt],
            at: 91, .repair(attempt: 2, after: 2)),
        Story(
            "the third attempt comes after 5 s",
            [.live(0), .leave(10), .dies(11), .back(90), .attempt, .attempt], at: 93,
            .repair(attempt: 3, after: 5)),
        Story(
            "there is no fourth", [.live(0), .leave(10), .dies(11), .back(90), .attempt, .attempt, .attempt],
            at: 99, .exhausted),
        Story(
            "more attempts than there are do not count on",
            [.live(0), .leave(10), .dies(11), .back(90), .attempt, .attempt, .attempt, .attempt], at: 99,
            .exhausted),
        Story(
            "live again: the count begins anew",
            [
                .live(0), .leave(10), .dies(11), .back(90), .attempt, .attempt, .attempt, .live(99),
                .leave(100), .dies(101), .back(102),
            ], at: 102, first),
        Story(
            "no attempt is counted before there is a route",
            [.live(0), .leave(10), .dies(11), .back(90)], at: 95, hasRoute: false, .awaitRoute),
        Story(
            "used up is used up, route or not",
            [.live(0), .leave(10), .dies(11), .back(90), .attempt, .attempt, .attempt], at: 95,
            hasRoute: false, .exhausted),
        Story(
            "a passphrase defers to the person", [.live(0), .leave(10), .dies(11), .back(90)], at: 95,
            awaitsPassphrase: true, .deferToPerson),
        Story(
            "a passphrase defers in the background, too", [.live(0), .leave(10), .dies(11)], at: 12,
            hasRoute: false, awaitsPassphrase: true, .deferToPerson),
        Story(
            "a passphrase is nobody's business while nothing is damaged", [.live(0), .dies(5)], at: 6,
            awaitsPassphrase: true, .leave),
        Story(
            "both signals twice",
            [.live(0), .leave(10), .leave(11), .back(90), .back(95), .dies(90 + grace)],
            at: 120, first),
        Story("a return without a leave", [.live(0), .back(5), .dies(6)], at: 6, .leave),
        Story(
            "time that runs backwards is no time", [.live(100), .leave(50), .dies(20), .back(10)], at: 0,
            first),
        Story(
            "time that is no number",
            [.live(.nan), .leave(.infinity), .dies(-.infinity), .back(.nan)], at: .nan, first),
    ]

    @Test(arguments: stories) func `the decision of each story`(_ story: Story) {
        var policy = SessionResumePolicy()
        for step in story.steps {
            switch step {
            case .live(let now): policy.sessionBecameLive(at: now)
            case .leave(let now): policy.leftForeground(at: now)
            case .back(let now): policy.returnedToForeground(at: now)
            case .dies(let now): policy.transportDied(at: now)
            case .attempt: policy.attemptBegan()
            }
        }
        let asked = policy
        #expect(
            policy.decision(
                at: story.now, hasRoute: story.hasRoute, awaitsPassphrase: story.awaitsPassphrase)
                == story.decision)
        #expect(policy == asked)
    }

    @Test func `no sequence leads to an attempt in the background, or to a fourth one`() {
        var random = SystemRandomNumberGenerator()
        for _ in 0..<20_000 {
            var policy = SessionResumePolicy()
            var isInBackground = false
            var sinceLive = 0
            var now = 0.0
            for _ in 0..<24 {
                now += Double.random(in: 0...8, using: &random)
                switch Int.random(in: 0..<5, using: &random) {
                case 0:
                    policy.sessionBecameLive(at: now)
                    sinceLive = 0
                case 1:
                    policy.leftForeground(at: now)
                    isInBackground = true
                case 2:
                    policy.returnedToForeground(at: now)
                    isInBackground = false
                case 3: policy.transportDied(at: now)
                default:
                    let decision = policy.decision(at: now, hasRoute: true, awaitsPassphrase: false)
                    guard case .repair(let attempt, let wait) = decision else { continue }
                    #expect(!isInBackground)
                    policy.attemptBegan()
                    sinceLive += 1
                    #expect(attempt == sinceLive && attempt <= 3)
                    #expect(wait == [0, 2, 5][attempt - 1])
                }
            }
        }
    }
}
