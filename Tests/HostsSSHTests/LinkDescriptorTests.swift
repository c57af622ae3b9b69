import FoundationEssentials
import HostsModel
import HostsTestSupport
import Testing

@testable import HostsSSH

/// Descriptors are counted in a process of their own, where no other test opens any.
struct LinkDescriptorTests {
    @Test func `a hundred connections and cuts leave no descriptor behind`() async {
        await #expect(processExitsWith: .success) {
            let server = try await LocalSSHD()
            let factory = LinkFixture.factory(config: server.configFile)
            #expect(await factory.failure(of: server.record) == nil)
            await Descriptors.settle()
            let before = Descriptors.count
            for round in 0..<100 {
                let link = try await factory.connect(to: server.record, token: round)
                switch round % 3 {
                case 0: link.close(.superseded)
                case 1: server.killConnections()
                default:
                    link.close(.superseded)
                    await #expect(throws: LinkError.self) { try await link.ask("pid") }
                }
                _ = await link.untilClosed()
            }
            await Descriptors.settle()
            #expect(Descriptors.count == before)
        }
    }

    @Test func `an attempt that is cancelled at any moment leaves no descriptor behind`() async {
        await #expect(processExitsWith: .success) {
            let server = try await LocalSSHD()
            let factory = LinkFixture.factory(config: server.configFile)
            let record = server.record
            #expect(await factory.failure(of: record) == nil)
            await Descriptors.settle()
            let before = Descriptors.count
            for step in 0..<60 {
                let attempt = Task { await factory.failure(of: record) }
                // Not a wait for something: the moment of the cancellation is what varies.
                let alarm = Task {
                    try await ContinuousClock().sleep(for: .milliseconds(step))
                    attempt.cancel()
                }
                let error = await attempt.value
                alarm.cancel()
                #expect(error == .cancelled || error == nil)
            }
            await Descriptors.settle()
            #expect(Descriptors.count == before)
        }
    }

    @Test func `a login that fails in any way leaves no descriptor behind`() async {
        await #expect(processExitsWith: .success) {
            let server = try await LocalSSHD()
            let factory = LinkFixture.factory(config: server.configFile)
            #expect(await factory.failure(of: server.record) == nil)
            await Descriptors.settle()
            let before = Descriptors.count
            let wrong = try await server.makeKey("wrong", isAuthorized: false)
            for _ in 0..<10 {
                try server.writeConfig(identityFiles: [wrong])
                #expect(await factory.failure(of: server.record)?.code == "ssh.auth.refused")
                try server.writeConfig(port: 1)
                #expect(await factory.failure(of: server.record)?.code == "connect.refused")
                try server.writeConfig(lines: ["UserKnownHostsFile /dev/null"])
                #expect(await factory.failure(of: server.record)?.code == "ssh.hostkey.unknown")
                try server.writeConfig(identityFiles: ["~/.ssh/id_rsa"], agent: "/nonexistent")
                #expect(await factory.failure(of: server.record)?.code == "ssh.agent.unavailable")
            }
            await Descriptors.settle()
            #expect(Descriptors.count == before)
        }
    }

    @Test func `local shells leave neither a descriptor nor a process behind`() async {
        await #expect(processExitsWith: .success) {
            let id = try #require(HostID(rawValue: "here"))
            let record = HostRecord(id: id, destination: "", transport: .local)
            let factory = LinkFixture.factory(config: nil)
            #expect(await factory.failure(of: record) == nil)
            await Descriptors.settle()
            let before = Descriptors.count
            for _ in 0..<50 { #expect(await factory.failure(of: record) == nil) }
            await Descriptors.settle()
            #expect(Descriptors.count == before)
        }
    }
}

/// The open descriptors of this process.
enum Descriptors {
    static var count: Int {
        do { return try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count } catch {
            return -1
        }
    }

    /// Waits until the closes that are on their way have happened: those of the loop, and of threads that
    /// end, which no event tells about.
    ///
    /// Gives up after what they never take.
    static func settle() async {
        var last = count
        var quiet = 0
        while quiet < 20 {
            await withCheckedContinuation { continuation in LinkFixture.loop.execute { continuation.resume() }
            }
            do { try await ContinuousClock().sleep(for: .milliseconds(5)) } catch { return }
            quiet = count == last ? quiet + 1 : 0
            last = count
        }
    }
}
