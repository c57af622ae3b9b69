import HostsModel
import Testing

@testable import HostsSSH

/// What libssh2 and a server say, and what follows.
@Suite struct FailureClassifierTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let stage: LinkError.Stage
        let code: Int32
        let head: String
        let expected: String
        let disposition: LinkError.Disposition

        init(
            _ description: String, _ stage: LinkError.Stage, _ code: Int32,
            head: String = "SSH-2.0-OpenSSH_9.2\r\n",
            _ expected: String, _ disposition: LinkError.Disposition
        ) {
            testDescription = description
            self.stage = stage
            self.code = code
            self.head = head
            self.expected = expected
            self.disposition = disposition
        }
    }

    static let cases = [
        Case(
            "sshd 9.2 is full", .handshake, -13, head: "Exceeded MaxStartups\r\n", "ssh.rate-limited",
            .limited),
        Case(
            "sshd 9.8 penalises", .handshake, -43, head: "Not allowed at this time\r\n", "ssh.rate-limited",
            .limited),
        Case("a captive portal", .handshake, -2, head: "HTTP/1.1 400 Bad Request\r\n", "ssh.not-ssh", .retry),
        Case(
            "an empty line first", .handshake, -13, head: "\r\nSSH-2.0-x\r\n", "link.needs-openssh",
            .unsupported),
        Case("a server that hangs up without a word", .handshake, -13, head: "", "link.closed", .retry),
        Case("the same while it agrees on keys", .handshake, -43, "link.closed", .retry),
        Case("a damaged packet, by its MAC", .probe, -4, "ssh.protocol", .retry),
        Case("a damaged packet, by its length", .probe, -12, "ssh.protocol", .retry),
        Case("a signature of the host that is wrong", .handshake, -8, "ssh.protocol", .retry),
        Case("libssh2's own minute is over", .handshake, -9, "ssh.protocol", .retry),
        Case("the connection is lost in the login", .authentication, -43, "link.closed", .retry),
        Case("the connection is lost while sending", .probe, -7, "link.closed", .retry),
        Case("a lost connection", .shell, -13, "link.closed", .retry),
        Case("no session left, or none allowed", .shell, -21, "ssh.channel-refused", .unsupported),
        Case("no command allowed", .shell, -22, "ssh.channel-refused", .unsupported),
        Case("rule 2 was broken", .probe, -39, "ssh.protocol", .retry),
        Case("our own end", .probe, -1002, "link.closed", .retry),
    ]

    @Test(arguments: cases)
    func `each failure has its condition`(c: Case) {
        let classifier = FailureClassifier(
            address: "192.0.2.1:22", hello: ServerHello(Array(c.head.utf8)),
            offered: ServerHello.Algorithms(keyExchange: [], hostKeys: [], ciphers: [], macs: []))
        let error = classifier.error(c.stage, FailureClassifier.Failure(code: c.code, text: "text"))
        #expect(error.code == c.expected)
        #expect(error.disposition == c.disposition)
    }
}
