import Glibc
import HostsLog
import HostsModel
import HostsTestSupport

@testable import HostsSSH

/// What most tests of links need: one event loop for all of them, and a factory that uses a server's own
/// files.
enum LinkFixture {
    /// One loop for the whole test process, as in the daemon.
    static let loop: EventLoop = {
        do { return try EventLoop() } catch { preconditionFailure("no event loop: \(error)") }
    }()

    /// Functions as the probe has them: one that prints, one that fails, one that reads its input, one that
    /// hangs.
    static let program = ShellProgram(
        definitions: """
            say() { shift; for word; do printf '%s\\n' "$word"; done; }
            fail() { return 7; }
            slurp() { cat; printf end; }
            hang() { sleep 600; }
            pid() { echo $$; }
            many() { i=0; while [ $i -lt "$2" ]; do echo "line $i of many"; i=$((i+1)); done; }
            complain() { i=0; while [ $i -lt 2000 ]; do echo 'complaint complaint complaint complaint' >&2; i=$((i+1)); done; }
            leave() { exit 3; }
            """)

    static func settings(config: String?, _ change: (inout LinkSettings) -> Void = { _ in }) -> LinkSettings {
        var settings = LinkSettings(environment: Tool.environment, homeDirectory: "/nonexistent")
        settings.configFile = config
        change(&settings)
        return settings
    }

    static func factory(
        config: String?, program: ShellProgram = program, _ change: (inout LinkSettings) -> Void = { _ in }
    ) -> LinkFactory {
        LinkFactory(
            resources: LinkResources(loop: loop), settings: settings(config: config, change),
            program: program, log: log.log(.ssh))
    }

    static let log = LogCenter(sinks: [], clock: FixedWallClock())

    /// Runs what belongs on the loop's thread.
    static func onLoop<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
        await withCheckedContinuation { continuation in
            loop.execute { continuation.resume(returning: body()) }
        }
    }

    /// A deadline that no healthy answer misses.
    static var soon: ContinuousClock.Instant { .now + .seconds(120) }
}

extension LinkFactory {
    /// Why a connection cannot be made; nil when it can.
    func failure(of record: HostRecord) async -> LinkError? {
        do {
            let link = try await connect(to: record, token: 1)
            link.close(.daemonStopping)
            return nil
        } catch {
            return error
        }
    }
}

extension ProbeLink {
    /// Runs one request, with a generous limit.
    func ask(_ function: String, _ arguments: String...) async throws(LinkError) -> ProbeReply {
        try await probe(ProbeRequest(function: function, arguments: arguments), until: LinkFixture.soon)
    }
}

extension ProbeReply {
    var text: String { String(decoding: body, as: UTF8.self) }
}
