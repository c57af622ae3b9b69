import HostsModel
import Testing

@testable import HostsSSH

struct ServerHelloTests {
    private func kexInit(_ lists: [String]) -> [UInt8] {
        var payload = SSHWriter()
        payload.byte(20)
        payload.raw([UInt8](repeating: 7, count: 16))
        for list in lists { payload.string(Array(list.utf8)) }
        var packet = SSHWriter()
        packet.uint32(UInt32(payload.bytes.count + 5))
        packet.byte(4)
        packet.raw(payload.bytes)
        packet.raw([0, 0, 0, 0])
        return packet.bytes
    }

    private let lists = [
        "kex-a,kex-b", "key-a", "cipher-a", "cipher-b", "mac-a,mac-b", "mac-c", "none", "none", "", "",
    ]

    @Test func `lines before the identification and the lists after it are found`() {
        let hello = ServerHello(Array("welcome\r\nSSH-2.0-OpenSSH_9.2p1\r\n".utf8) + kexInit(lists))
        #expect(hello.firstLine == "welcome")
        #expect(hello.identification == "SSH-2.0-OpenSSH_9.2p1")
        #expect(hello.isOpenSSH)
        #expect(
            hello.algorithms
                == ServerHello.Algorithms(
                    keyExchange: ["kex-a", "kex-b"], hostKeys: ["key-a"], ciphers: ["cipher-a"],
                    macs: ["mac-a", "mac-b"]))
    }

    @Test func `every prefix is read without a trap`() {
        let whole = Array("\r\nSSH-2.0-x\r\n".utf8) + kexInit(lists)
        for count in 0...whole.count {
            let hello = ServerHello(Array(whole.prefix(count)))
            #expect(hello.identification == nil || "SSH-2.0-x".hasPrefix(hello.identification ?? "-"))
        }
    }

    @Test func `the first list without a match is named`() {
        let ours = ServerHello.Algorithms(
            keyExchange: ["kex-b"], hostKeys: ["key-a"], ciphers: ["aes"], macs: ["sha"])
        let classifier = FailureClassifier(
            address: "h:22", hello: ServerHello(Array("SSH-2.0-x\r\n".utf8) + kexInit(lists)), offered: ours)
        let failure = FailureClassifier.Failure(code: -5, text: "")
        #expect(
            classifier.error(.handshake, failure) == .noCommonAlgorithm(kind: "cipher", offered: "cipher-a"))
    }

    struct Case: Sendable, CustomTestStringConvertible {
        let head: String
        let stage: LinkError.Stage
        let code: Int32
        let expected: LinkError
        var testDescription: String { "\(code) in \(stage) after \"\(head)\"" }

        init(_ head: String, _ stage: LinkError.Stage, _ code: Int32, _ expected: LinkError) {
            self.head = head
            self.stage = stage
            self.code = code
            self.expected = expected
        }
    }

    @Test(arguments: [
        Case("", .handshake, -43, .closedByPeer(.handshake, detail: "")),
        Case("HTTP/1.1 400\r\n", .handshake, -2, .notSSH(address: "h:22", firstLine: "HTTP/1.1 400")),
        Case("\u{1b}[2Jx", .handshake, -13, .notSSH(address: "h:22", firstLine: "\\u{1b}[2Jx")),
        Case("Exceeded MaxStartups\r\n", .handshake, -43, .rateLimited(detail: "Exceeded MaxStartups")),
        Case(
            "Not allowed at this time\r\n", .handshake, -13, .rateLimited(detail: "Not allowed at this time")),
        Case("SSH-2.0-x\r\n", .handshake, -43, .closedByPeer(.handshake, detail: "")),
        Case("SSH-2.0-x\r\n", .handshake, -5, .protocolFailure(.handshake, code: -5, detail: "text")),
        Case("SSH-2.0-x\r\n", .probe, -4, .protocolFailure(.probe, code: -4, detail: "text")),
        Case("SSH-2.0-x\r\n", .shell, -21, .channelRefused(detail: "text")),
        Case("SSH-2.0-x\r\n", .shell, -22, .channelRefused(detail: "text")),
        Case("SSH-2.0-x\r\n", .probe, -7, .closedByPeer(.probe, detail: "")),
    ])
    func `an error of libssh2 becomes what a person can act on`(c: Case) {
        let nothing = ServerHello.Algorithms(keyExchange: [], hostKeys: [], ciphers: [], macs: [])
        let classifier = FailureClassifier(
            address: "h:22", hello: ServerHello(Array(c.head.utf8)), offered: nothing)
        #expect(
            classifier.error(c.stage, FailureClassifier.Failure(code: c.code, text: "text")) == c.expected)
    }
}
