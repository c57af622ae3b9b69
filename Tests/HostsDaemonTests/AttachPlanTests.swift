import HostsModel
import Testing

@testable import HostsDaemon

@Suite struct AttachPlanTests {
    private static func record(
        _ transport: HostRecord.Transport = .auto, _ restore: HostRecord.SessionRestore = .none
    ) throws -> HostRecord {
        HostRecord(
            id: try #require(HostID(rawValue: "devbox")), destination: "me@box; rm -rf /",
            label: "$(reboot)", sessionRestore: restore, transport: transport)
    }

    private static func place(_ socket: String?, _ pane: String?) -> Place {
        Place(label: "main:0.1", socket: socket, pane: pane, tty: "pts/3")
    }

    @Test func `a shell is the person's own ssh, and the destination is one word behind the options`() throws
    {
        let plan = AttachPlan(try Self.record(), ssh: "/opt/ssh", configFile: "/etc/a b")
        #expect(plan.arguments == ["/opt/ssh", "-t", "-F", "/etc/a b", "--", "me@box; rm -rf /"])
    }

    @Test func `a restored session has the one fixed command`() throws {
        let plan = AttachPlan(try Self.record(.auto, .tmux), ssh: "ssh", configFile: nil)
        #expect(plan.arguments.suffix(3) == ["--", "me@box; rm -rf /", "tmux new-session -A -s hostsd"])
        let local = AttachPlan(try Self.record(.local, .tmux), ssh: "ssh", configFile: nil)
        #expect(local.arguments == ["tmux", "new-session", "-A", "-s", "hostsd"])
        #expect(AttachPlan(try Self.record(.local), ssh: "ssh", configFile: nil).arguments.isEmpty)
    }

    @Test func `a pane is named by what was observed only`() throws {
        let place = Self.place("/tmp/tmux-1000/it's $(x)", "%4")
        let plan = try AttachPlan(place, on: try Self.record(), ssh: "ssh", configFile: nil)
        let server = #"tmux -u -S '/tmp/tmux-1000/it'\''s $(x)'"#
        let command = "\(server) has-session -t %4 && exec \(server) attach-session -t %4"
        #expect(
            plan.arguments == ["ssh", "-t", "-o", "RemoteCommand=none", "--", "me@box; rm -rf /", command])
        let local = try AttachPlan(place, on: try Self.record(.local), ssh: "ssh", configFile: nil)
        #expect(local.arguments == ["/bin/sh", "-c", command])
    }

    @Test(arguments: [
        ("/tmp/a\nb", "%4"), ("/tmp/\u{1b}[2J", "%4"), ("/tmp/\u{9b}2J", "%4"), ("relative", "%4"),
        ("", "%4"),
        ("/" + String(repeating: "a", count: 107), "%4"), ("/tmp/a", "4"), ("/tmp/a", "%"),
        ("/tmp/a", "%4;x"),
        ("/tmp/a", "%４"), ("/tmp/a", "%12345678901"), ("/tmp/a", ""),
    ])
    func `a socket or a pane that is none is refused`(_ socket: String, _ pane: String) throws {
        let record = try Self.record()
        #expect(throws: AttachPlan.Refusal.badPlace) {
            try AttachPlan(Self.place(socket, pane), on: record, ssh: "ssh", configFile: nil)
        }
    }

    @Test func `an agent on a plain terminal has no pane`() throws {
        let record = try Self.record()
        #expect(throws: AttachPlan.Refusal.notInTmux) {
            try AttachPlan(Self.place(nil, nil), on: record, ssh: "ssh", configFile: nil)
        }
    }
}
