import HostsAPI
import HostsCommand
import HostsModel
import Testing

/// What a person is asked, and what becomes of the answer.
@Suite struct AccessTests {
    private static func line(_ text: String) -> ConsoleAnswer { .line(SecretBytes(copying: text.utf8)) }

    private func stage(_ answers: ConsoleAnswer..., canAsk: Bool = true) throws -> Stage {
        var stage = Stage(daemon: try Documents.daemon())
        stage.canAsk = canAsk
        stage.answers = answers
        return stage
    }

    private static let trust = "POST /v1/hosts/fresh/trust"
    private static let unlock = "POST /v1/hosts/devbox/unlock"
    private static let accepted = #"{"fingerprint":"\#(Documents.fingerprint)"}"#
    private static let wrong = APIError.wrongPassphrase("the passphrase does not open /k/id_ed25519")

    // MARK: trust

    @Test(arguments: [false, true])
    func `a key is added after a yes`(isJSON: Bool) throws {
        let stage = try stage(Self.line("yes"))
        try stage.daemon.queue(Self.trust, Documents.trust("fresh"))
        try stage.daemon.queue(Self.trust, Documents.trust("fresh", added: true))
        let result = stage.run(["trust", "fresh"] + (isJSON ? ["--json"] : []))
        #expect(
            result.questions == [
                """
                  name         [fresh.example]:2222
                  type         ssh-ed25519
                  fingerprint  \(Documents.fingerprint)
                  file         /home/dev/.ssh/known_hosts
                Add this key? Type yes to accept: \("")
                """
            ])
        #expect(stage.daemon.bodies == [nil, Self.accepted])
        #expect(result.code == .success)
        #expect(result.error == "")
        if isJSON {
            #expect(result.output == (try FakeDaemon.line(Documents.trust("fresh", added: true))) + "\n")
        } else {
            #expect(result.output.hasPrefix("fresh  ● key added\n  name "))
        }
    }

    @Test(arguments: [
        line("y"), line("yes "), line(""), line("no"), .none, .tooLong,
    ]) func `anything but a yes adds nothing`(answer: ConsoleAnswer) throws {
        let stage = try stage(answer)
        let result = stage.run("trust", "fresh")
        #expect(stage.daemon.bodies == [nil])
        #expect(result.error == "hostsctl: fresh: the key was not added\n")
        #expect(result.code == .failure)
    }

    @Test func `a terminal that does not work is said to be so`() throws {
        let result = try stage(.failed("Input/output error")).run("trust", "fresh")
        #expect(result.error == "hostsctl: fresh: the terminal cannot be asked: Input/output error\n")
        #expect(result.code == .failure)
    }

    @Test func `--yes adds without a question, and only that key`() throws {
        let stage = try stage()
        try stage.daemon.queue(Self.trust, Documents.trust("fresh", added: true))
        let result = stage.run("trust", "fresh", "--yes", Documents.fingerprint)
        #expect(stage.daemon.bodies == [Self.accepted])
        #expect(result.questions == [])
        #expect(result.code == .success)
        for code in ["hostkey.other", "hostkey.changed", "hostkey.revoked"] {
            try stage.daemon.queue(
                Self.trust, APIError.conflict(code: code, message: "no", help: "do this").document,
                status: 409)
            let refused = stage.run("trust", "fresh", "--yes", Documents.fingerprint)
            #expect(refused.error == "hostsctl: fresh: no\nhint: do this\n")
            #expect(refused.code == .notPermitted)
        }
    }

    @Test func `what is no fingerprint is a wrong command line`() throws {
        let result = Stage().run("trust", "fresh", "--yes", "SHA256:x")
        #expect(result.code == .usage)
        #expect(
            result.error == """
                hostsctl: --yes must be a fingerprint as ssh-keygen -l shows it, SHA256:..., not "SHA256:x"
                hint: hostsctl help

                """)
    }

    @Test(arguments: ["devbox", "gpu1", "lab"])
    func `a key that is known, changed or revoked is not asked about`(host: String) throws {
        let stage = try stage(Self.line("yes"))
        let result = stage.run("trust", host)
        #expect(result.questions == [])
        #expect(stage.daemon.bodies == [nil])
        #expect(result.code == (host == "devbox" ? .success : .notPermitted))
    }

    @Test func `a verdict of a later daemon is not taken for a yes`() throws {
        let stage = try stage(Self.line("yes"))
        var document = Documents.trust("fresh")
        document.key.verdict = "odd\u{7}"
        try stage.daemon.set(Self.trust, document)
        let result = stage.run("trust", "fresh")
        #expect(result.code == .notPermitted)
        #expect(result.error.contains("which this hostsctl does not know"))
        #expect(!result.error.contains("\u{7}"))
        #expect(stage.daemon.bodies == [nil])
    }

    // MARK: unlock

    @Test func `a passphrase is asked for unseen and sent once`() throws {
        let stage = try stage(Self.line("correct \"horse\""))
        let result = stage.run("unlock", "devbox")
        #expect(result.questions == ["Passphrase for the keys of devbox: (hidden)"])
        #expect(stage.daemon.requests == ["GET /v1/hosts/devbox", Self.unlock])
        #expect(stage.daemon.bodies.last == #"{"passphrase":"correct \"horse\""}"#)
        #expect(
            result.output == """
                devbox  ● open until hostsd stops
                  keys  /k/id_ed25519

                """)
        #expect(result.code == .success)
        let document = UnlockDocument(host: "devbox", keys: ["/k/id_ed25519"])
        let json = try self.stage(Self.line("x")).run("unlock", "devbox", "--json")
        #expect(json.output == (try FakeDaemon.line(document)) + "\n")
        #expect(try self.stage(Self.line("x")).run("unlock", "devbox", "-q").output == "")
    }

    @Test(arguments: [1, 2, 3])
    func `a wrong passphrase is asked for again, three times at most`(wrongs: Int) throws {
        let stage = try stage(Self.line("a"), Self.line("b"), Self.line("c"), Self.line("d"))
        for _ in 0..<wrongs { try stage.daemon.queue(Self.unlock, Self.wrong.document, status: 403) }
        let result = stage.run("unlock", "devbox")
        #expect(result.questions.count == min(wrongs + 1, 3))
        #expect(result.code == (wrongs == 3 ? .notPermitted : .success))
        let words = "hostsctl: devbox: the passphrase does not open /k/id_ed25519\n"
        #expect(result.error == String(repeating: words, count: wrongs))
    }

    @Test func `without a terminal one line is read, and one try made`() throws {
        let stage = try stage(Self.line("a"), Self.line("b"), canAsk: false)
        try stage.daemon.queue(Self.unlock, Self.wrong.document, status: 403)
        let result = stage.run("unlock", "devbox")
        #expect(result.questions == [])
        #expect(stage.daemon.requests == [Self.unlock])
        #expect(stage.daemon.bodies == [#"{"passphrase":"a"}"#])
        #expect(result.error == "hostsctl: devbox: the passphrase does not open /k/id_ed25519\n")
        #expect(result.code == .notPermitted)
    }

    @Test(arguments: [
        (line(""), "no passphrase was given"), (.none, "no passphrase was given"),
        (.tooLong, "a passphrase has at most \(ConsoleAnswer.limit)"),
        (.failed("Input/output error"), "the passphrase cannot be read: Input/output error"),
        (.line(SecretBytes(copying: [0xe9])), "the passphrase must be UTF-8"),
    ]) func `what is no passphrase is not sent`(answer: ConsoleAnswer, message: String) throws {
        for canAsk in [true, false] {
            let stage = try stage(answer, canAsk: canAsk)
            let result = stage.run("unlock", "devbox")
            #expect(result.error == "hostsctl: devbox: \(message)\n")
            #expect(result.code == .failure)
            #expect(!stage.daemon.requests.contains(Self.unlock))
        }
    }

    @Test func `nobody types a passphrase for a host that is not there`() throws {
        let result = try stage(Self.line("a")).run("unlock", "nobody")
        #expect(result.questions == [])
        #expect(result.code == .notFound)
    }

    @Test func `what is not about the passphrase is not asked again`() throws {
        let stage = try stage(Self.line("a"), Self.line("b"))
        let refusal = APIError.conflict(code: "key.not-locked", message: "none waits", help: nil)
        try stage.daemon.queue(Self.unlock, refusal.document, status: 409)
        let result = stage.run("unlock", "devbox")
        #expect(result.questions.count == 1)
        #expect(result.error == "hostsctl: devbox: none waits\n")
        #expect(result.code == .failure)
    }

    @Test func `these verbs have time for a host and for a key`() throws {
        let stage = try stage(Self.line("a"), canAsk: false)
        _ = stage.run("trust", "devbox")
        _ = stage.run("unlock", "devbox")
        _ = stage.run("cancel", "devbox")
        #expect(stage.daemon.timeouts == [.seconds(75), .seconds(75), .seconds(10)])
    }
}
