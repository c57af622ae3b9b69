import HostsAPI
import HostsTestSupport
import Testing

/// The real program attaches again on a real terminal; a daemon that comes and goes tells of sleep after sleep.
@Suite(.ownThread, .timeLimit(.minutes(1))) struct AttachTerminalTests {
    /// In the place of ssh: the first run is cut after a second, the next one shows what it is given to read.
    private static let script = """
        if [ -e "$0" ]; then
            stty raw -echo; read -t 1 -N 200 input; stty sane; echo "got:[$input]"; exit 6
        fi
        touch "$0"; stty raw -echo; echo up; sleep 1; stty sane; exit 255
        """

    private func run(restore: String, until code: String) throws -> (shown: String, isRunAgain: Bool) {
        let folder = try TemporaryFolder()
        let document = AttachDocument(
            host: "devbox", session: nil, transport: "ssh", destination: "devbox", restore: restore,
            arguments: ["/bin/bash", "-c", Self.script, folder.path("mark")], bootID: nil)
        let phase = PhaseDocument(
            phase: "background", hasRoute: true, awaitsPassphrase: false, bootID: nil)
        let lines = [AttachLine.attach(document), .phase(phase)]
        let stream = HTTPText.stream(
            try lines.map { Array(try FakeDaemon.line($0).utf8) + [0x0a] }, isFinished: true)
        // Each is followed by a loss, which counts as awake.
        let act = [ScriptedServer.Reply.sendAndClose(stream)]
        let server = try ScriptedServer(
            act, act, act, act, act, act, act, act, act, act, act, act, act, act, act, act)
        defer { server.stop() }
        let child = try TerminalChild(
            #"set -m; "$0" "$@"; echo "code $?"; read end"#, try ChildProcess.programPath(),
            ["attach", "devbox", "--socket", server.path])
        _ = try child.read(until: "up")
        child.type("rm -rf precious\n")
        let shown = try child.read(until: code)
        #expect(child.isEchoing)
        // The shell ends with its terminal.
        return (shown, shown.contains("got:["))
    }

    @Test func `a session that a sleep has cut is attached again, and what was typed does not reach it`()
        throws
    {
        let (shown, _) = try run(restore: "tmux", until: "code 6")
        #expect(shown.contains("attaching again (1 of 3)"))
        #expect(shown.contains("got:[]"), "\(shown)")
    }

    @Test func `without session_restore it stays ended`() throws {
        let (_, isRunAgain) = try run(restore: "none", until: "code 255")
        #expect(!isRunAgain)
    }
}
