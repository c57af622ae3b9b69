import HostsDetection
import HostsModel
import Testing

@Suite struct StateFileTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let json: String
        let state: AgentState?
        let flags: Set<SessionFlag>

        init(_ description: String, _ json: String, _ state: AgentState?, flags: Set<SessionFlag> = []) {
            testDescription = description
            self.json = json
            self.state = state
            self.flags = flags
        }
    }

    // The screen shows work: where the file says nothing, it decides.
    @Test(arguments: [
        Case("idle", #"{"procStart":"5000","status":"idle"}"#, .idle),
        Case("a number as start", #"{"procStart":5000,"status":"idle"}"#, .idle),
        Case(
            "a shell in the background", #"{"procStart":"5000","status":"shell"}"#, .idle,
            flags: [.background]),
        Case(
            "permission", #"{"procStart":"5000","status":"waiting","waitingFor":"permission prompt"}"#,
            .needsYou(.permission)),
        Case(
            "an older word", #"{"procStart":"5000","status":"waiting","waitingFor":"approve Bash"}"#,
            .needsYou(.permission)),
        Case(
            "a question", #"{"procStart":"5000","status":"waiting","waitingFor":"input needed"}"#,
            .needsYou(.question)),
        Case(
            "a new word", #"{"procStart":"5000","status":"waiting","waitingFor":"moon"}"#, .needsYou(.other)),
        Case("another process of that pid", #"{"procStart":"4999","status":"idle"}"#, nil),
        Case("no start", #"{"status":"idle"}"#, nil),
        Case("a new status", #"{"procStart":"5000","status":"dreaming"}"#, nil),
        Case("no JSON", "{", nil),
        Case("a list", "[]", nil),
        Case("deep JSON", String(repeating: "[", count: 3000), nil),
    ])
    func `the file decides if it is of the process`(_ c: Case) throws {
        var host = FakeHost()
        let busy = try #require(
            CapturedScreen.all.first { $0.file == "claude__busy__spinner_title_pinned.txt" })
        host.addPane(1, title: "✳ topic", screen: try busy.capture(), command: ["claude"])
        host.stateFiles = [(agent: "claude", pid: 111, json: c.json)]
        let session = try #require(try look(at: host).sessions.first)
        #expect(session.state == c.state ?? .busy)
        #expect(session.flags == c.flags)
    }

    @Test func `a file that says idle does not rule out an error on the screen`() throws {
        var host = FakeHost()
        let login = try #require(
            CapturedScreen.all.first { $0.file == "claude__waiting__api_error_login.txt" })
        host.addPane(1, title: "✳ topic", screen: try login.capture(), command: ["claude"])
        host.stateFiles = [(agent: "claude", pid: 111, json: #"{"procStart":"5000","status":"idle"}"#)]
        #expect(try look(at: host).sessions.map(\.state) == [.needsYou(.login)])
    }

    @Test func `an agent outside tmux is known by its file`() throws {
        var host = FakeHost()
        host.addPane(1, title: "", screen: [], command: ["claude"])
        host.panes = []
        host.stateFiles = [
            (agent: "claude", pid: 111, json: #"{"procStart":"5000","status":"busy","version":"9.0.1"}"#)
        ]
        let seen = try look(at: host)
        #expect(seen.sessions.map(\.state) == [.busy])
        #expect(seen.warnings == ["claude 9.0.1 is not of the versions that its rules were made for"])
    }

    private func look(at host: FakeHost) throws -> HostObservation {
        var detector = HostDetector(host: HostDetectorTests.host, rules: RuleFixtures.book)
        return try detector.look(at: host, seconds: 0)
    }
}
