import HostsModel
import HostsPolicy
import HostsTestSupport
import Testing

@testable import HostsHub

/// Everything that can happen to a host, in random order, against what must hold at every step.
@Suite struct HostMachineWalkTests {
    /// The world as the effects of the machine have made it.
    private struct World {
        var bench: Bench
        var surroundings = Surroundings()
        var windows = OpenWindows()
        var hasRoute = true
        /// The links that are open, with the token of the look that runs on each.
        var open: [Int: Int?] = [:]
        var dialled: Set<Int> = []
        var timers: [Int] = []

        mutating func apply(_ event: HostMachine.Event) {
            absorb(
                bench.apply(event, hasRoute: hasRoute, stagger: .milliseconds(open.isEmpty ? 40 : 0)))
        }

        mutating func absorb(_ effects: [HostMachine.Effect]) {
            for effect in effects {
                switch effect {
                case .dial(let record, let token):
                    #expect(record.isEnabled || windows.attached > 0, "nobody wants it dialled")
                    #expect(open.isEmpty, "there is a link already")
                    #expect(surroundings.phase != .background || surroundings.isRunningBackgroundRefresh)
                    dialled.insert(token)
                case .close(let token, _): open[token] = nil
                case .probe(_, let link, let token, _):
                    guard let running = open[link] else {
                        Issue.record("a look through a link that is not open")
                        continue
                    }
                    #expect(running == nil, "two looks at once")
                    open[link] = .some(token)
                case .startTimer(let id, _): timers.append(id)
                case .abandonDial, .emit, .lookEnded, .note: break
                }
            }
        }

        /// The look that runs, if one does, ends in this way.
        mutating func endLook(with error: LinkError?) {
            guard let (link, running) = open.first, let token = running else { return }
            open[link] = .some(nil)
            guard let error else { return apply(.replied(token: token, .fake)) }
            apply(.probeFailed(token: token, error))
            guard open.removeValue(forKey: link) != nil else { return }
            apply(.closed(token: link, error))
        }
    }

    @Test(arguments: 0..<600)
    func `never two transports, two looks, or a dial that nobody wants or the phase forbids`(seed: Int) {
        var generator = SeededGenerator(seed: UInt64(seed))
        var world = World(bench: Bench(isOptedIn: seed.isMultiple(of: 2)))
        world.absorb(world.bench.start())
        for _ in 0..<400 {
            world.bench.advance(by: .milliseconds(Int.random(in: 0..<9000, using: &generator)))
            step(&world, &generator)
            #expect(world.open.count <= 1)
            if world.bench.machine.condition == .disabled { #expect(world.open.isEmpty) }
            if world.bench.machine.condition == .online {
                #expect(world.surroundings.phase != .background || world.surroundings.hasBackgroundGrant)
            }
        }
        recover(&world)
    }

    private func step(_ world: inout World, _ generator: inout SeededGenerator) {
        let token = world.dialled.randomElement(using: &generator) ?? 0
        switch Int.random(in: 0..<18, using: &generator) {
        case 0, 1, 2:
            guard world.dialled.remove(token) != nil else { return }
            world.open[token] = .some(nil)
            world.apply(.dialed(token: token, .fake))
        case 3:
            guard world.dialled.remove(token) != nil else { return }
            world.apply(.dialFailed(token: token, Bool.random(using: &generator) ? .reset : .noRoute))
        case 4:
            guard let victim = world.open.keys.randomElement(using: &generator) else { return }
            world.open[victim] = nil
            world.apply(.closed(token: victim, .reset))
        case 5, 6, 7: world.endLook(with: nil)
        case 8: world.endLook(with: .timedOut(.probe, after: .seconds(2)))
        case 9: world.apply(.timerFired(id: world.timers.randomElement(using: &generator) ?? 0))
        case 10: world.apply(.timerFired(id: world.timers.last ?? 0))
        case 11:
            world.surroundings.phase = ActivityPhase.allCases.randomElement(using: &generator) ?? .active
            world.surroundings.isHoldingBackgroundTime = Bool.random(using: &generator)
            world.surroundings.isRunningBackgroundRefresh = Int.random(in: 0..<4, using: &generator) == 0
            world.apply(.surroundingsChanged(world.surroundings))
        case 12:
            world.hasRoute = Bool.random(using: &generator)
            world.apply(.networkChanged)
        case 13:
            let wanted = world.windows.attached == 0 ? 1 : 0
            world.windows = OpenWindows(attached: wanted, watched: Int.random(in: 0..<2, using: &generator))
            world.apply(.windowsChanged(world.windows))
        case 14: world.absorb(world.bench.edit { $0.isEnabled.toggle() })
        case 15:
            world.apply(
                [.resume, .cancelRetries, .linkSettingsChanged].randomElement(using: &generator) ?? .resume)
        case 16: world.apply(world.surroundings.isRunningBackgroundRefresh ? .refresh : .look)
        default: world.apply(.look)
        }
    }

    /// Whatever came before: awake, with a route and a server that answers, an enabled host comes online by itself or
    /// by the person's one command.
    private func recover(_ world: inout World) {
        world.hasRoute = true
        if !world.bench.record.isEnabled { world.absorb(world.bench.edit { $0.isEnabled = true }) }
        world.surroundings = Surroundings()
        world.apply(.surroundingsChanged(world.surroundings))
        world.apply(.resume)
        for _ in 0..<20 where world.bench.machine.condition != .online {
            world.bench.advance(by: .seconds(10))
            for token in world.dialled.sorted() {
                world.dialled.remove(token)
                world.open[token] = .some(nil)
                world.apply(.dialed(token: token, .fake))
            }
            world.endLook(with: nil)
            world.apply(.timerFired(id: world.timers.last ?? 0))
        }
        world.endLook(with: nil)
        #expect(world.bench.machine.condition == .online)
        #expect(world.open.count == 1)
    }
}
