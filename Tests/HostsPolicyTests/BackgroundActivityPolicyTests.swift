import HostsPolicy
import Testing

@Suite struct BackgroundActivityPolicyTests {
    typealias Policy = BackgroundActivityPolicy

    static func host(_ isOptedIn: Bool, _ isEnabled: Bool, _ hasOpenWindow: Bool) -> Policy.Host {
        Policy.Host(isOptedIn: isOptedIn, isEnabled: isEnabled, hasOpenWindow: hasOpenWindow)
    }

    @Test func `time is wanted for an opted-in host that is enabled or has a window, and for no other`() {
        for isEnabled in [false, true] {
            for hasOpenWindow in [false, true] {
                #expect(
                    Policy.wantsBackgroundTime([Self.host(true, isEnabled, hasOpenWindow)])
                        == (isEnabled || hasOpenWindow))
                #expect(!Policy.wantsBackgroundTime([Self.host(false, isEnabled, hasOpenWindow)]))
            }
        }
        #expect(!Policy.wantsBackgroundTime([]))
        #expect(Policy.wantsBackgroundTime([Self.host(false, true, true), Self.host(true, true, false)]))
    }

    @Test func `every host may be looked at while awake, asleep only one that opted in under a grant`() {
        for isOptedIn in [false, true] {
            for hasGrant in [false, true] {
                for phase in [ActivityPhase.active, .inactive] {
                    #expect(
                        Policy.permitsLooking(in: phase, isOptedIn: isOptedIn, hasBackgroundGrant: hasGrant))
                }
                #expect(
                    Policy.permitsLooking(in: .background, isOptedIn: isOptedIn, hasBackgroundGrant: hasGrant)
                        == (isOptedIn && hasGrant))
            }
        }
    }

    @Test func `nothing is dialled in the background, but for a refresh`() {
        for phase in ActivityPhase.allCases {
            #expect(Policy.permitsDialling(in: phase, isRunningBackgroundRefresh: true))
            #expect(
                Policy.permitsDialling(in: phase, isRunningBackgroundRefresh: false) == (phase != .background)
            )
        }
    }

    @Test func `a watched pane is looked at in the active phase only`() {
        #expect(ActivityPhase.allCases.filter { Policy.permitsWatching(in: $0) } == [.active])
    }

    /// The greatest finite number is finite, too: a check for that alone lets it through, and converting it traps.
    @Test(arguments: [
        (5.0, 4.0 as Double?), (1.5, 0.5), (2, 1), (60, 4), (3_600, 4), (1.49, nil), (0, nil), (-1, nil),
        (3_601, nil), (.greatestFiniteMagnitude, nil), (.infinity, nil), (-.infinity, nil), (.nan, nil),
        (.leastNonzeroMagnitude, nil),
    ])
    func `the length of a grant is checked by its range`(_ grant: Double, _ length: Double?) {
        #expect(Policy.roundLength(of: grant) == length)
    }

    @Test func `a window is wanted when there is something to deliver and somebody to deliver it`() {
        let optedIn = Self.host(true, true, false)
        #expect(Policy.wantsRefresh([optedIn], hasDormantHost: false, isAttentionActive: true))
        #expect(Policy.wantsRefresh([], hasDormantHost: true, isAttentionActive: true))
        #expect(!Policy.wantsRefresh([optedIn], hasDormantHost: true, isAttentionActive: false))
        #expect(
            !Policy.wantsRefresh(
                [Self.host(false, true, true), Self.host(true, false, true)], hasDormantHost: false,
                isAttentionActive: true))
    }
}
