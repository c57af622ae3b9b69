import HostsAPI
import HostsTestSupport
import Testing

/// Agents wherever they may run on one host: each is found once, in its place and state.
@Suite(.timeLimit(.minutes(5))) struct PlacesTests {
    /// Where an agent of the test runs, as it is shown.
    private struct Found: Hashable, CustomStringConvertible {
        let agent: String
        let place: String
        let socket: String?
        let state: String

        var description: String { "\(agent) in \(place) of \(socket ?? "-"): \(state)" }
    }

    @Test
    func `three tmux servers, two panes, a popup, a plain terminal and a tmux in a tmux, without a locale`()
        async throws
    {
        let host = try await ScriptedHost(name: "a")
        let tmux = "env -u LANG LC_ALL=C tmux -u -f /dev/null"
        let (claude, claudeAgent) = try host.prepare(ScriptedAgent(kind: .claude), name: "default")
        try await host.run("\(tmux) new-session -d -s main -x 100 -y 30 '\(claude)'")
        let (beside, _) = try host.prepare(ScriptedAgent(kind: .codex), name: "beside")
        try await host.run("\(tmux) split-window -d -t main -l 14 '\(beside)'")
        let (named, namedAgent) = try host.prepare(ScriptedAgent(kind: .codex), name: "named")
        try await host.run("\(tmux) -L named new-session -d -s work -x 100 -y 30 '\(named)'")
        let (odd, oddAgent) = try host.prepare(ScriptedAgent(kind: .claude), name: "odd")
        try await host.run(
            "mkdir '/tmp/odd place' && \(tmux) -S '/tmp/odd place/s' new-session -d -s far '\(odd)'")
        // A pane of the first server shows another server.
        let (nested, _) = try host.prepare(ScriptedAgent(kind: .claude), name: "nested")
        try await host.run(
            "\(tmux) new-window -d -t main 'unset TMUX; \(tmux) -L inner new-session -s in -x 90 -y 28 \(nested)'"
        )
        // A client on a terminal of its own, and a popup over it: that is no pane.
        try await host.run(
            "setsid script -qec 'TERM=xterm \(tmux) -L named attach' /dev/null >/dev/null 2>&1 </dev/null & exit 0"
        )
        let (popup, _) = try host.prepare(ScriptedAgent(kind: .claude), name: "popup")
        try await host.run(
            """
            until [ -n "$(tmux -L named list-clients)" ]; do :; done
            (setsid tmux -L named display-popup -E '\(popup)' >/dev/null 2>&1 </dev/null &)
            """)
        let (plain, _) = try host.prepare(ScriptedAgent(kind: .claude), name: "plain")
        try await host.run(
            "(setsid script -qec '\(plain)' /dev/null >/dev/null 2>&1 </dev/null &)")
        let daemon = try await PrivateDaemon(servers: [host.server], settings: PrivateDaemon.quick)
        try await daemon.until("a", "online")
        try await claudeAgent.tell(.permission)
        try await namedAgent.tell(.busy)
        try await oddAgent.tell(.interrupted)
        let uid = try await host.run("id -u").split(separator: "\n")[0]
        let folder = "/tmp/tmux-\(uid)"
        let inTmux: Set<Found> = [
            Found(agent: "claude", place: "main:0.0", socket: folder + "/default", state: "needsYou"),
            Found(agent: "codex", place: "main:0.1", socket: folder + "/default", state: "idle"),
            Found(agent: "codex", place: "work:0.0", socket: folder + "/named", state: "busy"),
            Found(agent: "claude", place: "far:0.0", socket: "/tmp/odd place/s", state: "idle"),
            Found(agent: "claude", place: "in:0.0", socket: folder + "/inner", state: "idle"),
        ]
        var found: [Found] = []
        for _ in 0..<100 {
            #expect(try await daemon.hostsctl("probe", "a").status == 0)
            found = try await daemon.sessions(of: "a").map {
                Found(agent: $0.agent, place: $0.place, socket: $0.socket, state: $0.state)
            }
            if inTmux.isSubset(of: found), found.count == 7 { break }
        }
        #expect(inTmux.subtracting(found) == [])
        let outside = found.filter { $0.socket == nil }
        // The popup and the plain terminal, each known by its own state file.
        #expect(outside.map(\.state) == ["idle", "idle"])
        #expect(outside.allSatisfy { $0.agent == "claude" && $0.place.hasPrefix("pts/") })
        #expect(found.count == 7, "\(found)")
        await daemon.terminate()
    }
}
