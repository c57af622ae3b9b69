import Glibc
import HostsAPI
import HostsTestSupport
import Testing

/// The real program on a real terminal.
@Suite(.ownThread, .timeLimit(.minutes(2))) struct TerminalTests {
    private static let prompt = "Passphrase for the keys of devbox: "

    private func server() throws -> ScriptedServer {
        let host = HTTPText.whole(try FakeDaemon.line(Documents.devboxDocument))
        let opened = HTTPText.whole(try FakeDaemon.line(UnlockDocument(host: "devbox", keys: ["/k"])))
        return try ScriptedServer([.send(host, piece: 4096), .send(opened, piece: 4096)])
    }

    private func unlock(_ server: ScriptedServer, script: String = #""$0" "$@""#) throws -> TerminalChild {
        try TerminalChild(
            script, try ChildProcess.programPath(), ["unlock", "devbox", "--socket", server.path])
    }

    @Test func `a passphrase is not shown while it is typed, and the terminal is as it was`() throws {
        let server = try server()
        defer { server.stop() }
        let child = try unlock(server, script: #""$0" "$@"; echo "code $?"; read end"#)
        _ = try child.read(until: Self.prompt)
        #expect(!child.isEchoing)
        child.type("hunter2\n")
        let shown = try child.read(until: "code 0")
        #expect(child.isEchoing)
        #expect(shown.contains("open until hostsd stops"))
        #expect(!shown.contains("hunter2"))
        child.type("\n")
        _ = child.finish()
        #expect(server.requests.last?.hasSuffix(#"{"passphrase":"hunter2"}"#) == true)
    }

    @Test(arguments: [(SIGINT, 130), (SIGTERM, 143), (SIGHUP, 129), (SIGQUIT, 131)] as [(Int32, Int32)])
    func `a signal that ends it leaves the terminal as it was`(signal: Int32, code: Int32) throws {
        let server = try server()
        defer { server.stop() }
        let child = try unlock(
            server, script: #"ulimit -c 0; set -m; "$0" "$@"; echo "code $?"; read end"#)
        _ = try child.read(until: Self.prompt)
        #expect(!child.isEchoing)
        child.signalForeground(signal)
        _ = try child.read(until: "code \(code)")
        #expect(child.isEchoing)
        child.type("\n")
        _ = child.finish()
        #expect(server.requests.count == 1)
    }

    @Test func `a stop gives the terminal back, and the question comes again`() throws {
        let server = try server()
        defer { server.stop() }
        let child = try unlock(
            server,
            script: #"set -m; "$0" "$@"; echo stopped; read go; fg >/dev/null; echo "code $?"; read end"#)
        _ = try child.read(until: Self.prompt)
        child.type("half a pass\u{1a}")
        _ = try child.read(until: "stopped")
        #expect(child.isEchoing)
        child.type("\n")
        _ = try child.read(until: Self.prompt)
        #expect(!child.isEchoing)
        child.type("hunter2\n")
        _ = try child.read(until: "code 0")
        #expect(child.isEchoing)
        child.type("\n")
        _ = child.finish()
        #expect(server.requests.last?.hasSuffix(#"{"passphrase":"hunter2"}"#) == true)
    }

    @Test func `the end of the input is no passphrase`() throws {
        let server = try server()
        defer { server.stop() }
        let child = try unlock(server)
        _ = try child.read(until: Self.prompt)
        child.type("\u{4}")
        let (output, status) = child.finish()
        #expect(output.contains("devbox: no passphrase was given"))
        #expect(status == 1)
    }

    @Test func `a line of standard input is read where it is no terminal`() throws {
        let folder = try TemporaryFolder()
        let opened = HTTPText.whole(try FakeDaemon.line(UnlockDocument(host: "devbox", keys: ["/k"])))
        for (text, expected) in [("hunter2\nmore\n", "hunter2"), ("hunter2", "hunter2"), (" é \n", " é ")] {
            let server = try ScriptedServer([.send(opened, piece: 4096)])
            defer { server.stop() }
            let input = try folder.write("input", text)
            let result = try ChildProcess(["unlock", "devbox", "--socket", server.path], input: input)
                .finish()
            #expect(result.ending == .exit(0))
            #expect(result.error == "")
            #expect(server.requests.last?.hasSuffix(#"{"passphrase":"\#(expected)"}"#) == true)
        }
    }

    @Test func `a standard input without a line, or with an endless one, is refused`() throws {
        let folder = try TemporaryFolder()
        for (text, message) in [
            ("", "no passphrase was given"), ("\n", "no passphrase was given"),
            (String(repeating: "x", count: 5000), "a passphrase has at most 4095 bytes"),
        ] {
            let server = try ScriptedServer([])
            defer { server.stop() }
            let input = try folder.write("input", text)
            let result = try ChildProcess(["unlock", "devbox", "--socket", server.path], input: input)
                .finish()
            #expect(result.ending == .exit(1))
            #expect(result.error == "hostsctl: devbox: \(message)\n")
        }
    }

    @Test func `a yes is typed on the terminal, wherever the output goes`() throws {
        let known = HTTPText.whole(try FakeDaemon.line(Documents.trust("fresh")))
        let added = HTTPText.whole(try FakeDaemon.line(Documents.trust("fresh", added: true)))
        let server = try ScriptedServer([.send(known, piece: 4096), .send(added, piece: 4096)])
        defer { server.stop() }
        let child = try TerminalChild(
            #""$0" "$@" >/dev/null; echo "code $?""#, try ChildProcess.programPath(),
            ["trust", "fresh", "--socket", server.path])
        let question = try child.read(until: "Type yes to accept: ")
        #expect(question.contains(Documents.fingerprint))
        #expect(child.isEchoing)
        child.type("yes\n")
        let (output, _) = child.finish()
        #expect(output.contains("code 0"))
        #expect(server.requests.last?.hasSuffix(#"{"fingerprint":"\#(Documents.fingerprint)"}"#) == true)
    }
}
