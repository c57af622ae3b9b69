import FoundationEssentials
import HostsModel
import HostsTestSupport
import Testing

@testable import HostsAttention

/// Real scripts.
@Suite(.timeLimit(.minutes(5))) struct HookRunnerTests {
    let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private func event(summary: String = "claude in main:0.1 on devbox asks for permission") throws
        -> AttentionEvent
    {
        AttentionEvent(
            id: try #require(EventID(rawValue: "00000000000000aa")), kind: .needsYou, key: "session:devbox/1",
            time: WallTime(milliseconds: 1_796_068_800_123), host: CenterRig.devbox,
            session: SessionID(rawValue: "devbox/1"), agent: AgentName(rawValue: "claude"), place: "main:0.1",
            reason: "permission", summary: summary, delivery: .pending)
    }

    private func run(
        _ script: String, mode: UInt32 = 0o755, timeout: Duration = .seconds(60),
        _ event: AttentionEvent? = nil
    ) async throws -> HookReport {
        let path = try folder.write("hook", "#!/bin/sh\n" + script + "\n", mode: mode)
        let inherited = [
            "PATH": "/usr/bin:/bin", "HOME": "/home/x", "SECRET": "s", "XDG_RUNTIME_DIR": "/run/x",
        ]
        let runner = HookRunner(
            environment: HookEnvironment(inherited: inherited, socket: "/run/x/api.sock"), timeout: timeout)
        let report = await runner.run(Hook(name: "hook", path: path), try event ?? self.event(), attempt: 3)
        return try #require(report)
    }

    @Test(arguments: [
        ("exit 0", HookResult.delivered), ("exit 75", .retryLater), ("exit 78", .misconfigured),
        ("exit 1", .failed("exit 1")), ("exit 127", .failed("exit 127")),
        ("kill -KILL $$", .failed("signal 9")),
    ])
    func `the exit says what follows`(script: String, result: HookResult) async throws {
        #expect(try await run(script).result == result)
    }

    @Test func `a hook that hangs has failed at its deadline`() async throws {
        let (limit, report) = try await Patience.attempt { limit in
            (limit, try await run("echo before; exec sleep 600", timeout: limit))
        } until: {
            $0.1.lines == ["before"]
        }
        #expect(report.result == .failed("stopped after \(limit.components.seconds) s"))
        #expect(report.lines == ["before"])
    }

    @Test func `a hook that is not executable has failed with the reason`() async throws {
        let report = try await run("exit 0", mode: 0o644)
        guard case .failed(let reason) = report.result else {
            Issue.record("\(report.result)")
            return
        }
        #expect(reason.hasSuffix("cannot be executed: Permission denied"))
    }

    @Test func `a hook that floods its output is delivered, its last lines kept`() async throws {
        let report = try await run("cat >/dev/null; seq 1 200000; printf 'bad\\033[2Jline' >&2; exit 0")
        #expect(report.result == .delivered)
        #expect(report.lines == ["199996", "199997", "199998", "199999", "200000", "bad\\u{1b}[2Jline"])
    }

    @Test func `the kind is the argument, the facts are in the environment, and nothing else is`()
        async throws
    {
        let report = try await run("echo \"$*\"; env | sort > \(folder.path)/env; pwd")
        #expect(report.lines == ["needs.you", "/"])
        let text = try String(contentsOfFile: folder.path + "/env", encoding: .utf8)
        let lines = text.split(separator: "\n").filter { !$0.hasPrefix("PWD=") && !$0.hasPrefix("_=") }
        #expect(
            lines == [
                "HOME=/home/x", "HOSTSD_AGENT=claude", "HOSTSD_API=1", "HOSTSD_ATTEMPT=3",
                "HOSTSD_EVENT=needs.you",
                "HOSTSD_EVENT_ID=00000000000000aa", "HOSTSD_GAP_SECONDS=0", "HOSTSD_HOST=devbox",
                "HOSTSD_KEY=session:devbox/1", "HOSTSD_LATE=0", "HOSTSD_PLACE=main:0.1",
                "HOSTSD_REASON=permission",
                "HOSTSD_SESSION=devbox/1", "HOSTSD_SEVERITY=attention", "HOSTSD_SOCKET=/run/x/api.sock",
                "HOSTSD_SUMMARY=claude in main:0.1 on devbox asks for permission",
                "HOSTSD_TIME=2026-11-30T20:00:00.123Z", "HOSTSD_TURN=", "PATH=/usr/bin:/bin",
                "XDG_RUNTIME_DIR=/run/x",
            ])
    }

    @Test func `control characters and lines do not get into the environment`() async throws {
        let report = try await run(
            "printf '%s' \"$HOSTSD_SUMMARY\" | od -An -c | grep -c '[\\]n\\|033'; exit 0",
            try event(summary: "one\ntwo\u{1b}[2J"))
        #expect(report.lines == ["0"])
    }

    @Test func `standard input is the JSON document of the API, every field there`() async throws {
        _ = try await run("cat > \(folder.path)/document")
        let text = try String(contentsOfFile: folder.path + "/document", encoding: .utf8)
        #expect(
            text == """
                {"agent":"claude","delivery":"pending","dropReason":null,"gapSeconds":0,"host":"devbox",\
                "id":"00000000000000aa","key":"session:devbox/1","kind":"needs.you","late":false,\
                "place":"main:0.1","reason":"permission","schema":1,"session":"devbox/1",\
                "summary":"claude in main:0.1 on devbox asks for permission","time":"2026-11-30T20:00:00.123Z",\
                "turn":null}

                """)
    }

    @Test func `a hook that does not read its input is no failure`() async throws {
        #expect(try await run("exec 0<&-; exit 0").result == .delivered)
    }
}
