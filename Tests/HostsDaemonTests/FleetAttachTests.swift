import HostsAPI
import HostsHub
import HostsModel
import HostsPolicy
import HostsServer
import Testing

@testable import HostsDaemon

/// Windows of the person's and watched pages, with links that a test answers for.
@Suite(.timeLimit(.minutes(1))) struct FleetAttachTests {
    @Test func `a window tells what to start, and each phase, while it is open`() async throws {
        let rig = try Rig(["a"])
        try await rig.run { service in
            let watch = try await service.attach("a", session: nil)
            guard case .attach(let document)? = watch.past.first else {
                Issue.record("the first line is what to start")
                return
            }
            #expect(document.arguments == ["ssh", "-t", "--", "a"])
            #expect(document.restore == "none" && document.transport == "ssh")
            var phases: [String] = []
            reading: for try await line in watch.live {
                guard case .phase(let phase) = line else { continue }
                phases.append(phase.phase)
                switch phases.count {
                case 1: await rig.hub.setPhase(.background)
                case 2:
                    // Disabled meanwhile: the window stays.
                    await rig.hub.suspendModel(of: try #require(HostID(rawValue: "a")))
                    await rig.hub.setPhase(.active)
                default: break reading
                }
            }
            #expect(phases == ["active", "background", "active"])
        }
    }

    @Test func `what cannot be attached to or watched is refused`() async throws {
        let rig = try Rig(["a", "off"], bad: ["bad"])
        try await rig.run { service in
            await #expect(throws: APIError.hostDisabled("off")) {
                try await service.attach("off", session: nil)
            }
            await #expect(throws: APIError.hostDisabled("off")) { try await service.watchHost("off") }
            await #expect(throws: APIError.sessionNotFound("%1 on a")) {
                try await service.attach("a", session: "%1")
            }
            await #expect(throws: APIError.sessionNotFound("a/1-2")) {
                try await service.watchSession(SessionID(rawValue: "a/1-2"))
            }
            let refusal = await #expect(throws: APIError.self) {
                try await service.attach("bad", session: nil)
            }
            #expect(refusal?.status == 422)
        }
    }

    @Test func `a page that is watched comes at once`() async throws {
        let rig = try Rig(["a"])
        try await rig.run { service in
            let watch = try await service.watchHost("a")
            #expect(watch.past.map(\.host.name) == ["a"])
        }
    }
}
