import HostsPolicy
import Testing

@Suite struct ReconnectStateTests {
    @Test func `an attempt of before a suspension is rejected, the one after it counts`() {
        var state = ReconnectState()
        let a = state.begin()
        state.suspend()
        #expect(state.state == .suspended)
        let b = state.begin()
        let lateA = state.established(a)
        #expect(!lateA)
        #expect(state.state == .connecting)
        let finishedB = state.established(b)
        #expect(finishedB)
        #expect(state.state == .connected)
    }

    @Test func `an attempt that ends after a disconnect changes nothing`() {
        var state = ReconnectState()
        let a = state.begin()
        state.disconnect()
        let late = state.established(a)
        #expect(!late)
        #expect(state.state == .disconnected)
    }

    @Test func `an attempt succeeds once`() {
        var state = ReconnectState()
        let a = state.begin()
        let first = state.established(a)
        let second = state.established(a)
        #expect(first)
        #expect(!second)
        #expect(state.state == .connected)
    }

    @Test func `a token that was never given is rejected`() {
        var state = ReconnectState()
        let early = state.established(0)
        #expect(!early)
        _ = state.begin()
        let future = state.established(2)
        #expect(!future)
        #expect(state.state == .connecting)
    }

    @Test func `every event makes older tokens obsolete, in any order`() {
        var state = ReconnectState()
        var generator = SystemRandomNumberGenerator()
        var tokens: [Int] = []
        for _ in 0..<2000 {
            let before = state
            switch UInt8.random(in: 0..<4, using: &generator) {
            case 0:
                let token = state.begin()
                #expect(!tokens.contains(token))
                tokens.append(token)
            case 1: state.suspend()
            case 2: state.disconnect()
            default:
                let token = tokens.randomElement(using: &generator) ?? -1
                let accepted = state.established(token)
                #expect(accepted == (before.state == .connecting && token == before.generation))
            }
        }
    }
}
