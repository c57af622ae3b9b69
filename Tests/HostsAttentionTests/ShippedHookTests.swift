import FoundationEssentials
import Glibc
import HostsModel
import HostsTestSupport
import Testing

@testable import HostsAttention

/// The hooks of `Config/hooks.d`, run as hostsd runs them.
@Suite(.timeLimit(.minutes(5))) struct ShippedHookTests {
    private static let shipped = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("Config/hooks.d").path

    let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        for name in ["bin", "config", "config/hostsd", "run"] {
            try #require(mkdir(folder.path + "/" + name, 0o700) == 0)
        }
    }

    private func run(_ name: String, summary: String = "a summary", kind: AttentionEvent.Kind = .needsYou)
        async throws
        -> HookReport
    {
        let environment = [
            "PATH": folder.path + "/bin:/usr/bin:/bin", "HOME": folder.path,
            "XDG_CONFIG_HOME": folder.path + "/config", "XDG_RUNTIME_DIR": folder.path + "/run",
        ]
        let event = AttentionEvent(
            id: EventIDSource.first, kind: kind, key: "host:devbox", time: WallTime(milliseconds: 0),
            host: CenterRig.devbox, reason: "permission", summary: summary, delivery: .pending)
        let runner = HookRunner(environment: HookEnvironment(inherited: environment))
        let report = await runner.run(Hook(name: name, path: Self.shipped + "/" + name), event, attempt: 1)
        return try #require(report)
    }

    /// Puts a program in the place of a real one that notes its arguments and its input, then prints `answer`.
    private func fake(_ name: String, answer: String = "") throws {
        let script = """
            #!/bin/sh
            printf '%s\\n' "$@" >\(folder.path)/arguments
            [ "\(name)" = curl ] && cat >\(folder.path)/input
            printf '%s' '\(answer)'
            exit 0

            """
        try folder.write("bin/" + name, script, mode: 0o755)
    }

    private func text(_ name: String) throws -> String {
        try String(contentsOfFile: folder.path + "/" + name, encoding: .utf8)
    }

    @Test func `every shipped hook may be run where it lies`() {
        let names = ["50-desktop", "50-log", "50-ntfy", "50-webhook"]
        for name in names { #expect(access(Self.shipped + "/" + name, X_OK) == 0, "\(name)") }
    }

    @Test func `log appends a line`() async throws {
        for summary in ["one", "$(touch \(folder.path)/evil) `x` %s"] {
            #expect(try await run("50-log", summary: summary).result == .delivered)
        }
        #expect(
            try text(".local/state/hostsd/alerts.log") == """
                1970-01-01T00:00:00.000Z needs.you one
                1970-01-01T00:00:00.000Z needs.you $(touch \(folder.path)/evil) `x` %s

                """)
        #expect(access(folder.path + "/evil", F_OK) != 0)
    }

    @Test func `desktop waits for a session bus and starts none`() async throws {
        try fake("notify-send")
        #expect(try await run("50-desktop").result == .retryLater)
        #expect(access(folder.path + "/arguments", F_OK) != 0)
    }

    @Test func `desktop escapes markup and shows what concerns a person`() async throws {
        try fake("notify-send")
        try #require(bindSocket(folder.path + "/run/bus"))
        #expect(try await run("50-desktop", kind: .hostOutOfSync).result == .delivered)
        #expect(access(folder.path + "/arguments", F_OK) != 0)
        #expect(try await run("50-desktop", summary: "-x <b> & \"c\"").result == .delivered)
        #expect(try text("arguments").hasSuffix("--\nhostsd: devbox\n-x &lt;b&gt; &amp; \"c\"\n"))
    }

    @Test(arguments: ["50-ntfy", "50-webhook"])
    func `a hook without its settings says that it is misconfigured`(name: String) async throws {
        let report = try await run(name)
        #expect(report.result == .misconfigured)
        #expect(report.lines.first?.contains("hooks.env") == true)
    }

    @Test(arguments: [
        ("200", HookResult.delivered), ("429", .retryLater), ("503", .retryLater), ("403", .misconfigured),
        ("400", .failed("exit 1")),
    ])
    func `the server's answer decides what follows`(answer: String, result: HookResult) async throws {
        try fake("curl", answer: answer)
        try folder.write(
            "config/hostsd/hooks.env", "NTFY_URL=https://x/topic\nWEBHOOK_URL=https://x/secret\n", mode: 0o600
        )
        #expect(try await run("50-ntfy").result == result)
        #expect(try await run("50-webhook").result == result)
    }

    @Test func `secrets and text go to curl through its input, quoted`() async throws {
        try fake("curl", answer: "200")
        try folder.write(
            "config/hostsd/hooks.env",
            "NTFY_URL=https://x/topic\nNTFY_TOKEN=tk\nWEBHOOK_URL=https://x/secret\n",
            mode: 0o600)
        _ = try await run("50-ntfy", summary: #"say "\n" to"#)
        #expect(try text("input").contains(#"data-raw = "say \"\\n\" to""#))
        #expect(try text("input").contains(#"header = "Authorization: Bearer tk""#))
        #expect(try !text("arguments").contains("topic"))
        _ = try await run("50-webhook", summary: #"say "x" to"#)
        #expect(try text("input").contains(#"\"summary\":\"say \\\"x\\\" to\""#))
        #expect(try !text("arguments").contains("secret"))
    }

    /// A socket file, as a session bus has one.
    private func bindSocket(_ path: String) -> Bool {
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
            }
        }
    }
}
