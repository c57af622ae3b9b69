import BenchReport
import HostsDetection
import HostsModel
import HostsTestSupport

/// Looks at a host with ten agents that work, whose screens are drawn at each look: what its CPUs have to do for it.
struct RemoteBenchmark {
    private static let agents = 10
    private static let looks = 100
    private static let budget = Duration.milliseconds(30)

    let book: RuleBook

    func run() async throws -> [Row] {
        let host = try await ScriptedHost(name: "bench")
        var running: [RunningAgent] = []
        for number in 0..<Self.agents {
            let kind = ScriptedAgent.Kind.allCases[number % ScriptedAgent.Kind.allCases.count]
            running.append(try await host.start(ScriptedAgent(kind: kind), session: "s\(number)"))
        }
        for agent in running { try await agent.tell(.busy) }
        let request = try await steadyRequest(host)
        let (shell, server, wall) = try await measure(request, on: host)
        let whole = shell + server
        return [
            Row(
                "remote CPU of one look, \(Self.agents) agents", whole.milliseconds,
                budget: Self.budget.milliseconds, isMet: whole <= Self.budget),
            Row("  of it the shell and its tools", shell.milliseconds),
            Row("  of it the tmux server, the agents' own output included", server.milliseconds),
            Row("time of one look on the host", wall.milliseconds),
        ]
    }

    /// What the detector asks for when it knows every agent.
    private func steadyRequest(_ host: ScriptedHost) async throws -> ProbeRequest {
        guard let id = HostID(rawValue: "bench") else { throw FixtureError("no name") }
        var detector = HostDetector(host: id, rules: book)
        var request = detector.nextRequest()
        var looks = 0
        for _ in 0..<16 {
            let output = try await host.run(Self.script([Self.call(request)]))
            let reply = ProbeReply(nonce: Self.nonce, body: Array(output.utf8), status: 0)
            switch try detector.report(reply, at: WallTime(milliseconds: 0)) {
            case .followUp(let next): request = next
            case .observation(let seen):
                request = detector.nextRequest()
                guard seen.sessions.count == Self.agents else { break }
                looks += 1
                // The second look has asked for the logs of the processes that the first one has found.
                if looks == 2 { return request }
            }
        }
        throw FixtureError("the agents are not found")
    }

    private func measure(
        _ request: ProbeRequest, on host: ScriptedHost
    ) async throws -> (shell: Duration, server: Duration, wall: Duration) {
        let server = "awk '{ print $14 + $15 }' \"/proc/$(tmux display-message -p '#{pid}')/stat\""
        let loop =
            "i=0; while [ $i -lt \(Self.looks) ]; do \(Self.call(request)) >/dev/null; i=$((i + 1)); done"
        // `times` (POSIX) tells the CPU time of the shell and of its children.
        let clock = "date +%s%N"
        let output = try await host.run(
            Self.script([
                Self.call(request) + " >/dev/null", server, clock, "times", loop, "times", clock, server,
            ]))
        let lines = output.split(separator: "\n").map(String.init)
        guard lines.count == 8, let ticksBefore = Int(lines[0]), let ticksAfter = Int(lines[7]),
            let started = Int(lines[1]), let ended = Int(lines[6])
        else { throw FixtureError("the shell says: \(output)") }
        let before = try Self.seconds(lines[2]) + Self.seconds(lines[3])
        let after = try Self.seconds(lines[4]) + Self.seconds(lines[5])
        let count = Double(Self.looks)
        return (
            .seconds((after - before) / count),
            // Clock ticks of 10 ms (proc(5)).
            .seconds(Double(ticksAfter - ticksBefore) / 100 / count),
            .nanoseconds((ended - started) / Self.looks)
        )
    }

    // MARK: Scripts

    private static let nonce = "0123456789abcdef"

    private static func call(_ request: ProbeRequest) -> String {
        let words = ([nonce] + request.arguments).map { "'" + $0.replacing("'", with: "'\\''") + "'" }
        return "\(request.function) \(words.joined(separator: " ")) </dev/null"
    }

    /// One command that runs lines in a shell that knows the probe.
    private static func script(_ lines: [String]) -> String {
        let text = ([HostDetector.program.definitions] + lines).joined(separator: "\n")
        return "exec /bin/sh -c '" + text.replacing("'", with: "'\\''") + "'"
    }

    /// `0m1.230s 0m0.450s`, as `times` prints it.
    private static func seconds(_ line: String) throws -> Double {
        try line.split(separator: " ").reduce(0) { sum, part in
            let parts = part.dropLast().split(separator: "m")
            guard parts.count == 2, let minutes = Double(parts[0]), let seconds = Double(parts[1]) else {
                throw FixtureError("\(line) is no time")
            }
            return sum + minutes * 60 + seconds
        }
    }
}
