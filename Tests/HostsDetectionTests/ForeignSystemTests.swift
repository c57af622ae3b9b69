import Foundation
import HostsConfig
import HostsDetection
import HostsModel
import Testing

/// Hosts without `/proc`: what ps(1) says there.
@Suite(.serialized, .ownThread) struct ForeignSystemTests {
    /// What the columns of the probe look like on one system.
    struct System: Sendable, CustomTestStringConvertible {
        let name: String
        let boot: String
        let tty: String
        /// Of a pane, as tmux says it.
        let device: String
        let rows: [String]

        var testDescription: String { name }
    }

    static let systems = [
        System(
            name: "Darwin 25.1.0 mac", boot: "8F6F5E3C-9A2B-4D0A-8E9A-5B1C2D3E4F50", tty: "ttys003",
            device: "/dev/ttys003",
            rows: [
                "  501     1   501     0 Ss   ??       Mon Nov 30 09:15:02 2026     sh",
                "  610   600   610   640 Ss   ttys003  Mon Nov 30 09:20:11 2026     -zsh",
                "  640   610   640   640 S+   ttys003  Tue Dec  1 10:01:00 2026     claude",
                "  655   640   640   640 S+   ttys003  Tue Dec  1 10:01:09 2026     node /usr/local/bin/some-mcp --stdio",
                "  700   600   700   701 Ss   ttys004  Mon Nov 30 09:20:12 2026     -zsh",
                "  701   700   701   701 T    ttys004  Tue Dec  1 10:02:00 2026     node /opt/homebrew/bin/codex resume",
            ]),
        System(
            name: "FreeBSD 14.2-RELEASE box", boot: "b3c1", tty: "pts/3", device: "/dev/pts/3",
            rows: [
                "501   1 501   0 Is  -     Mon Nov 30 09:15:02 2026 sh",
                "610 600 610 640 Is  pts/3 Mon Nov 30 09:20:11 2026 -sh (sh)",
                "640 610 640 640 S+  pts/3 Tue Dec  1 10:01:00 2026 claude",
                "655 640 640 640 S+  pts/3 Tue Dec  1 10:01:09 2026 node /usr/local/bin/some-mcp --stdio",
                "700 600 700 701 Is  pts/4 Mon Nov 30 09:20:12 2026 -sh (sh)",
                "701 700 701 701 T   pts/4 Tue Dec  1 10:02:00 2026 /usr/local/bin/node /usr/local/bin/codex resume",
            ]),
        System(
            name: "OpenBSD 7.8 fw", boot: "1764493000", tty: "ttyp3", device: "/dev/ttyp3",
            rows: [
                "  501     1   501     0 Isp     ??       Mon Nov 30 09:15:02 2026 sh",
                "  610   600   610   640 Isp     ttyp3    Mon Nov 30 09:20:11 2026 -ksh (ksh)",
                "  640   610   640   640 S+p     ttyp3    Tue Dec  1 10:01:00 2026 claude",
                "  655   640   640   640 S+p     ttyp3    Tue Dec  1 10:01:09 2026 node /usr/local/bin/some-mcp --stdio",
                "  700   600   700   701 Isp     ttyp4    Mon Nov 30 09:20:12 2026 -ksh (ksh)",
                "  701   700   701   701 T+p     ttyp4    Tue Dec  1 10:02:00 2026 node /usr/local/bin/codex resume",
            ]),
    ]

    private func reply(_ system: System, screen: [UInt8]?) -> [UInt8] {
        let n = "n0nce"
        var text =
            "@\(n) hostsd 2 probe\n@\(n) system \(system.name)\n@\(n) boot \(system.boot)\n@\(n) user 501\n"
        text += "@\(n) processes 501 \(system.rows.count) ps\n" + system.rows.joined(separator: "\n") + "\n"
        text +=
            "@\(n) processed\n\n@\(n) server /private/tmp/tmux-501/default\n@\(n) tmux 600 900 1100 3.5a\n"
        text +=
            "@\(n) clients\n@\(n) panes\n%7 610 \(system.device) 0 0 0 1000 100 40 main:2.0 ✳ topic\n@\(n) listed\n"
        var bytes = Array(text.utf8)
        if let screen {
            bytes += Array("@\(n) screen %7\n".utf8) + screen + Array("\n@\(n) drawn %7\n".utf8)
        }
        return bytes + Array("@\(n) served 0\n\n@\(n) done\n".utf8)
    }

    @Test(arguments: systems)
    func `agents are found on it, in their panes and terminals`(_ system: System) throws {
        let waiting = try #require(
            CapturedScreen.all.first { $0.file == "claude__waiting__edit_permission.txt" })
        var detector = HostDetector(host: HostDetectorTests.host, rules: RuleFixtures.book)
        _ = detector.nextRequest()
        let body = reply(system, screen: try waiting.capture())
        let step = try detector.report(
            ProbeReply(nonce: "n0nce", body: body, status: 0), at: WallTime(milliseconds: 0))
        guard case .observation(let seen) = step else {
            Issue.record("\(step)")
            return
        }
        #expect(seen.bootID == system.boot)
        let claude = try #require(seen.sessions.first { $0.agent.rawValue == "claude" })
        #expect(claude.pid == 640)
        #expect(
            claude.place
                == Place(
                    label: "main:2.0", socket: "/private/tmp/tmux-501/default", pane: "%7", tty: system.tty))
        #expect(claude.state == .needsYou(.permission))
        let codex = try #require(seen.sessions.first { $0.agent.rawValue == "codex" })
        #expect(codex.state == .stopped)
        #expect(codex.place.pane == nil)
        #expect(seen.sessions.count == 2)
    }

    /// With the ps(1) of this machine, which knows the same columns, and a `sysctl` of our own.
    @Test(arguments: Shell.all)
    func `the probe lists processes without a proc file system`(_ shell: Shell) throws {
        let host = try ShellHost()
        try host.makeAgent(named: "codex")
        let pane = try host.openPane(host.folder.appending(path: "bin/codex").path)
        let idle = try #require(CapturedScreen.all.first { $0.file == "codex__idle__fresh_start.txt" })
        let file = host.folder.appending(path: "screen")
        try Data(try idle.capture()).write(to: file)
        try host.type("\(file.path)|sessions|", into: pane)
        let bin = host.folder.appending(path: "bsd")
        try FileManager.default.createDirectory(at: bin, withIntermediateDirectories: false)
        try host.install(
            "#!/bin/sh\n[ \"$2\" = kern.boot_id ] && echo boot-7\n", at: bin.appending(path: "sysctl"))
        let setup = "hostsd_has_proc() { false; }; PATH=\(bin.path):/usr/bin:/bin"
        var detector = HostDetector(host: HostDetectorTests.host, rules: RuleFixtures.book)
        var seen: HostObservation?
        for _ in 0..<100 {
            seen = try look(&detector, at: host, in: shell, setup: setup)
            let own = seen?.sessions.filter { $0.place.socket == host.socket }
            if own?.map(\.state) == [.idle] { break }
        }
        #expect(seen?.bootID == "boot-7")
        let session = try #require(seen?.sessions.first { $0.place.socket == host.socket })
        #expect(session.agent.rawValue == "codex")
        #expect(session.place.pane == pane)
        #expect(session.state == .idle)
    }

    private func look(
        _ detector: inout HostDetector, at host: ShellHost, in shell: Shell, setup: String
    ) throws -> HostObservation {
        var request = detector.nextRequest()
        while true {
            let reply = try host.probe(request, in: shell, setup: setup)
            switch try detector.report(reply, at: WallTime(milliseconds: 0)) {
            case .followUp(let next): request = next
            case .observation(let observation): return observation
            }
        }
    }
}
